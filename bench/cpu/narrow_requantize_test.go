package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The kernels on sums do exactly what their twins in Go do, at lengths around the loops,
// on rows apart, at the edges of the memory; sums are anything, up to the whole range.
func TestSumKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	eachISA(t, func(t *testing.T, isa ISA) {
		k := sumKernelsFor(isa)
		for n := 1; n <= 140; n += 1 + n/40 {
			for _, m := range []int{1, 3} {
				lds, ldd := n+2, n+3
				ints := func(n int) []int32 {
					front, back := guardedBytes(t, 4*n)
					if n%2 == 0 {
						return as[int32](front)
					}
					return as[int32](back)
				}
				src, row := ints((m-1)*lds+n), ints(n)
				factors := guardedOne[float32](t, n, n%2 == 0)
				for i := range src {
					src[i] = int32(r.Uint32()) >> (r.IntN(24) + 1)
				}
				for j := range row {
					row[j] = int32(r.Uint32()) >> 2
					factors[j] = float32(math.Ldexp(1+r.Float64(), -r.IntN(28)))
					if j%3 == 0 {
						row[j], factors[j] = 0, 0.5 // ties
					}
				}
				for _, floor := range []int32{0, math.MinInt32} {
					got, want := ints((m-1)*ldd+n), make([]int32, (m-1)*ldd+n)
					clear(got)
					k.addFloor(&got[0], &src[0], &row[0], ldd, lds, m, n, floor)
					addFloorPortable(&want[0], &src[0], &row[0], ldd, lds, m, n, floor)
					if !slices.Equal(got, want) {
						t.Fatalf("addFloor %dx%d: %v, want %v", m, n, got, want)
					}
				}
				for _, floor := range []float32{0, noFloor} {
					front, back := guardedBytes(t, (m-1)*ldd+n)
					got, want := as[int8](front), make([]int8, (m-1)*ldd+n)
					if n%2 == 1 {
						got = as[int8](back)
					}
					clear(got)
					k.requantize(&got[0], &src[0], &row[0], &factors[0], ldd, lds, m, n, floor)
					requantizePortable(&want[0], &src[0], &row[0], &factors[0], ldd, lds, m, n, floor)
					if !slices.Equal(got, want) {
						t.Fatalf("requantize %dx%d: %v, want %v", m, n, got, want)
					}
				}
			}
		}
	})
}

// Ties go to the even number, and what is too large to its limit.
func TestRequantizeByHand(t *testing.T) {
	src := []int32{1, 3, 5, -1, -3, 253, 255, 1 << 30, -1 << 30, -1 << 31}
	want := []int8{0, 2, 2, 0, -2, 126, 127, 127, -127, -127}
	row, factors, got := make([]int32, len(src)), make([]float32, len(src)), make([]int8, len(src))
	for j := range factors {
		factors[j] = 0.5
	}
	eachISA(t, func(t *testing.T, isa ISA) {
		sumKernelsFor(isa).requantize(&got[0], &src[0], &row[0], &factors[0], 0, 0, 1, len(src), noFloor)
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
