//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// checked launches a kernel of check.cu on new memory and gives what the first argument holds then.
type checked struct {
	t *testing.T
	b *Backend
}

func (c checked) launch(name string, threads, shared int, out int64, args ...any) ([]byte, error) {
	c.t.Helper()
	f, err := c.b.function(Unit{Source: "../testdata/emulated/check"}, name)
	if err != nil {
		c.t.Fatal(err)
	}
	put := func(mem []byte) Address {
		a, err := c.b.context.Alloc(int64(len(mem)))
		if err == nil {
			err = c.b.context.Upload(a, mem)
		}
		if err != nil {
			c.t.Fatal(err)
		}
		return a
	}
	mem := make([]byte, out)
	y := put(mem)
	all := []Arg{Pointer(y)}
	for _, a := range args {
		switch a := a.(type) {
		case []byte:
			all = append(all, Pointer(put(a)))
		case int:
			all = append(all, Int(a))
		case float64:
			all = append(all, Double(a))
		}
	}
	err = c.b.context.Launch(f, Grid{Threads: [3]int{threads}, Shared: shared}, all...)
	if err == nil {
		err = c.b.context.Download(mem, y)
	}
	return mem, err
}

func floatsOf(mem []byte) []float32 {
	x := make([]float32, len(mem)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.NativeEndian.Uint32(mem[4*i:]))
	}
	return x
}

// iota32 are the floats 0, 1, 2 ...
func iota32(n int) []byte {
	var mem []byte
	for i := range n {
		mem = binary.NativeEndian.AppendUint32(mem, math.Float32bits(float32(i)))
	}
	return mem
}

func TestEmulatedThreads(t *testing.T) {
	c := checked{t, newEmulated(t, Capability{8, 0})}
	const n = 96
	mem, err := c.launch("reversed", n, 4*n, 4*n, iota32(n), n, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range floatsOf(mem) {
		if want := float32(n-1-i) + float32(i^1) + 0.5; got != want {
			t.Errorf("y[%d] = %g, want %g", i, got, want)
		}
	}
	mem, err = c.launch("without_barrier", n, 4*n, 4*n, iota32(n), n)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, got := range floatsOf(mem) {
		if got != float32(n-1-i) {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("a missing barrier does not show")
	}
}

func TestEmulatedFaults(t *testing.T) {
	c := checked{t, newEmulated(t, Capability{8, 0})}
	for _, f := range []struct {
		kernel string
		args   []any
		want   string
	}{
		{"behind", []any{64}, "illegal address"},
		{"not_all", nil, "deadlock: of 64 threads 32 have ended, 5 wait at a barrier, 27 for their warp"},
		{"behind", nil, "1 arguments, want 2"},
	} {
		if _, err := c.launch(f.kernel, 64, 0, 4*64, f.args...); err == nil || !strings.Contains(err.Error(), f.want) {
			t.Errorf("%s: %v, want %q", f.kernel, err, f.want)
		}
	}
	// What is too near for a page without access is found when the memory is given back.
	mem := &emulated{memory: map[Address]*emulatedBlock{}}
	a, err := mem.Alloc(20)
	if err != nil {
		t.Fatal(err)
	}
	mem.memory[a].pages[mem.memory[a].at+20] = 0
	if err := mem.Free(a); err == nil || !strings.Contains(err.Error(), "byte 20 of 20") {
		t.Errorf("written behind the end: %v", err)
	}
}

// A copy that was not waited for is not there; one that is not valid is of zeros.
func TestEmulatedCopies(t *testing.T) {
	c := checked{t, newEmulated(t, Capability{8, 0})}
	mem, err := c.launch("without_wait", 32, 16*64, 3*16*32, iota32(4*32))
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range floatsOf(mem) {
		lane, want := i/4%32, float32(i%128)
		switch {
		case i >= 256 && lane%2 == 1:
			want = 0
		case i >= 128 && i < 256:
			want = float32(math.NaN())
		}
		if got != want && (got == got || want == want) {
			t.Errorf("y[%d] = %g, want %g", i, got, want)
		}
	}
}

// Small products through ldmatrix and mma.sync.
func TestEmulatedTensorCores(t *testing.T) {
	c := checked{t, newEmulated(t, Capability{8, 0})}
	for _, p := range []struct {
		kernel     string
		d, sum     schema.DType
		m, n, k    int
		transposed bool
	}{
		{"multiply_bf16", schema.BF16, schema.FP32, 16, 8, 16, false},
		{"multiply_s8", schema.INT8, schema.INT8, 16, 8, 32, true},
		{"multiply_f64", schema.FP64, schema.FP64, 16, 8, 4, false},
	} {
		e, sums := element.Of(p.d), element.OfTensor(&bench.Tensor{Sums: true}, p.sum)
		rng := rand.New(rand.NewPCG(1, 2))
		random := func(n int) []byte {
			mem := make([]byte, n*int(e.Bytes))
			for i := range n {
				e.Set(mem, int64(i), float64(rng.IntN(7)-3))
			}
			return mem
		}
		x, w := random(p.m*p.k), random(p.k*p.n)
		mem, err := c.launch(p.kernel, 32, 16*48, int64(p.m*p.n)*sums.Bytes, x, w)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.m {
			for j := range p.n {
				want := 0.0
				for q := range p.k {
					at := q*p.n + j
					if p.transposed {
						at = j*p.k + q
					}
					want += e.Get(x, int64(i*p.k+q)) * e.Get(w, int64(at))
				}
				if got := sums.Get(mem, int64(i*p.n+j)); got != want {
					t.Fatalf("%s: d[%d,%d] = %g, want %g", p.kernel, i, j, got, want)
				}
			}
		}
	}
}

func TestEmulatedClock(t *testing.T) {
	b := newEmulated(t, Capability{9, 0})
	if mhz, err := b.Clock(bench.Place{}, true); err != nil || math.Abs(mhz-2000) > 20 {
		t.Errorf("%g MHz: %v, want 2000", mhz, err)
	}
	c := bench.Chain{bench.PeakFMA(1, 1)}
	ws := must[bench.Workspace](t)(b.Open(bench.Case{Chain: c, DType: schema.FP32, Seed: 7}))
	defer func() { check(t, ws.Close()) }()
	for range 3 {
		must[time.Duration](t)(bench.Sample(ws, []bench.Kernel{must[bench.Kernel](t)(ws.Bind(c))}, 1))
	}
	mhz, err := b.Clock(bench.Place{}, false)
	if check(t, err); !b.lapped || math.Abs(mhz-2000) > 20 {
		t.Errorf("%g MHz of samples, want 2000", mhz)
	}
	check(t, b.context.Set(b.laps, 0, mostSMs*lapBytes))
	if _, err := b.Clock(bench.Place{}, false); !errors.Is(err, bench.ErrUnsettled) {
		t.Errorf("nothing was counted: %v", err)
	}
	if _, err := b.Clock(bench.Place{}, true); err != nil || b.lapped {
		t.Errorf("settled: %v, samples before count: %t", err, b.lapped)
	}
}
