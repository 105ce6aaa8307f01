//go:build linux

package cuda

import (
	"errors"
	"fmt"
	"slices"
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

// devices on which products are cut differently: into large tiles on one of a single SM, small
// ones and slices on one of many.
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
var productShapes = [][]int64{{1, 136, 80}, {3, 70, 530}, {8, 128, 64}, {64, 64, 64}, {130, 144, 48}, {67, 129, 93}, {96, 48, 1040}, {9, 5, 3}, {600, 80, 16}}

// layerShapes are fewer, as what is behind a product has no part in it; m, n, k.
var layerShapes = [][]int64{{1, 136, 80}, {3, 70, 130}, {130, 144, 48}, {67, 29, 93}}

func TestGemm(t *testing.T) { devices(t, verifyGemm) }

func verifyGemm(t *testing.T, b *Backend) {
	for _, d := range products {
		verifyKernels(t, b, []schema.DType{d}, chainsOf(t, "matmul", d, productShapes...)...)
		verifyKernels(t, b, []schema.DType{d}, chainsOf(t, "matmul_batched", d, []int64{3, 33, 40, 72}, []int64{2, 5, 17, 9})...)
	}
}

// linears are the patterns of a layer with what follows it element by element.
var linears = []string{"Linear_Bias", "Linear_Bias_ReLU", "Linear_Bias_GELU", "Linear_Bias_SiLU", "Linear_Bias_Residual"}

func TestLinear(t *testing.T) { devices(t, verifyLinear) }

func verifyLinear(t *testing.T, b *Backend) {
	for _, name := range linears {
		for _, d := range floats {
			verifyKernels(t, b, []schema.DType{d}, chainsOf(t, name, d, layerShapes...)...)
		}
	}
	for _, name := range linears[:2] {
		verifyKernels(t, b, []schema.DType{schema.INT8}, chainsOf(t, name, schema.INT8, layerShapes...)...)
	}
}

func TestLayers(t *testing.T) { devices(t, verifyLayers) }

func verifyLayers(t *testing.T, b *Backend) {
	for _, name := range []string{"SwiGLU", "Linear_Bias_GELU_Linear", "Linear_LayerNorm"} {
		for _, d := range floats {
			verifyKernels(t, b, []schema.DType{d}, chainsOf(t, name, d, layerShapes...)...)
		}
	}
}

// Kernels whose blocks count what others have done leave their counters as they found them.
func TestProductsAgain(t *testing.T) {
	b := newEmulated(t, Capability{8, 0})
	b.sms = 16
	verifyProductsAgain(t, b)
}

func verifyProductsAgain(t *testing.T, b *Backend) {
	for _, c := range []struct {
		pattern string
		shape   []int64
	}{
		{"matmul", []int64{64, 64, 700}}, {"matmul", []int64{3, 64, 700}}, {"Linear_LayerNorm", []int64{70, 72, 520}},
		{"Linear_Bias_GELU_Linear", []int64{70, 520, 264}}, {"Linear_Bias_GELU_Linear", []int64{2, 520, 264}},
	} {
		chain := chainsOf(t, c.pattern, schema.FP32, c.shape)[0]
		opened, err := b.Open(bench.Case{Chain: chain, DType: schema.FP32})
		if err != nil {
			t.Fatal(err)
		}
		ws := opened.(*workspace)
		k, err := ws.Bind(chain)
		if err != nil {
			t.Fatal(err)
		}
		var runs [2][]float64
		for i := range runs {
			y := ws.of(chain.Output())
			if err := errors.Join(ws.context.Set(y.address, 0, y.bytes()), k.(*kernel).enqueue()); err != nil {
				t.Fatal(err)
			}
			ws.changed()
			if runs[i], err = ws.values(chain.Output()); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(runs[0], runs[1]) {
			t.Errorf("%s %v: %s gives something else the second time", c.pattern, c.shape, k.Implementation())
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	}
}
