package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hwcal/bench"
)

// The taps of a depthwise convolution agree with float64 at rows and columns around
// those that the kernels take together, and nothing beyond the last column is written.
func TestTaps(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		t.Run("fp32", func(t *testing.T) { testTaps[float32](t, isa) })
		t.Run("fp64", func(t *testing.T) { testTaps[float64](t, isa) })
	})
}

func testTaps[T float](t *testing.T, isa ISA) {
	const lds, ldd = 70, 50
	offsets := []int{0, 1, 2, lds, lds + 1, 2*lds + 5}
	r := rand.New(rand.NewPCG(5, 6))
	taps := newTapsKernel[T](isa)
	for _, m := range []int{1, 3, 4, 5, 9} {
		for _, n := range []int{1, 3, 4, 7, 8, 15, 16, 17, 33, 48} {
			for _, floor := range []float64{0, math.Inf(-1)} {
				src, weights, dst := make([]T, (m+2)*lds+lineElems), make([]T, len(offsets)), make([]T, m*ldd)
				fillRandom(r, src, 1, len(src), len(src))
				fillRandom(r, weights, 1, len(weights), len(weights))
				for i := range dst {
					dst[i] = T(math.NaN())
				}
				bias := T(r.NormFloat64())
				taps(&dst[0], &src[0], ldd, lds, m, n, &offsets[0], &weights[0], len(offsets), bias, T(floor))
				if err := checkTaps(dst, src, ldd, lds, m, n, offsets, weights, bias, floor); err != nil {
					t.Fatalf("m=%d n=%d floor %g: %v", m, n, floor, err)
				}
			}
		}
	}
}

func checkTaps[T float](dst, src []T, ldd, lds, m, n int, offsets []int, weights []T, bias T, floor float64) error {
	for i := range m {
		for j := range ldd {
			got := float64(dst[i*ldd+j])
			if j >= n {
				if !math.IsNaN(got) {
					return fmt.Errorf("y[%d,%d] was written", i, j)
				}
				continue
			}
			sum, size := float64(bias), math.Abs(float64(bias))
			for k, w := range weights {
				a := float64(w) * float64(src[i*lds+offsets[k]+j])
				sum += a
				size += math.Abs(a)
			}
			bound := gamma[T](len(weights)+1) * size
			if want := max(sum, floor); !(math.Abs(got-want) <= bound) {
				return fmt.Errorf("y[%d,%d] = %g, want %g +- %g", i, j, got, want, bound)
			}
		}
	}
	return nil
}

// Where the weights do not stay in L2, the workers share a block of rows.
func TestSeparableInTeam(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		b := testBackend(t, isa)
		p, err := bench.Lookup("Depthwise_Pointwise")
		if err != nil {
			t.Fatal(err)
		}
		for _, b.caches.L2 = range []int{1, 2000} {
			for _, text := range []string{"1x35x5x6x70x3x1x1", "2x20x14x14x33x3x2x1", "3x1x1x1x1x1x1x0"} {
				verifyShape(t, b, p, text, len(b.cpus))
			}
		}
	})
}
