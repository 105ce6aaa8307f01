package cuda

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"hwcal/bench"
	"hwcal/schema"
)

// kernel is a chain bound to the tensors of a workspace.
type kernel struct {
	name string
	// enqueue adds one execution to the stream.
	enqueue func() error
}

// Implementation names the library or the kernel.
func (k *kernel) Implementation() string { return k.name }

// binder makes the kernel of a chain. It returns an error that is bench.ErrUnsupported
// for shapes that it has no kernel for; another provider may have one.
type binder func(ws *workspace, c bench.Chain) (*kernel, error)

// provider is where kernels come from, the preferred ones first.
type provider int

const (
	cuDNN provider = iota
	cuBLASLt
	own // CUDA C of this package
)

func (p provider) String() string { return [...]string{"cudnn", "cublaslt", "hwcal"}[p] }

// entry is a binder of one provider for a chain in some types.
type entry struct {
	provider provider
	dtypes   []schema.DType
	least    Capability // of the device
	majors   []int      // versions of devices that have what it needs, where not all later ones do
	unit     string     // that it runs on, where a provider has several for a chain; the best first
	bind     binder
}

// name of what a case may ask for.
func (e entry) name() string { return cmp.Or(e.unit, e.provider.String()) }

// entries by the name of their chain, filled by the init of the file that binds them.
var entries = map[string][]entry{}

// register adds the binder of a chain. A provider has one for a chain, type and
// unit.
func register(chain string, e entry) {
	for _, o := range entries[chain] {
		for _, d := range e.dtypes {
			if o.provider == e.provider && o.unit == e.unit && slices.Contains(o.dtypes, d) {
				panic(fmt.Sprintf("cuda: chain %s registered twice in %s by %s", chain, d, e.provider))
			}
		}
	}
	entries[chain] = append(entries[chain], e)
	slices.SortStableFunc(entries[chain], func(a, b entry) int { return int(a.provider - b.provider) })
}

// floats are the types in which our own kernels compute with real numbers.
var floats = []schema.DType{schema.FP64, schema.FP32, schema.TF32, schema.FP16, schema.BF16}

// usable are the entries of a chain in a type that the device and its libraries allow,
// best first.
func (b *Backend) usable(chain string, d schema.DType) []entry {
	var all []entry
	for _, e := range entries[chain] {
		if slices.Contains(e.dtypes, d) && b.has(e.provider) && b.allows(e) {
			all = append(all, e)
		}
	}
	return all
}

// allows says whether the device has what an entry needs.
func (b *Backend) allows(e entry) bool {
	return b.capability.AtLeast(e.least.Major, e.least.Minor) && (e.majors == nil || slices.Contains(e.majors, b.capability.Major))
}

// Kernels lists the chains that the device can run, each with its best provider, or the units of
// that.
func (b *Backend) Kernels() []bench.KernelInfo {
	var all []bench.KernelInfo
	for _, chain := range slices.Sorted(maps.Keys(entries)) {
		for _, d := range schema.DTypes() {
			es := b.usable(chain, d)
			if len(es) > 0 && es[0].unit == "" {
				es = es[:1]
			}
			for _, e := range es {
				all = append(all, bench.KernelInfo{Chain: chain, DType: d, Implementation: e.name()})
			}
		}
	}
	return all
}

// Implementations are the providers of a chain, or their units.
func (b *Backend) Implementations(chain string, d schema.DType) []string {
	var names []string
	for _, e := range b.usable(chain, d) {
		names = append(names, e.name())
	}
	return names
}

// Unsupported says why there is no matrix multiplication in a type; nothing if there is.
func (b *Backend) Unsupported(d schema.DType) string {
	if len(b.usable("gemm", d)) > 0 {
		return ""
	}
	for _, e := range entries["gemm"] {
		switch {
		case !slices.Contains(e.dtypes, d):
		case !b.allows(e):
			return fmt.Sprintf("a device of compute capability %s has no %s: %s would", b.capability, d, e.least)
		case !b.has(e.provider):
			return fmt.Sprintf("%s, which multiplies in %s, was not found: %s", e.provider, d, b.lacking[e.provider.String()])
		}
	}
	return fmt.Sprintf("this version has no kernels in %s for CUDA devices", d)
}

// binding is a chain's kernel and who provides it, or why there is none.
type binding struct {
	chain  string
	kernel *kernel
	by     provider
	err    error
}

// Bind prepares the kernel of a chain. Open has bound the whole chain of the case, or its parts; for single
// operations the provider of that kernel is preferred, so that both sides of a pair share its micro-kernels.
// An operation that is bound again gets the same kernel: libraries choose algorithms by time, and both sides
// of a control have to run the same code.
func (ws *workspace) Bind(c bench.Chain) (bench.Kernel, error) {
	b := ws.whole
	if part, have := ws.bound[c.Output()]; have {
		b = part
	}
	if c.String() != b.chain {
		key := partKey{c.String(), c.Output()}
		if _, have := ws.single[key]; !have {
			ws.single[key] = ws.bind(c, b.by)
		}
		b = ws.single[key]
	}
	if b.err != nil {
		return nil, b.err
	}
	return b.kernel, nil
}

// bind asks the preferred provider first, then the others in their order. A single operation gets the first kernel that
// there is. A fused chain gets the fastest kernel of all providers, found by trial: a library may have only a slow
// one for a chain that it was not tuned for.
func (ws *workspace) bind(c bench.Chain, preferred provider) binding {
	candidates := ws.backend.usable(c.String(), ws.dtype)
	if ws.only != "" {
		candidates = slices.DeleteFunc(candidates, func(e entry) bool { return e.name() != ws.only })
	}
	slices.SortStableFunc(candidates, func(a, b entry) int {
		switch {
		case a.provider == b.provider:
			return 0
		case a.provider == preferred:
			return -1
		case b.provider == preferred:
			return 1
		}
		return 0
	})
	err := fmt.Errorf("cuda: no kernel for %s in %s on compute capability %s: %w", c, ws.dtype, ws.backend.capability, bench.ErrUnsupported)
	var bound []binding
	for _, e := range candidates {
		k, failed := e.bind(ws, c)
		if failed == nil {
			bound = append(bound, binding{chain: c.String(), kernel: k, by: e.provider})
			if len(c) == 1 {
				break
			}
			continue
		}
		err = fmt.Errorf("cuda: bind %s %s by %s: %w", c, ws.dtype, e.provider, failed)
		if !isUnsupported(err) {
			break
		}
	}
	switch len(bound) {
	case 0:
		return binding{chain: c.String(), by: own, err: err}
	case 1:
		return bound[0]
	}
	var runs []func() error
	for _, b := range bound {
		runs = append(runs, b.kernel.enqueue)
	}
	best, err := ws.fastest(runs)
	if err != nil {
		return binding{chain: c.String(), by: own, err: fmt.Errorf("cuda: %s %s: %w", c, ws.dtype, err)}
	}
	return bound[best]
}
