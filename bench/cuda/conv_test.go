//go:build linux

package cuda

import (
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// Of convDims: batch, channels, height, width, filters, size, stride, padding, groups.
var (
	convShapes = [][]int64{
		{2, 16, 9, 7, 24, 3, 1, 1, 1}, {1, 64, 12, 13, 136, 1, 1, 0, 1}, {1, 3, 17, 19, 10, 7, 2, 3, 1},
		{3, 5, 4, 6, 7, 3, 2, 1, 1}, {1, 32, 5, 5, 8, 5, 1, 0, 1}, {1, 40, 3, 3, 16, 1, 2, 0, 1},
	}
	depthwiseShapes = [][]int64{{2, 16, 9, 7, 16, 3, 1, 1, 16}, {1, 13, 6, 10, 13, 3, 2, 1, 13}}
)

func TestConv(t *testing.T) { devices(t, verifyConv) }

func verifyConv(t *testing.T, b *Backend) {
	shapes := append(convShapes[:len(convShapes):len(convShapes)], depthwiseShapes...)
	few := append(convShapes[2:3:3], depthwiseShapes[0])
	for _, d := range floats {
		for _, name := range []string{"Conv2d_ReLU", "Conv2d_BatchNorm", "Conv2d_BatchNorm_ReLU"} {
			verifyKernels(t, b, []schema.DType{d}, chainsOf(t, name, d, few...)...)
		}
		for _, name := range []string{"Conv2d_Bias", "Conv2d_BatchNorm_Add_ReLU"} {
			verifyKernels(t, b, []schema.DType{d}, chainsOf(t, name, d, shapes...)...)
		}
	}
	for _, name := range []string{"Conv2d_Bias", "Conv2d_ReLU"} {
		verifyKernels(t, b, []schema.DType{schema.INT8}, chainsOf(t, name, schema.INT8, shapes...)...)
	}
}

func TestSeparableConv(t *testing.T) { devices(t, verifySeparableConv) }

func verifySeparableConv(t *testing.T, b *Backend) {
	for _, d := range floats {
		verifyKernels(t, b, []schema.DType{d}, chainsOf(t, "Depthwise_Pointwise", d,
			[]int64{2, 16, 9, 7, 24, 3, 1, 1}, []int64{1, 64, 8, 11, 72, 3, 2, 1}, []int64{1, 13, 6, 10, 5, 5, 1, 2})...)
	}
}

// Sums are no int8 before they are requantized.
func TestSumsAsInt8(t *testing.T) {
	b := newEmulated(t, Capability{8, 0})
	for _, m := range []int64{3, 200} {
		x := &bench.Tensor{Name: "X", Dims: []int64{m, 64}}
		w := &bench.Tensor{Name: "W", Dims: []int64{64, 32}, Param: true}
		_, err := bench.Verify(b, bench.Case{Chain: bench.Chain{bench.Gemm(x, w)}, DType: schema.INT8})
		if !isUnsupported(err) {
			t.Errorf("%d rows: %v", m, err)
		}
	}
}

// What no kernel is for says so.
func TestGroupedConv(t *testing.T) {
	b := newEmulated(t, Capability{8, 0})
	_, err := bench.Verify(b, bench.Case{Chain: chainsOf(t, "Conv2d_ReLU", schema.FP32, []int64{1, 8, 5, 5, 8, 3, 1, 1, 2})[0], DType: schema.FP32})
	if !isUnsupported(err) {
		t.Errorf("convolution in 2 groups: %v", err)
	}
}
