//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// Chains that cuBLASLt has kernels for, with m, n and k, and batch and heads, that all differ.
func matmulChains(n, k int64) map[string]bench.Chain {
	matrix := func(name string, dims ...int64) *bench.Tensor { return &bench.Tensor{Name: name, Dims: dims} }
	then := func(c bench.Chain, ops ...func(*bench.Tensor) bench.Op) bench.Chain {
		for _, op := range ops {
			c = append(c, op(c.Output()))
		}
		return c
	}
	bias := func(x *bench.Tensor) bench.Op { return bench.Bias(x, matrix("b", n)) }
	residual := func(x *bench.Tensor) bench.Op { return bench.Add(x, matrix("R", x.Dims...)) }
	scale := func(x *bench.Tensor) bench.Op { return bench.Scale(x, 0.125) }
	gemm := func() bench.Chain { return bench.Chain{bench.Gemm(matrix("X", 5, k), matrix("W", k, n))} }
	qkt := func() bench.Chain {
		return bench.Chain{bench.QKT(matrix("Q", 2, 6, 5, 8), matrix("K", 2, 3, 7, 8), false)}
	}
	return map[string]bench.Chain{
		"sums":           {bench.Sums(gemm()[0])},
		"gemm":           gemm(),
		"batched":        {bench.Sums(bench.BatchedGemm(matrix("X", 3, 5, k), matrix("W", 3, k, n)))},
		"bias":           then(gemm(), bias),
		"bias, relu":     then(gemm(), bias, bench.ReLU),
		"bias, residual": then(gemm(), bias, residual),
		"scores":         qkt(),
		"scaled scores":  then(qkt(), scale),
		"weighted":       {bench.PV(matrix("P", 2, 6, 5, 7), matrix("V", 2, 3, 7, 8))},
	}
}

// Every chain in every type agrees with the float64 reference, so that orders, leading dimensions, strides,
// scalars and epilogues are right; and the fastest algorithm is the one that is kept.
func TestCuBLASLt(t *testing.T) {
	s := newLibraryStub(t, "libcublaslt", cuBLASLt, loadCuBLASLt, Capability{9, 0})
	for _, d := range schema.DTypes() {
		for name, c := range matmulChains(16, 48) {
			narrow := d == schema.INT8 || d == schema.FP8
			if narrow && name != "sums" && name != "batched" {
				continue
			}
			const want = "cublaslt_12.9.1 algo 67 tile 20 cluster 3"
			implementation, err := s.verify(t, c, d)
			for again := 0; err == nil && implementation != want && again < 3; again++ {
				// A busy machine may have held up the fast one for longer than the slow one sleeps.
				implementation, err = s.verify(t, c, d)
			}
			if err != nil || implementation != want {
				t.Errorf("%s %s: %q, want %q: %v", name, d, implementation, want, err)
			}
		}
	}
	if !strings.Contains(s.log(), "workspace 64 MiB") {
		t.Errorf("the workspace of Hopper:\n%s", s.log())
	}
	if got := s.Libraries()["cublaslt"]; got != "12.9.1" {
		t.Errorf("version %s", got)
	}
}

func TestCuBLASLtUnsupported(t *testing.T) {
	s := newLibraryStub(t, "libcublaslt", cuBLASLt, loadCuBLASLt, Capability{8, 9})
	matrix := func(dims ...int64) *bench.Tensor { return &bench.Tensor{Name: "X", Dims: dims} }
	for what, c := range map[string]struct {
		chain bench.Chain
		dtype schema.DType
		call  string
		code  int32
		want  []string
	}{
		"fp8 of 24 inputs":   {bench.Chain{bench.Sums(bench.Gemm(matrix(5, 24), matrix(24, 16)))}, schema.FP8, "", 0, []string{"cublasLtMatmulAlgoGetHeuristic", "NOT_SUPPORTED"}},
		"int8 of 6 inputs":   {bench.Chain{bench.Sums(bench.Gemm(matrix(5, 6), matrix(6, 16)))}, schema.INT8, "", 0, []string{"NOT_SUPPORTED"}},
		"result in int8":     {bench.Chain{bench.Gemm(matrix(5, 16), matrix(16, 16))}, schema.INT8, "", 0, []string{"wider type"}},
		"causal scores":      {bench.Chain{bench.QKT(matrix(1, 2, 3, 4), matrix(1, 2, 3, 4), true)}, schema.FP16, "", 0, []string{"causal"}},
		"no algorithm":       {bench.Chain{bench.Gemm(matrix(5, 16), matrix(16, 16))}, schema.BF16, "cublasLtMatmulAlgoGetHeuristic", 15, []string{"NOT_SUPPORTED (15)"}},
		"all are refused":    {bench.Chain{bench.Gemm(matrix(5, 16), matrix(16, 16))}, schema.BF16, "cublasLtMatmul", 15, []string{"cublasLtMatmul:", "NOT_SUPPORTED"}},
		"not the right arch": {bench.Chain{bench.Gemm(matrix(5, 16), matrix(16, 16))}, schema.BF16, "cublasLtMatmul", 8, []string{"ARCH_MISMATCH"}},
	} {
		s.fail(c.call, c.code)
		err := s.refuses(t, cuBLASLt, c.chain, c.dtype)
		if !errors.Is(err, bench.ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: no %q in: %v", what, want, err)
			}
		}
	}
	// What goes wrong is no lack of support.
	gemm := bench.Chain{bench.Gemm(matrix(5, 16), matrix(16, 16))}
	s.fail("cublasLtMatmul", 13)
	if err := s.refuses(t, cuBLASLt, gemm, schema.FP16); err == nil || errors.Is(err, bench.ErrUnsupported) || !strings.Contains(err.Error(), "EXECUTION_FAILED") {
		t.Errorf("failed execution: %v", err)
	}
	s.fail("cublasLtMatmulDescCreate", 3)
	if err := s.refuses(t, cuBLASLt, gemm, schema.FP16); !errors.Is(err, bench.ErrMemory) {
		t.Errorf("out of memory: %v", err)
	}
	s.fail("cublasLtCreate", 1)
	if _, err := loadCuBLASLt(s.context, s.path); err == nil || !strings.Contains(err.Error(), "cuBLASLt 12.9.1: cublasLtCreate: CUBLAS_STATUS_NOT_INITIALIZED") {
		t.Errorf("create: %v", err)
	}
}
