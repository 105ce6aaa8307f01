package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

func TestNarrowConv(t *testing.T) {
	eachUnit(t, func(t *testing.T, u unit) {
		mr, nr, depth := u.gemm.mr, u.gemm.nr, stepBytes/int(u.dtype.Bytes())
		small := blocking{mr, 2, 2 * nr}
		cases := []struct {
			s       convShape
			threads int
			block   blocking // zero: from the caches
		}{
			{convShape{1, 1, 1, 1, 1, 1, 1, 1, 0, 1}, 1, blocking{}},
			{convShape{1, 3, 5, 7, 2, 3, 3, 1, 1, 1}, 1, blocking{}},
			{convShape{1, depth + 1, 6, 7, mr + 1, 3, 3, 1, 1, 1}, 1, small}, // a block of channels and one
			{convShape{2, depth, 7, 9, 3, 3, 3, 2, 1, 1}, 2, small},          // images meet within a panel
			{convShape{3, depth, 3, 3, 2, 2, 2, 1, 0, 1}, 1, small},          // several images in a panel
			{convShape{2, 2 * depth, 5, 7, mr + 2, 1, 1, 1, 0, 1}, 2, small}, // X as it is
			{convShape{1, depth, 9, 2 * nr, 2, 2, 1, 1, 0, 1}, 1, small},     // panels within a row
			{convShape{1, 2, 11, 13, 3, 5, 2, 3, 2, 1}, 2, small},
			{convShape{2, depth + 2, 7, 8, 3, 1, 1, 2, 0, 1}, 1, small},
			{convShape{1, 2, 4, 5, 3, 1, 1, 1, 2, 1}, 1, small}, // padding around 1x1
			{convShape{1, 3, 2, 2, 4, 3, 3, 1, 3, 1}, 2, small}, // windows wholly in the padding
			{convShape{2, 6, 5, 4, 9, 3, 3, 1, 1, 3}, 2, small},
			{convShape{1, 4, 5, 6, 4, 1, 1, 1, 0, 2}, 1, small},
			{convShape{1, 3, 6, 5, 3, 3, 3, 2, 1, 3}, 2, blocking{}}, // depthwise
			{convShape{1, 2, 3, 3, 2, 3, 3, 4, 1, 1}, 1, blocking{}}, // a stride beyond the filter
		}
		teams := []*team{newTestTeam(t, 1), newTestTeam(t, 2)}
		r := rand.New(rand.NewPCG(3, 4))
		for i, c := range cases {
			v, err := newNarrowConv(u, cacheSizes{}, c.threads, c.s)
			if err != nil {
				t.Fatal(err)
			}
			if c.block != (blocking{}) {
				m, n, k := c.s.product()
				v = planNarrowConv(planNarrowGEMM(u, c.block, c.threads, m, n, k), c.s)
			}
			if err := checkNarrowConv(t, r, u, teams[c.threads-1], v, i%2 == 0); err != nil {
				t.Fatalf("%+v, %d threads, blocks %+v: %v", c.s, c.threads, c.block, err)
			}
		}
	})
}

// checkNarrowConv convolves integers so small that every sum is exact, in fp16 too, and
// compares all elements. int8 gets its whole range. It runs twice: what a run left behind
// must not matter to the next.
func checkNarrowConv(t *testing.T, r *rand.Rand, u unit, tm *team, v *narrowConv, atFront bool) error {
	size := v.gemm.size
	guarded := func(n int) []byte {
		front, back := guardedBytes(t, n)
		if atFront {
			return front
		}
		return back
	}
	elem, sum := elements[u.dtype], elementOfTensor(&bench.Tensor{Sums: true}, u.dtype)
	fill := func(mem []byte, values []float64) {
		for i := range values {
			x := float64(r.IntN(7) - 3)
			if u.dtype == schema.INT8 {
				x = float64(r.IntN(255)-127) / bench.Int8Unit
			}
			elem.set(mem, int64(i), x)
			values[i] = elem.get(mem, int64(i))
		}
	}
	cg, kg, pixels := v.c/v.groups, v.k/v.groups, v.p()*v.q()
	xv, wv := make([]float64, v.n*v.c*v.h*v.w), make([]float64, v.k*cg*v.r*v.s)
	x, w := guarded(len(xv)*size), guarded(len(wv)*size)
	fill(w, wv)
	y := guarded(v.n * v.k * pixels * accBytes)
	packed := guarded(v.weightsBytes())
	v.packWeights(packed, w)
	mem := guarded(int(v.scratchBytes()))
	for i := range mem {
		mem[i] = 0x7f // NaN, or a large number
	}
	s, err := v.newScratch(mem)
	if err != nil {
		return err
	}
	ended := make([]int, v.n*v.k*pixels)
	ends := make([]finish, v.groups)
	for group := range ends {
		ends[group] = v.inImages(group, func(sums []byte, channel, at, m, n int) {
			for i := range m {
				if (at/pixels+i)%v.k != channel+i {
					t.Errorf("element %d is given to channel %d", at+i*pixels, channel+i)
				}
				copy(y[(at+i*pixels)*accBytes:][:n*accBytes], sums[i*v.gemm.nr*accBytes:])
				for j := range n {
					ended[at+i*pixels+j]++
				}
			}
		})
	}
	for times := 1; times <= 2; times++ {
		fill(x, xv)
		tm.run(func(w *worker) { v.run(w.id, &s[w.id], x, packed, ends) })
		for at := range ended {
			n, k, p, q := at/pixels/v.k, at/pixels%v.k, at/v.q()%v.p(), at%v.q()
			want := 0.0
			for c := range cg {
				for tap := range v.r * v.s {
					if i, ok := v.pixel(p*v.q()+q, tap); ok {
						want += xv[(n*v.c+k/kg*cg+c)*v.h*v.w+i] * wv[(k*cg+c)*v.r*v.s+tap]
					}
				}
			}
			if got := sum.get(y, int64(at)); got != want {
				return fmt.Errorf("y[%d,%d,%d,%d] = %g, want %g", n, k, p, q, got, want)
			}
			if ended[at] != times {
				return fmt.Errorf("y[%d,%d,%d,%d] was finished %d times in %d runs", n, k, p, q, ended[at], times)
			}
		}
	}
	return nil
}

// Random normal values, through the backend: fused and unfused within the bounds that hold
// for measurements too.
func TestNarrowConvPatterns(t *testing.T) {
	eachUnit(t, func(t *testing.T, u unit) {
		b := testBackend(t, "")
		b.units = map[schema.DType][]unit{u.dtype: {u}}
		for i, p := range narrowPatterns(u.dtype, "conv") {
			for j, text := range []string{"2x5x4x3x7x3x1x1x1", "1x33x5x6x4x1x1x0x1", "2x4x7x6x6x3x2x1x2"} {
				verifyIn(t, b, p, text, u.dtype, 1+(i+j)%2*(len(b.cpus)-1))
			}
		}
	})
}

// Batch norm has no integer form, a depthwise convolution is no product of matrices.
func TestNarrowConvFusion(t *testing.T) {
	floats := []string{"Conv2d_Bias", "Conv2d_ReLU", "Conv2d_BatchNorm", "Conv2d_BatchNorm_ReLU", "Conv2d_BatchNorm_Add_ReLU"}
	for d, want := range map[schema.DType][]string{schema.BF16: floats, schema.FP16: floats, schema.INT8: floats[:2]} {
		if have := narrowPatterns(d, "conv"); !slices.Equal(have, want) {
			t.Errorf("%s: fused are %v, want %v", d, have, want)
		}
	}
}
