//go:build linux

package cuda

import (
	"fmt"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// chainsOf a pattern at shapes of its dimensions.
func chainsOf(t *testing.T, pattern string, d schema.DType, shapes ...[]int64) []bench.Chain {
	t.Helper()
	p, err := bench.Lookup(pattern)
	if err != nil {
		t.Fatal(err)
	}
	p = p.In(d)
	var chains []bench.Chain
	for _, values := range shapes {
		s := make(bench.Shape, len(p.Dims))
		for i, n := range p.Dims {
			s[i] = bench.Dim{Name: n, N: values[i]}
		}
		c, err := p.Build(s, bench.Place{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		chains = append(chains, c)
	}
	return chains
}

// devices on which products are cut differently: into large tiles on one of a single SM, small ones and slices
// on one of many.
func devices(t *testing.T, run func(t *testing.T, b *Backend)) {
	for _, sms := range []int{1, 16} {
		t.Run(fmt.Sprintf("%d SMs", sms), func(t *testing.T) {
			b := newEmulated(t, Capability{8, 0})
			b.sms = sms
			run(t, b)
		})
	}
}

// Sizes that straddle tiles, and those of which no row is a multiple of 16 bytes; m, n, k.
var productShapes = [][]int64{{1, 136, 80}, {3, 70, 530}, {8, 128, 64}, {64, 64, 64}, {130, 144, 48}, {67, 129, 93}, {96, 48, 1040}, {9, 5, 3}}

func TestGemm(t *testing.T) {
	devices(t, func(t *testing.T, b *Backend) {
		for _, d := range products {
			verifyKernels(t, b, []schema.DType{d}, chainsOf(t, "matmul", d, productShapes...)...)
			verifyKernels(t, b, []schema.DType{d}, chainsOf(t, "matmul_batched", d, []int64{3, 33, 40, 72}, []int64{2, 5, 17, 9})...)
		}
	})
}

// linears are the patterns of a layer with what follows it element by element.
var linears = []string{"Linear_Bias", "Linear_Bias_ReLU", "Linear_Bias_GELU", "Linear_Bias_SiLU", "Linear_Bias_Residual"}

func TestLinear(t *testing.T) {
	devices(t, func(t *testing.T, b *Backend) {
		for _, name := range linears {
			for _, d := range floats {
				verifyKernels(t, b, []schema.DType{d}, chainsOf(t, name, d, productShapes...)...)
			}
		}
		for _, name := range linears[:2] {
			verifyKernels(t, b, []schema.DType{schema.INT8}, chainsOf(t, name, schema.INT8, productShapes...)...)
		}
	})
}

func TestLayers(t *testing.T) {
	devices(t, func(t *testing.T, b *Backend) {
		for _, name := range []string{"SwiGLU", "Linear_Bias_GELU_Linear", "Linear_LayerNorm"} {
			for _, d := range floats {
				verifyKernels(t, b, []schema.DType{d}, chainsOf(t, name, d, layerShapes...)...)
			}
		}
	})
}

// layerShapes leave out products over a long k.
var layerShapes = [][]int64{{1, 136, 80}, {3, 70, 130}, {8, 32, 264}, {64, 64, 64}, {130, 144, 48}, {67, 129, 93}, {9, 5, 3}}
