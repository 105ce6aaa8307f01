//go:build linux && (amd64 || arm64)

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ebitengine/purego"

	"hwcal/bench"
	"hwcal/schema"
)

// build makes the chain of a pattern of bench.
func build(t *testing.T, pattern, shape string) bench.Chain {
	t.Helper()
	p := must[bench.Pattern](t)(bench.Lookup(pattern))
	s := must[bench.Shape](t)(bench.ParseShape(shape, p.Dims))
	return must[bench.Chain](t)(p.Build(s, bench.Place{}))
}

// newCuDNNStub is on a machine with the cuBLASLt that the stub of cuDNN asks for.
func newCuDNNStub(t *testing.T, flags ...string) libraryStub {
	t.Helper()
	must[uintptr](t)(purego.Dlopen(buildStub(t, "libcublaslt", "-Wl,-soname,libcublasLt.so.99"), purego.RTLD_NOW))
	return newLibraryStub(t, "libcudnn", cuDNN, loadCuDNN, Capability{9, 0}, flags...)
}

// Every graph in every type agrees with the float64 reference, so that dimensions, strides, the order of operations,
// factors and folded weights are right; and fp32 is computed without tensor cores.
func TestCuDNN(t *testing.T) {
	s := newCuDNNStub(t)
	for _, c := range []struct{ pattern, shape string }{
		{"Conv2d_Bias", "2x4x5x6x3x3x1x1x1"},
		{"Conv2d_ReLU", "1x6x7x5x4x3x2x1x2"}, // strided, in groups
		{"Conv2d_ReLU", "1x4x5x5x6x1x1x0x1"},
		{"Conv2d_BatchNorm", "2x3x6x5x4x3x1x1x1"},
		{"Conv2d_BatchNorm_ReLU", "1x3x6x5x4x3x1x0x1"},
		{"Conv2d_BatchNorm_Add_ReLU", "2x4x4x5x4x3x1x1x1"},
		{"Full_Attention", "2x3x5x8"},
		{"Causal_Attention", "1x2x5x5x8"},
		{"Causal_Attention", "2x2x3x7x8"}, // the last queries of more keys
		{"Grouped_Query_Attention", "2x4x2x5x6x8"},
		{"Decode_Attention", "2x6x2x7x8"},
	} {
		types := []schema.DType{schema.FP32, schema.TF32, schema.FP16, schema.BF16}
		if strings.Contains(c.pattern, "Attention") {
			types = types[2:]
		}
		for _, d := range types {
			name, err := s.verify(t, build(t, c.pattern, c.shape), d)
			// Either may be the faster one; of fp32 the first would narrow its inputs.
			want := []string{"cudnn_9.12.3 engine 43 knobs 2=7", "cudnn_9.12.3 engine 42 knobs 2=7"}
			if d == schema.FP32 {
				want = want[:1]
			}
			if err != nil || !slices.Contains(want, name) {
				t.Errorf("%s %s %s: %q, want one of %q: %v", c.pattern, c.shape, d, name, want, err)
			}
		}
	}
	// The convolution alone, with a bias of its own.
	c := build(t, "Conv2d_ReLU", "1x4x5x5x6x3x1x1x1")[:1]
	if _, err := s.verify(t, c, schema.BF16); err != nil {
		t.Error(err)
	}
	if got := s.Libraries()["cudnn"]; got != "9.12.3" {
		t.Errorf("version %s", got)
	}
}

func TestCuDNNErrors(t *testing.T) {
	s := newCuDNNStub(t)
	for i, test := range []struct {
		what, call string
		code       int32
		want       error
		text       string
	}{
		{"no engine", "cudnnBackendGetAttribute", 3001, bench.ErrUnsupported, "status 3001: the reason"},
		{"wrong descriptor", "cudnnBackendFinalize", 2000, bench.ErrUnsupported, "cudnnBackendFinalize"},
		{"not executed", "cudnnBackendExecute", 3000, bench.ErrUnsupported, "cudnnBackendExecute"},
		{"no memory on device", "cudnnBackendExecute", 4004, bench.ErrMemory, "4004"},
		{"failed", "cudnnBackendExecute", 5000, nil, "5000"},
	} {
		// Each with a graph of its own, as what is refused is remembered.
		c := build(t, "Conv2d_ReLU", fmt.Sprintf("1x4x%dx5x6x3x1x1x1", 5+i))
		s.fail(test.call, test.code)
		err := s.refuses(t, cuDNN, c, schema.FP16)
		s.fail("", 0)
		if err == nil || test.want != nil && !errors.Is(err, test.want) || test.want == nil && isUnsupported(err) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", test.what, err)
		}
	}
	s.fail("cudnnCreate", 1001)
	if _, err := loadCuDNN(s.context, s.path); err == nil || !strings.Contains(err.Error(), "cuDNN 9.12.3: cudnnCreate: cuDNN status 1001") {
		t.Errorf("create: %v", err)
	}
}

// Workspaces share the plans of graphs that are described alike, and the choice among them.
func TestCuDNNSharesPlans(t *testing.T) {
	s := newCuDNNStub(t)
	padded, bare := build(t, "Conv2d_ReLU", "1x4x5x5x6x3x1x1x1"), build(t, "Conv2d_ReLU", "1x4x5x5x6x3x1x0x1")
	chosen := map[string]string{}
	for _, c := range []struct {
		name  string
		chain bench.Chain
		dtype schema.DType
		plans int // built so far; two of a graph, one in fp32
	}{
		{"padded tf32", padded, schema.TF32, 4}, // with its ReLU and without
		{"padded tf32", padded, schema.TF32, 4},
		{"padded fp32", padded, schema.FP32, 6},
		{"bare tf32", bare, schema.TF32, 10},
		{"padded fp32", padded, schema.FP32, 10},
	} {
		name, err := s.verify(t, c.chain, c.dtype)
		check(t, err)
		if plans := strings.Count(s.log(), "plan of engine"); plans != c.plans {
			t.Errorf("%d plans were built up to %s, want %d", plans, c.name, c.plans)
		}
		if before := cmp.Or(chosen[c.name], name); name != before {
			t.Errorf("%s: %s, before %s", c.name, name, before)
		}
		chosen[c.name] = name
	}
}

// A plan that took long to build is not followed by others.
func TestCuDNNSlowPlans(t *testing.T) {
	s := newCuDNNStub(t, "-DSLOW")
	_, err := s.verify(t, build(t, "Conv2d_ReLU", "1x4x5x5x6x3x1x1x1")[:1], schema.BF16)
	check(t, err)
	if log := s.log(); strings.Count(log, "plan of engine") != 1 {
		t.Errorf("want one plan:\n%s", log)
	}
}

// Where one engine after the other is refused, the search ends.
func TestCuDNNRefusingPlans(t *testing.T) {
	s := newCuDNNStub(t, "-DREFUSING")
	name, err := s.verify(t, build(t, "Conv2d_ReLU", "1x4x5x5x6x3x1x1x1")[:1], schema.BF16)
	check(t, err)
	if !strings.HasPrefix(name, own.String()) {
		t.Errorf("without a plan: %s", name)
	}
	if log := s.log(); strings.Count(log, "refused engine") != 2 {
		t.Errorf("want two of three engines in two seconds:\n%s", log)
	}
}

// Without its cuBLASLt the library would end the process.
func TestCuDNNNeedsCuBLASLt(t *testing.T) {
	_, err := loadCuDNN(&emulated{}, buildStub(t, "libcudnn", "-DCUDART=98000"))
	if err == nil || !strings.Contains(err.Error(), "cuDNN 9.12.3 needs cuBLASLt: libcublasLt.so.98 not found") {
		t.Errorf("without it: %v", err)
	}
}
