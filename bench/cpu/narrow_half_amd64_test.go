package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hwcal/schema"
)

// The instruction of AVX512-BF16, emulated if need be, rounds as Go does, but for what it
// takes for 0; at lengths around the loop, on rows apart, at the edges of the memory.
func TestRoundAtOnce(t *testing.T) {
	provide(t, units[slices.IndexFunc(units, func(u unit) bool { return u.name == "avx512_bf16" })])
	r := rand.New(rand.NewPCG(11, 12))
	want := halfKernelsFor(schema.BF16, Portable)
	for n := 1; n <= 100; n++ {
		for _, m := range []int{1, 3} {
			lds, ldd := n+2, n+3
			src, dst := guardedOne[float32](t, (m-1)*lds+n, n%2 == 0), guardedHalves(t, (m-1)*ldd+n, n%2 == 0)
			expected, ahead := make([]uint16, len(dst)), guardedHalves(t, len(dst), n%2 == 0)
			clear(dst)
			clear(ahead)
			for i := range src {
				src[i] = math.Float32frombits(r.Uint32())
			}
			roundBF16AVX512BF16(&dst[0], &src[0], ldd, lds, m, n)
			roundAheadBF16AVX512BF16(&ahead[0], &src[0], ldd, lds, m, n)
			if !slices.Equal(ahead, dst) {
				t.Fatalf("%dx%d: %v with fetching ahead, %v without", m, n, ahead, dst)
			}
			for i, x := range src {
				if math.Abs(float64(x)) < 0x1p-126 {
					src[i] = float32(math.Copysign(0, float64(x)))
				}
			}
			want.round(&expected[0], &src[0], ldd, lds, m, n)
			sameHalves(t, fmt.Sprintf("%dx%d", m, n), schema.BF16, dst, expected)
		}
	}
}

// Sums get their bias, of rows or of columns, another matrix and a floor, and are rounded, NaN stays; likewise at the edges.
func TestFinish(t *testing.T) {
	provide(t, units[slices.IndexFunc(units, func(u unit) bool { return u.name == "avx512_bf16" })])
	r := rand.New(rand.NewPCG(13, 14))
	for _, k := range []struct {
		name       string
		dtype      schema.DType
		rows, cols finishHalves
	}{
		{"bf16", schema.BF16, finishRowsBF16AVX512, finishColsBF16AVX512},
		{"bf16 at once", schema.BF16, finishRowsBF16AVX512BF16, finishColsBF16AVX512BF16},
		{"fp16", schema.FP16, finishRowsFP16AVX512, finishColsFP16AVX512},
	} {
		portable := halfKernelsFor(k.dtype, Portable)
		for n := 1; n <= 100; n++ {
			const m = 3
			lds, ldd, ldy := n+2, n+3, n+1
			src, dst := guardedOne[float32](t, (m-1)*lds+n, n%2 == 0), guardedHalves(t, (m-1)*ldd+n, n%2 == 0)
			y := guardedHalves(t, (m-1)*ldy+n, n%2 == 0)
			expected := make([]uint16, len(dst))
			for i := range y {
				y[i] = uint16(r.Uint32()) // NaN and infinity among them
			}
			for i := range src {
				src[i] = float32(r.NormFloat64())
				if r.IntN(20) == 0 {
					src[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[r.IntN(3)]
				}
			}
			floor := []float32{float32(math.Inf(-1)), 0}[n%2]
			for way, f := range map[string]struct {
				got, want finishHalves
				biases    int
			}{"rows": {k.rows, portable.finishRows, m}, "columns": {k.cols, portable.finishCols, n}} {
				bias := guardedOne[float32](t, f.biases, n%2 == 0)
				fillRandom(r, bias, 1, f.biases, f.biases)
				for _, other := range []*uint16{nil, &y[0]} {
					clear(dst)
					clear(expected)
					f.got(&dst[0], &src[0], &bias[0], other, ldd, lds, ldy, m, n, floor)
					f.want(&expected[0], &src[0], &bias[0], other, ldd, lds, ldy, m, n, floor)
					sameHalves(t, fmt.Sprintf("%s of %s: %dx%d, another matrix: %t", k.name, way, m, n, other != nil), k.dtype, dst, expected)
				}
			}
		}
	}
}
