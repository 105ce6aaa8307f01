//go:build linux && (amd64 || arm64)

package cuda

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// planned is a device that runs nothing, and a compiler that only writes down what it was asked
// for.
type planned struct {
	Context
	capability Capability
	units      map[Unit]bool
}

func (p *planned) Name() string { return "planned" }
func (p *planned) Compile(u Unit, _ Capability) ([]byte, error) {
	p.units[u] = true
	_, err := u.Text()
	return nil, err
}

func (p *planned) Attribute(a Attribute) (int, error) {
	switch a {
	case CapabilityMajor:
		return p.capability.Major, nil
	case CapabilityMinor:
		return p.capability.Minor, nil
	case SharedBytesPerSM, SharedBytesPerBlock:
		return 100 << 10, nil
	}
	return 100, nil
}

func (p *planned) Do(f func() error) error                    { return f() }
func (p *planned) Alloc(int64) (Address, error)               { return 1 << 20, nil }
func (p *planned) AllocHost(n int64) ([]byte, Address, error) { return make([]byte, n), 1 << 20, nil }
func (p *planned) Free(Address) error                         { return nil }
func (p *planned) FreeHost(Address) error                     { return nil }
func (p *planned) Upload(Address, []byte) error               { return nil }
func (p *planned) Download([]byte, Address) error             { return nil }
func (p *planned) Set(Address, byte, int64) error             { return nil }
func (p *planned) Copy(Address, Address, int64) error         { return nil }
func (p *planned) Launch(Function, Grid, ...Arg) error        { return nil }
func (p *planned) Synchronize() error                         { return nil }
func (p *planned) Load([]byte) (Module, error)                { return 1, nil }
func (p *planned) Function(Module, string) (Function, error)  { return 1, nil }
func (p *planned) Close() error                               { return nil }

// Units are those that a device of a capability is asked to compile, without libraries: by
// binding, in each type, every operation and every chain of a pattern that has an entry.
func Units(t *testing.T, c Capability) []Unit {
	t.Helper()
	if found[c] == nil {
		found[c] = findUnits(t, c)
	}
	return found[c]
}

// found are the units of the capabilities that tests asked for, as finding them takes seconds.
var found = map[Capability][]Unit{}

func findUnits(t *testing.T, c Capability) []Unit {
	t.Helper()
	p := &planned{capability: c, units: map[Unit]bool{{Source: "clock"}: true}}
	b, err := New(p, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	type bound struct {
		chain string
		dtype schema.DType
	}
	have := map[bound]bool{}
	bind := func(chain bench.Chain, d schema.DType) {
		ws, err := b.Open(bench.Case{Chain: chain, DType: d, Seed: 1})
		if isUnsupported(err) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts(chain) {
			if _, err := ws.Bind(part); err == nil {
				have[bound{part.String(), d}] = true
			} else if !isUnsupported(err) {
				t.Errorf("%s %s: %v", part, d, err)
			}
		}
		ws.Close()
	}
	for _, pattern := range append(bench.Patterns(), bench.Operations()...) {
		if pattern.Network() {
			continue // their weights take seconds to fill, and their operations are those of the other patterns
		}
		for _, d := range schema.DTypes() {
			for _, shape := range small(pattern) {
				chain, err := pattern.In(d).Build(shape, bench.Place{})
				if err != nil {
					t.Fatal(err)
				}
				bind(chain, d)
			}
		}
	}
	// What a calibration measures beside the patterns.
	bind(emptyChain(), schema.FP32)
	for name, host := range transfers {
		bind(transfer(name, host), schema.FP64)
	}
	for _, k := range b.Kernels() {
		if !have[bound{k.Chain, k.DType}] {
			t.Errorf("no pattern of small shape binds %s in %s: its units are not known", k.Chain, k.DType)
		}
	}
	return slices.SortedFunc(maps.Keys(p.units), func(a, b Unit) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	})
}

// small are the shapes of a pattern, as kernels differ by shape, too. Their dimensions are bounded,
// so that tensors are soon filled.
func small(p bench.Pattern) []bench.Shape {
	var all []bench.Shape
	for _, s := range slices.Concat(p.Shapes(schema.Quick), p.Shapes(schema.Full), p.Sweep) {
		s = slices.Clone(s)
		for i := range s {
			s[i].N = min(s[i].N, 16)
		}
		if !slices.ContainsFunc(all, func(o bench.Shape) bool { return slices.Equal(o, s) }) {
			all = append(all, s)
		}
	}
	return all
}

// parts are a chain, and each of its operations.
func parts(c bench.Chain) []bench.Chain {
	all := []bench.Chain{c}
	for i := range c {
		all = append(all, c[i:i+1])
	}
	return all
}

// Every source is used, at the latest on Hopper, and one that is not is not compiled.
func TestUnits(t *testing.T) {
	used := map[string]bool{}
	for _, u := range Units(t, Capability{9, 0}) {
		used[u.Source] = true
	}
	files, err := sources.ReadDir("kernels")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".cu"); ok && !used[name] {
			t.Errorf("kernels/%s is used by nothing", f.Name())
		}
	}
}

// Both sides of a control bind the same operation, and shall have the same kernel.
func TestBindsOnce(t *testing.T) {
	p := &planned{capability: Capability{8, 0}, units: map[Unit]bool{}}
	b, err := New(p, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	pattern, err := bench.Lookup("Linear_Bias_ReLU")
	if err != nil {
		t.Fatal(err)
	}
	chain, err := pattern.Build(small(pattern)[0], bench.Place{})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := b.Open(bench.Case{Chain: chain, DType: schema.FP32, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for i := range chain {
		once, err := ws.Bind(chain[i : i+1])
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ws.Bind(chain[i : i+1]); again != once || err != nil {
			t.Errorf("%s: another kernel, %v", chain[i].Name, err)
		}
	}
}
