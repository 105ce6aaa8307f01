//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/bench/ref"
	"hwcal/schema"
)

// libraryStub is a library of testdata on a device whose memory is the host's.
type libraryStub struct {
	*Backend
	path string
	libraryControls
}

type libraryControls struct {
	log   func() string                 `c:"stub_log"`
	clear func()                        `c:"stub_clear"`
	fail  func(call string, code int32) `c:"stub_fail"`
	held  func() int                    `c:"stub_held"`
}

// newLibraryStub is a backend that has the library of testdata/NAME.c. When the test ends, all that was
// described was given back, and nothing was described that the library could not use.
func newLibraryStub(t *testing.T, name string, p provider, load func(Context, ...string) (library, error), c Capability) libraryStub {
	t.Helper()
	s := libraryStub{Backend: newEmulated(t, c), path: buildStub(t, name)}
	lib, err := openShared(s.path)
	check(t, err)
	check(t, lib.bind(&s.libraryControls))
	l, err := load(s.context, s.path)
	check(t, err)
	s.add(p, l, nil)
	held := s.held()
	t.Cleanup(func() {
		if n := s.held() - held; n != 0 {
			t.Errorf("%d descriptions were not given back", n)
		}
		if strings.Contains(s.log(), "  bad") {
			t.Errorf("calls were wrong:\n%s", s.log())
		}
	})
	return s
}

// verifyWhole binds a chain to its best kernel, executes it, compares all elements with the float64
// reference, and names the kernel. The operations by themselves need no kernels.
func (s libraryStub) verifyWhole(t *testing.T, c bench.Chain, d schema.DType) (string, error) {
	t.Helper()
	ws, err := s.Open(bench.Case{Chain: c, DType: d, Seed: 7})
	if err != nil {
		return "", err
	}
	defer func() { check(t, ws.Close()) }()
	k, err := ws.Bind(c)
	if err != nil {
		return "", err
	}
	fields := map[*bench.Tensor]ref.Field{}
	for _, x := range c.Inputs() {
		v := must[[]float64](t)(ws.(*workspace).values(x))
		fields[x] = ref.Exact(func(i int64) float64 { return v[i] })
	}
	p := ref.Precision{U: 0x1p-23, Stored: ref.Rounding{U: 2 * d.UnitRoundoff(), Tiny: 0x1p-25}}
	for _, op := range c {
		in := make([]ref.Field, len(op.In))
		for i, x := range op.In {
			in[i] = fields[x]
		}
		fields[op.Out] = op.Ref(in, p)
		if !op.Out.Sums {
			fields[op.Out] = p.Stored.Round(fields[op.Out])
		}
	}
	y := c.Output()
	all := make([]int64, y.Elems())
	for i := range all {
		all[i] = int64(i)
	}
	check(t, ws.Poison(y, all))
	if _, err := bench.Sample(ws, []bench.Kernel{k}, 1); err != nil {
		return "", err
	}
	for i, got := range must[[]float64](t)(ws.(*workspace).values(y)) {
		if want := fields[y](int64(i)); !(math.Abs(got-want.V) <= want.E) {
			return k.Implementation(), fmt.Errorf("%v[%d] = %g, want %g +- %.2g", y.Dims, i, got, want.V, want.E)
		}
	}
	return k.Implementation(), nil
}

// A library that is not there says where was looked; one of another kind, what it lacks.
func TestLibraryErrors(t *testing.T) {
	for what, load := range map[string]func(Context, ...string) (library, error){"libcublaslt": loadCuBLASLt} {
		if _, err := load(&emulated{}, "libnothing.so.1"); err == nil || !strings.Contains(err.Error(), "libnothing.so.1 not found") {
			t.Errorf("%s, absent: %v", what, err)
		}
		if _, err := load(&emulated{}, buildStub(t, what, "-DOLD")); err == nil || !strings.Contains(err.Error(), "it has no ") {
			t.Errorf("%s, old: %v", what, err)
		}
	}
	b := newEmulated(t, Capability{8, 9})
	b.add(cuBLASLt, nil, errors.New("libcublasLt.so.13 not found"))
	if why := b.Unsupported(schema.FP8); !strings.Contains(why, "libcublasLt.so.13 not found") {
		t.Errorf("no fp8 since %s", why)
	}
}
