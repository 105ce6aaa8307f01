//go:build linux && (amd64 || arm64)

package cuda

import (
	"slices"
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// verifyAligned compares kernels where libraries and vectors have nothing to align, in those of the types that there
// are. A library that is there takes what it is made for: if it refuses that, we asked in a wrong way.
func verifyAligned(t *testing.T, b *Backend, dtypes ...schema.DType) {
	wants := func(by provider, d schema.DType, c bench.Chain) {
		if err := taken(b, by, d, c); err != nil {
			t.Errorf("%s %s, first input %s: %v", c, d, dimsOf(c), err)
		}
	}
	for _, d := range dtypes {
		if b.Unsupported(d) != "" {
			continue
		}
		product := chainsOf(t, "matmul", d, []int64{128, 128, 128})[0]
		verifyKernels(t, b, []schema.DType{d}, product)
		wants(cuBLASLt, d, product)
		if !slices.Contains(floats, d) {
			continue
		}
		linear := chainsOf(t, "Linear_Bias_GELU", d, []int64{128, 128, 64})[0]
		conv := chainsOf(t, "Conv2d_BatchNorm_ReLU", d, []int64{1, 32, 8, 8, 32, 3, 1, 1, 1})[0]
		attention := attentionChain(t, "Full_Attention", 1, 2, 128, 64)
		verifyKernels(t, b, []schema.DType{d}, linear, conv, attention)
		if d == schema.FP16 || d == schema.BF16 {
			wants(cuDNN, d, conv)
			wants(cuDNN, d, attention)
		}
	}
}

// taken is why a library has no kernel for a chain; nil if it has, or is not there.
func taken(b *Backend, by provider, d schema.DType, c bench.Chain) error {
	if !b.has(by) {
		return nil
	}
	ws, err := b.Open(bench.Case{Chain: c, DType: d, Unit: by.String(), Seed: 7})
	if err != nil {
		return err
	}
	defer ws.Close()
	_, err = ws.Bind(c)
	return err
}

func TestAligned(t *testing.T) {
	verifyAligned(t, newEmulated(t, Capability{8, 0}), schema.DTypes()...)
}

// What a library refuses is told, and not what one would that is not there.
func TestTaken(t *testing.T) {
	s := newLibraryStub(t, "libcublaslt", cuBLASLt, loadCuBLASLt, Capability{8, 0})
	c := chainsOf(t, "matmul", schema.BF16, []int64{128, 128, 128})[0]
	for _, by := range []provider{cuBLASLt, cuDNN} {
		if err := taken(s.Backend, by, schema.BF16, c); err != nil {
			t.Errorf("%s: %v", by, err)
		}
	}
	s.fail("cublasLtMatmulAlgoGetHeuristic", 7)
	if err := taken(s.Backend, cuBLASLt, schema.BF16, c); err == nil || !strings.Contains(err.Error(), "INVALID_VALUE") {
		t.Errorf("a library that refuses: %v", err)
	}
}
