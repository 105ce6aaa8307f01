package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hwcal/bench/element"
)

// TestPairConv convolves integers so small that every sum is exact, by each plan, and compares all elements, with a bias, and
// sometimes with a residual and a floor.
func TestPairConv(t *testing.T) {
	eachUnit(t, func(t *testing.T, unit unit) {
		u, interleave := pairUnit(unit)
		if interleave == nil {
			t.Skip("no kernels for pairs")
		}
		small := blocking{2 * u.mr, 40, u.nr}
		teams := []*team{newTestTeam(t, 1), newTestTeam(t, 2), newTestTeam(t, 3), newTestTeam(t, 8)}
		r := rand.New(rand.NewPCG(3, 4))
		for i, s := range []convShape{
			{1, 1, 1, 1, 1, 1, 1, 1, 0, 1},
			{1, 3, 5, 7, 2, 3, 3, 1, 1, 1},
			{2, 34, 6, 7, u.mr + 1, 3, 3, 1, 1, 1},
			{1, 66, 12, 12, 2*u.mr + 3, 3, 3, 1, 1, 1}, // several blocks
			{2, 80, 9, 10, 37, 3, 3, 2, 1, 1},          // groups of channels
			{3, 70, 7, 7, 70, 3, 3, 1, 1, 1},
			{2, 140, 6, 6, 30, 1, 1, 1, 0, 1},
			{1, 35, 8, 8, 40, 1, 1, 2, 0, 1},
			{1, 20, 6, 6, 3, 1, 1, 1, 2, 1}, // padding around 1x1
			{1, 3, 2, 2, 4, 3, 3, 1, 3, 1},  // windows wholly in the padding
			{2, 18, 5, 4, 9, 3, 3, 1, 1, 3}, // groups of an odd number of channels each
			{1, 3, 20, 21, 17, 7, 7, 2, 3, 1},
			{1, 5, 9, 17, 33, 5, 5, 3, 2, 1},   // a stride that is gathered
			{1, 3, 33, 36, 17, 4, 4, 4, 0, 1},  // patches
			{1, 36, 3, 28, 33, 3, 3, 1, 1, 1},  // two panels of pixels a row
			{2, 64, 14, 14, 64, 3, 3, 1, 1, 1}, // nothing is left over
		} {
			p := &channelPairs{s, interleave, halfKernelsFor(unit.dtype, AVX512)}
			shape := p.shape()
			for j, b := range []blocking{small, newConvBlocking(u.gemmKernels, cacheSizes{}, shape.k/shape.groups, shape.c/shape.groups*shape.r*shape.s)} {
				tm := teams[(i+j)%len(teams)]
				plans := []convPlan[float32]{planConv(u, b, 32<<10, len(tm.workers), shape)}
				if m := newPixelMajor(u, b, 32<<10, len(tm.workers), shape); m != nil {
					plans = append(plans, m)
				}
				for _, plan := range plans {
					if err := checkPairConv(t, r, unit, tm, p, plan, (i+j)%2 == 0); err != nil {
						t.Fatalf("%s %+v, %d threads, blocks %+v: %v", plan.name(), s, len(tm.workers), b, err)
					}
				}
			}
		}
	})
}

func checkPairConv(t *testing.T, r *rand.Rand, u unit, tm *team, v *channelPairs, plan convPlan[float32], atFront bool) error {
	guarded := func(n int) []byte {
		front, back := guardedBytes(t, n)
		if atFront {
			return front
		}
		return back
	}
	elem := element.Of(u.dtype)
	values := func(n int) (mem []byte, all []float64) {
		mem, all = guarded(2*n), make([]float64, n)
		for i := range all {
			all[i] = float64(r.IntN(7) - 3)
			elem.Set(mem, int64(i), all[i])
		}
		return mem, all
	}
	cg, kg, pixels := v.c/v.groups, v.k/v.groups, v.p()*v.q()
	x, xv := values(v.n * v.c * v.h * v.w)
	w, wv := values(v.k * cg * v.r * v.s)
	packed := plan.packWeights(guardedOne[float32](t, plan.weightsLen(), atFront), v.ofFilters(as[uint16](w)))
	mem := guarded(int(plan.scratchBytes()))
	for i := range mem {
		mem[i] = 0xff // NaN
	}
	scratch, err := plan.newScratch(mem)
	if err != nil {
		return err
	}
	one := int(lengthBytes[float32](v.ofXLen()))
	all, each := guarded(one), guarded(len(tm.workers)*one)
	inPairs := func(w *worker) []byte {
		if plan.pixelParts() == 1 {
			return v.alone(w, each, x)
		}
		return v.together(w, all, x)
	}
	y, yv := guarded(2*v.n*v.k*pixels), make([]float64, v.n*v.k*pixels)
	for i := range y {
		y[i] = 0xff // NaN
	}
	half := halfChannels{
		y: as[uint16](y), pixels: pixels, bias: make([]float32, v.k), floor: float32(math.Inf(-1)),
		finishRows: halfKernelsFor(u.dtype, AVX512).finishRows,
	}
	for i := range half.bias {
		half.bias[i] = float32(r.IntN(9) - 4)
	}
	if r.IntN(2) == 0 {
		half.floor = 0
	}
	if r.IntN(2) == 0 {
		var residual []byte
		residual, yv = values(len(yv))
		half.residual = as[uint16](residual)
	}
	epi := half.epilogue()
	tm.run(func(w *worker) {
		plan.run(w.id, scratch, as[float32](inPairs(w)), packed, nil, pixels, epi)
	})
	for at := range yv {
		n, k, pixel := at/pixels/v.k, at/pixels%v.k, at%pixels
		want := float64(half.bias[k]) + yv[at]
		for c := range cg {
			for tap := range v.r * v.s {
				if i, ok := v.pixel(pixel, tap); ok {
					want += xv[(n*v.c+k/kg*cg+c)*v.h*v.w+i] * wv[(k*cg+c)*v.r*v.s+tap]
				}
			}
		}
		want = element.ToBF16(max(want, float64(half.floor))).Float()
		if got := elem.Get(y, int64(at)); got != want {
			return fmt.Errorf("y[%d,%d,%d] = %g, want %g", n, k, pixel, got, want)
		}
	}
	return nil
}
