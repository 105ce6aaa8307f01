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
			expected := make([]uint16, len(dst))
			clear(dst)
			for i := range src {
				src[i] = math.Float32frombits(r.Uint32())
			}
			roundBF16AVX512BF16(&dst[0], &src[0], ldd, lds, m, n)
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
