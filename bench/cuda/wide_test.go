//go:build linux && (amd64 || arm64)

package cuda

import (
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// wideShapes straddle tiles and steps of 128 bytes; m, n, k.
var wideShapes = [][]int64{{9, 256, 64}, {64, 16, 528}, {200, 272, 144}}

// On Hopper tiles are wide, where all rows are multiples of 16 bytes.
func TestWide(t *testing.T) { verifyWide(t, newEmulated(t, Capability{9, 0})) }

// verifyWide finds both wide kernels of ours, by their name, for every chain that multiplies: each where the other is
// slow.
func verifyWide(t *testing.T, b *Backend) {
	sms, c := b.sms, b.context
	defer func() { b.sms, b.context = sms, c }()
	b.sms = 1 // of which tiles are enough
	for kernel, others := range map[string]int{"128x256": 384, "192x256": 256} {
		b.context = &slowLaunches{Context: c, threads: others, before: map[Event]int{}}
		verify := func(d schema.DType, pattern string, shapes ...[]int64) {
			t.Helper()
			chains := chainsOf(t, pattern, d, shapes...)
			verifyKernels(t, b, []schema.DType{d}, chains...)
			ws := must[bench.Workspace](t)(b.Open(bench.Case{Chain: chains[0], DType: d, Unit: own.String()}))
			if name := must[bench.Kernel](t)(ws.Bind(chains[0])).Implementation(); !strings.Contains(name, kernel) {
				t.Errorf("%s in %s: %s, want one of %s", pattern, d, name, kernel)
			}
			check(t, ws.Close())
		}
		for _, d := range wideTypes {
			verify(d, "matmul", wideShapes...)
		}
		verify(schema.BF16, "matmul_batched", []int64{2, 40, 272, 80})
		last := wideShapes[len(wideShapes)-1]
		for _, pattern := range append([]string{"SwiGLU", "Linear_Bias_GELU_Linear", "Linear_LayerNorm"}, linears...) {
			verify(schema.BF16, pattern, last)
		}
		verify(schema.INT8, "Linear_Bias_ReLU", last)
	}
}

// Where k or n is no multiple of 16 bytes, other kernels multiply, as where there are few rows, or few tiles.
func TestNotWide(t *testing.T) {
	b := newEmulated(t, Capability{9, 0})
	b.sms = 1
	verify := func(shape []int64, want string) {
		c := chainsOf(t, "matmul", schema.BF16, shape)[0]
		ws := must[bench.Workspace](t)(b.Open(bench.Case{Chain: c, DType: schema.BF16}))
		if name := must[bench.Kernel](t)(ws.Bind(c)).Implementation(); name != want {
			t.Errorf("%v: %s, want %s", shape, name, want)
		}
		check(t, ws.Close())
	}
	verify([]int64{130, 144, 47}, "hwcal_gemm_128x128_ragged_bf16")
	verify([]int64{130, 143, 48}, "hwcal_gemm_128x128_ragged_bf16")
	verify([]int64{8, 144, 48}, "hwcal_gemv_8_bf16")
	b.sms = 8
	verify([]int64{130, 256, 48}, "hwcal_gemm_64x64_bf16")
}
