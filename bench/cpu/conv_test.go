package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

func TestConv(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		t.Run("fp32", func(t *testing.T) { testConv[float32](t, isa) })
		t.Run("fp64", func(t *testing.T) { testConv[float64](t, isa) })
	})
}

func testConv[T float](t *testing.T, isa ISA) {
	shapes := []convShape{
		{1, 1, 1, 1, 1, 1, 1, 1, 0, 1},
		{1, 3, 5, 7, 2, 3, 3, 1, 1, 1},
		{2, 36, 18, 18, 17, 3, 3, 1, 1, 1}, // more channels than a block
		{2, 33, 13, 14, 15, 3, 3, 2, 1, 1},
		{1, 65, 7, 7, 31, 3, 3, 1, 1, 1},
		{3, 9, 4, 3, 5, 3, 3, 1, 1, 1}, // rows shorter than a quarter of a vector
		{1, 7, 9, 11, 6, 5, 5, 1, 2, 1},
		{1, 7, 9, 11, 6, 5, 3, 3, 0, 1},
		{1, 4, 13, 17, 9, 1, 1, 2, 0, 1},
		{2, 70, 6, 6, 30, 1, 1, 1, 0, 1},
		{1, 70, 4, 6, 13, 1, 1, 1, 0, 1}, // a whole panel of pixels and a vector
		{1, 5, 6, 6, 3, 1, 1, 1, 2, 1},   // padding around 1x1
		{1, 3, 2, 2, 4, 3, 3, 1, 3, 1},   // windows wholly in the padding
		{2, 17, 5, 5, 6, 3, 3, 2, 3, 1},
		{1, 20, 2, 2, 5, 7, 7, 1, 3, 1},   // taps wholly in the padding
		{1, 18, 3, 28, 33, 3, 3, 1, 1, 1}, // two panels of pixels a row
		{2, 12, 9, 9, 18, 3, 3, 1, 1, 3},
		{1, 6, 9, 10, 6, 3, 3, 2, 1, 6}, // depthwise
		{1, 8, 8, 8, 16, 7, 7, 2, 3, 1},
		{1, 19, 15, 17, 16, 3, 3, 2, 0, 1}, // taps behind the last column of a phase
		{2, 3, 17, 17, 5, 3, 3, 2, 0, 1},
		{1, 3, 32, 36, 9, 4, 4, 4, 0, 1}, // patches
		{1, 2, 97, 113, 6, 16, 16, 16, 0, 1},
		{2, 18, 57, 60, 6, 3, 2, 8, 0, 1},   // filters below the stride, more channels than a run
		{1, 3, 31, 35, 12, 11, 11, 4, 0, 1}, // AlexNet
		{1, 20, 27, 29, 8, 9, 7, 4, 2, 2},
		{1, 17, 27, 25, 7, 1, 1, 4, 0, 1},
		{1, 3, 9, 13, 6, 3, 5, 1, 0, 1}, // columns that the output lacks
		{1, 20, 9, 13, 6, 3, 3, 1, 0, 1},
		{1, 4, 13, 17, 9, 1, 1, 2, 1, 1}, // odd columns alone
		{1, 5, 9, 7, 6, 3, 3, 1, 2, 1},
	}
	kernels := newGEMMKernels[T](isa)
	small := blocking{2 * kernels.mr, 40, kernels.nr}
	r := rand.New(rand.NewPCG(3, 4))
	teams := []*team{newTestTeam(t, 1), newTestTeam(t, 2), newTestTeam(t, 3)}
	for i, s := range shapes {
		for j, b := range []blocking{small, newConvBlocking(kernels, cacheSizes{}, s.k/s.groups, s.c/s.groups*s.r*s.s)} {
			team := teams[(i+j)%len(teams)]
			threads := len(team.workers)
			v := planConv(newConvUnit[T](isa), b, 32<<10, threads, s)
			plans := []convPlan[T]{v}
			if m := newPixelMajor(newConvUnit[T](isa), b, 32<<10, threads, s); m != nil {
				plans = append(plans, m)
			}
			for _, plan := range plans {
				for _, residual := range []bool{false, true} {
					if err := checkConv(t, r, isa, team, s, plan, residual, (i+j)%2 == 0); err != nil {
						t.Fatalf("%s %+v, %d threads, blocks %+v, residual %t: %v", plan.name(), s, threads, b, residual, err)
					}
				}
			}
		}
	}
}

// checkConv compares batch norm, folded into the convolution, and ReLU with their
// definition in float64.
func checkConv[T float](t *testing.T, r *rand.Rand, isa ISA, team *team, v convShape, plan convPlan[T], add, front bool) error {
	random := func(n int) []T {
		x := guardedOne[T](t, n, front)
		fillRandom(r, x, 1, n, n)
		return x
	}
	cg, kg := v.c/v.groups, v.k/v.groups
	x, w := random(v.n*v.c*v.h*v.w), random(v.k*cg*v.r*v.s)
	bias, gammas, beta, mean, variance := random(v.k), random(v.k), random(v.k), random(v.k), random(v.k)
	for k := range variance {
		variance[k] = variance[k]*variance[k] + 0.5
	}
	const eps = 1e-5
	norm := batchNorm[T]{gammas, beta, mean, variance, eps}
	foldedW, foldedB := random(len(w)), random(v.k)
	copy(foldedW, norm.foldWeights(w))
	copy(foldedB, norm.foldBias(bias))

	y := random(v.n * v.k * v.p() * v.q())
	packed := plan.packWeights(random(plan.weightsLen()), foldedW)
	mem := random(int(plan.scratchBytes()) / int(unsafe.Sizeof(T(0))))
	for i := range mem { // what is not written must not matter
		mem[i] = T(math.NaN())
	}
	s, err := plan.newScratch(asBytes(mem))
	if err != nil {
		return err
	}
	var residual []T
	if add {
		residual = random(len(y))
	}
	epi := newConvEpilogue(isa, foldedB, residual, true)
	team.run(func(w *worker) { plan.run(w.id, s, x, packed, y, v.p()*v.q(), epi) })

	bound := gamma[T](cg*v.r*v.s + 7) // the products, the bias, the folding and the residual
	for n := range v.n {
		for k := range v.k {
			scale := float64(gammas[k]) / math.Sqrt(float64(variance[k])+eps)
			for p := range v.p() {
				for q := range v.q() {
					sum, size := float64(bias[k]), math.Abs(float64(bias[k]))+math.Abs(float64(mean[k]))
					for c := range cg {
						for r := range v.r {
							for s := range v.s {
								yy, xx := p*v.stride-v.pad+r, q*v.stride-v.pad+s
								if yy < 0 || yy >= v.h || xx < 0 || xx >= v.w {
									continue
								}
								a := float64(x[((n*v.c+k/kg*cg+c)*v.h+yy)*v.w+xx]) * float64(w[((k*cg+c)*v.r+r)*v.s+s])
								sum += a
								size += math.Abs(a)
							}
						}
					}
					at := ((n*v.k+k)*v.p()+p)*v.q() + q
					want := (sum-float64(mean[k]))*scale + float64(beta[k])
					size = size*math.Abs(scale) + math.Abs(float64(beta[k]))
					if add {
						want += float64(residual[at])
						size += math.Abs(float64(residual[at]))
					}
					want = max(want, 0)
					if got := float64(y[at]); !(math.Abs(got-want) <= bound*size) {
						return fmt.Errorf("y[%d,%d,%d,%d] = %g, want %g +- %g", n, k, p, q, got, want, bound*size)
					}
				}
			}
		}
	}
	return nil
}

// Both kinds of columns and the even ones alone, at lengths around the loops, on rows apart, at
// the edges of the memory.
func TestEvenOdd(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		t.Run("fp32", func(t *testing.T) { testEvenOdd[float32](t, isa) })
		t.Run("fp64", func(t *testing.T) { testEvenOdd[float64](t, isa) })
	})
}

func testEvenOdd[T float](t *testing.T, isa ISA) {
	k := newConvKernels[T](isa).evenOdd
	for n := 1; n <= 100; n++ {
		const m = 3
		lds, ldd := n+3, (n+1)/2+1
		src := guardedOne[T](t, (m-1)*lds+n, n%2 == 0)
		for i := range src {
			src[i] = T(i + 1)
		}
		plane := (m-1)*ldd + (n+1)/2
		for _, beside := range []int{0, plane + 1, -plane - 1} {
			dst := guardedOne[T](t, 2*plane+1, n%2 == 0)
			clear(dst)
			want := make([]T, len(dst))
			first := max(0, -beside)
			for i := range m {
				for j := range n {
					if x := src[i*lds+j]; j%2 == 0 {
						want[first+i*ldd+j/2] = x
					} else if beside != 0 {
						want[first+beside+i*ldd+j/2] = x
					}
				}
			}
			k(&dst[first], ldd, beside, &src[0], lds, m, n, 0)
			if !slices.Equal(dst, want) {
				t.Fatalf("%d columns, %d beside: %v, want %v", n, beside, dst, want)
			}
		}
	}
}

func TestInside(t *testing.T) {
	for _, s := range []convShape{{1, 1, 7, 5, 1, 3, 3, 1, 1, 1}, {1, 1, 8, 9, 1, 7, 5, 2, 3, 1}, {1, 1, 2, 2, 1, 3, 3, 1, 3, 1}, {1, 1, 4, 4, 1, 1, 1, 1, 0, 1}} {
		products := 0
		for j := range s.p() * s.q() {
			for tap := range s.r * s.s {
				products += s.mask(j, 1, tap)
			}
		}
		if want := float64(products) / float64(s.p()*s.q()*s.r*s.s); s.inside() != want {
			t.Errorf("%+v: %g of the products are not with padding, want %g", s, s.inside(), want)
		}
	}
}

func TestConvShapeIsChecked(t *testing.T) {
	for _, s := range []convShape{
		{},
		{1, 3, 4, 4, 4, 3, 3, 1, 1, 2},
		{1, 4, 2, 2, 4, 5, 5, 1, 1, 1},
		{1, 4, 2, 2, 4, 1, 1, 1, -1, 1},
	} {
		if _, err := newConv(newConvUnit[float32](Portable), typicalCaches, 1, s); err == nil {
			t.Errorf("%+v was accepted", s)
		}
	}
}
