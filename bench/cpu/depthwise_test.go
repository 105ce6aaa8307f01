package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
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

// Whole planes and some of their rows, of widths around those of vectors and at the edges of the memory,
// agree with float64, NaN stays where a window has it, and nothing else is written.
func TestPlanes(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for stride := 1; stride <= 2; stride++ {
			t.Run(fmt.Sprint("fp32 ", stride), func(t *testing.T) { testPlanes[float32](t, isa, stride) })
			t.Run(fmt.Sprint("fp64 ", stride), func(t *testing.T) { testPlanes[float64](t, isa, stride) })
		}
	})
}

func testPlanes[T float](t *testing.T, isa ISA, stride int) {
	kernel := newPlanesKernel[T](isa, stride)
	if kernel == nil {
		t.Skip("none")
	}
	r := rand.New(rand.NewPCG(8, 9))
	widths := []int{63, 64, 65, 300}
	for w := range 40 {
		widths = append(widths, w+1)
	}
	for _, w := range widths {
		for _, h := range []int{1, 2, 3, 4, 7} {
			s := convShape{n: 1, c: 3, h: h, w: w, k: 3, r: 3, s: 3, stride: stride, pad: 1, groups: 3}
			p, q := s.p(), s.q()
			for _, front := range []bool{false, true} {
				src, weights, bias := guardedOne[T](t, 3*h*w, front), guardedOne[T](t, 27, front), guardedOne[T](t, 3, front)
				for _, v := range [][]T{src, weights, bias} {
					for i := range v {
						v[i] = T(r.NormFloat64())
					}
				}
				src[r.IntN(len(src))] = T(math.NaN())
				for _, rows := range [][2]int{{0, p}, {0, (p + 1) / 2}, {p / 3, p/3 + (p+2)/3}, {p / 2, p}, {p - 1, p}} {
					p0, m, floor := rows[0], rows[1]-rows[0], []T{0, T(math.Inf(-1))}[r.IntN(2)]
					const gap = 2
					dst := guardedOne[T](t, 3*m*q+2*gap, front)
					for i := range dst {
						dst[i] = T(math.NaN())
					}
					kernel(&dst[0], &src[p0*stride*w], 3, m, w, q, m*q+gap, h*w, &weights[0], &bias[0], floor, p0 > 0, (p0+m-1)*stride+1 < h)
					for at, got := range dst {
						c, i, j := at/(m*q+gap), at%(m*q+gap)/q, at%(m*q+gap)%q
						if i >= m {
							if !math.IsNaN(float64(got)) {
								t.Fatalf("%+v rows %v: [%d] was written", s, rows, at)
							}
							continue
						}
						sum, size := float64(bias[c]), math.Abs(float64(bias[c]))
						for tap := range 9 {
							if from, ok := s.pixel((p0+i)*q+j, tap); ok {
								a := float64(weights[c*9+tap]) * float64(src[c*h*w+from])
								sum, size = sum+a, size+math.Abs(a)
							}
						}
						want := max(sum, float64(floor))
						if math.IsNaN(want) && math.IsNaN(float64(got)) {
							continue
						}
						if !(math.Abs(float64(got)-want) <= gamma[T](10)*size) {
							t.Fatalf("%+v rows %v: channel %d [%d,%d] = %g, want %g", s, rows, c, i, j, got, want)
						}
					}
				}
			}
		}
	}
}

// Kernels for whole vectors compute what the others do, at the edges of the memory too.
func TestWholePlanes(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		t.Run("fp32", func(t *testing.T) { testWholePlanes[float32](t, isa) })
		t.Run("fp64", func(t *testing.T) { testWholePlanes[float64](t, isa) })
	})
}

func testWholePlanes[T float](t *testing.T, isa ISA) {
	if k, _ := newWholePlanes[T](isa, 2, 1); k == nil {
		t.Skip("none")
	}
	r := rand.New(rand.NewPCG(18, 19))
	for w := 2; w <= 40; w += 2 {
		for _, h := range []int{1, 2, 3, 6} {
			for _, c := range []int{1, 2, 3, 9, 20} {
				d, err := newDepthwise[T](isa, cacheSizes{L1: 32 << 10, L2: 1 << 20}, convShape{n: 1, c: c, h: h, w: w, k: c, r: 3, s: 3, stride: 2, pad: 1, groups: c})
				if err != nil {
					t.Fatal(err)
				}
				others := *d
				others.whole = nil
				for _, rows := range [][2]int{{0, d.p()}, {0, (d.p() + 1) / 2}, {d.p() - 1, d.p()}} {
					front, n := r.IntN(2) == 0, c*(rows[1]-rows[0])*d.q()
					src, weights, bias := guardedOne[T](t, c*h*w, front), guardedOne[T](t, 9*c, front), guardedOne[T](t, c, front)
					for _, v := range [][]T{src, weights, bias} {
						for i := range v {
							v[i] = T(r.NormFloat64())
						}
					}
					got, want := guardedOne[T](t, n, front), make([]T, n)
					d.rows(got, src, weights, bias, nil, rows[0], rows[1], 0)
					others.rows(want, src, weights, bias, nil, rows[0], rows[1], 0)
					if !slices.Equal(got, want) {
						t.Fatalf("%d channels of %dx%d, rows %v: %v, want %v", c, h, w, rows, got, want)
					}
				}
			}
		}
	}
}

// Each worker has blocks of rows of its own, or all share one: whichever is faster here, both are right.
func TestSeparableInTeams(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		b := testBackend(t, isa)
		for _, b.caches.L2 = range []int{1, 2000, 20000} {
			for _, text := range []string{"1x35x5x6x70x3x1x1", "2x20x14x14x33x3x2x1", "3x1x1x1x1x1x1x0"} {
				for chosen := range 2 {
					for _, d := range []schema.DType{schema.FP32, schema.FP64} {
						c := caseOf(t, "Depthwise_Pointwise", text, d, len(b.cpus))
						for i := range b.memory {
							b.memory[i].tried = map[triedKey]int{{b.isas[0], c.Chain.String(), c.Chain.Output()}: chosen}
						}
						if _, err := bench.Verify(b, c); err != nil {
							t.Errorf("%s %s, way %d, L2 of %d bytes: %v", text, d, chosen, b.caches.L2, err)
						}
					}
				}
			}
		}
	})
}
