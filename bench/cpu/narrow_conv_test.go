package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hwcal/bench"
	"hwcal/bench/element"
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
				v = planNarrowConv(u, planNarrowGEMM(u, c.block, c.threads, m, n, k), c.s)
			}
			if err := checkNarrowConv(t, r, u, teams[c.threads-1], v, 1+i%2, i%2 == 0); err != nil {
				t.Fatalf("%+v, %d threads, blocks %+v: %v", c.s, c.threads, c.block, err)
			}
		}
	})
}

// checkNarrowConv convolves integers so small that every sum is exact, in fp16 too, and
// compares all elements. int8 gets its whole range. What a run leaves behind must not
// matter to the next.
func checkNarrowConv(t *testing.T, r *rand.Rand, u unit, tm *team, v *narrowConv, runs int, atFront bool) error {
	size := v.gemm.size
	guarded := func(n int) []byte {
		front, back := guardedBytes(t, n)
		if atFront {
			return front
		}
		return back
	}
	elem, sum := element.Of(u.dtype), element.OfTensor(&bench.Tensor{Sums: true}, u.dtype)
	fill := func(mem []byte, values []float64) {
		for i := range values {
			x := float64(r.IntN(7) - 3)
			if u.dtype == schema.INT8 {
				x = float64(r.IntN(255)-127) / bench.Int8Unit
			}
			elem.Set(mem, int64(i), x)
			values[i] = elem.Get(mem, int64(i))
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
	for times := 1; times <= runs; times++ {
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
			if got := sum.Get(y, int64(at)); got != want {
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
			for j, text := range []string{"2x5x4x3x7x3x1x1x1", "1x33x5x6x4x1x1x0x1", "2x4x7x6x6x3x2x1x2", "2x9x7x11x9x3x1x1x9", "1x3x40x33x3x3x2x1x3", "1x5x9x70x5x5x3x2x5"} {
				verifyIn(t, b, p, text, u.dtype, 1+(i+j)%2*(len(b.cpus)-1))
			}
		}
	})
}

// Batch norm has no integer form, and a depthwise convolution in front of another no kernel.
func TestNarrowConvFusion(t *testing.T) {
	floats := []string{"Conv2d_Bias", "Conv2d_ReLU", "Conv2d_BatchNorm", "Conv2d_BatchNorm_ReLU", "Conv2d_BatchNorm_Add_ReLU"}
	for d, want := range map[schema.DType][]string{schema.BF16: floats, schema.FP16: floats, schema.INT8: floats[:2]} {
		if have := narrowPatterns(d, "conv"); !slices.Equal(have, want) {
			t.Errorf("%s: fused are %v, want %v", d, have, want)
		}
	}
}

// The kernels that meet one number a row do exactly what their twins in Go do, at lengths
// around the loops, on rows apart, at the edges of the memory.
func TestRowsOfNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	eachISA(t, func(t *testing.T, isa ISA) {
		for n := 1; n <= 140; n += 1 + n/40 {
			for _, m := range []int{1, 3} {
				lds, ldd, front := n+2, n+3, n%2 == 0
				src, row := guardedOne[int32](t, (m-1)*lds+n, front), guardedOne[int32](t, m, front)
				factors, gains, summands := guardedOne[float32](t, m, front), guardedOne[float32](t, m, front), guardedOne[float32](t, m, front)
				for i := range src {
					src[i] = int32(r.Uint32()) >> (r.IntN(24) + 1)
				}
				for i := range row {
					row[i] = int32(r.Uint32()) >> 2
					factors[i], gains[i], summands[i] = float32(r.NormFloat64())/(1<<20), float32(r.NormFloat64()), float32(r.NormFloat64())
				}
				k, twin := sumKernelsFor(isa), sumKernelsFor(Portable)
				for _, floor := range []int32{0, math.MinInt32} {
					got, want := guardedOne[int32](t, (m-1)*ldd+n, front), make([]int32, (m-1)*ldd+n)
					clear(got)
					k.addFloorRows(&got[0], &src[0], &row[0], ldd, lds, m, n, floor)
					twin.addFloorRows(&want[0], &src[0], &row[0], ldd, lds, m, n, floor)
					if !slices.Equal(got, want) {
						t.Fatalf("addFloorRows %dx%d: %v, want %v", m, n, got, want)
					}
				}
				for _, floor := range []float32{0, noFloor} {
					got, want := guardedOne[int8](t, (m-1)*ldd+n, front), make([]int8, (m-1)*ldd+n)
					clear(got)
					k.requantizeRows(&got[0], &src[0], &row[0], &factors[0], ldd, lds, m, n, floor)
					twin.requantizeRows(&want[0], &src[0], &row[0], &factors[0], ldd, lds, m, n, floor)
					if !slices.Equal(got, want) {
						t.Fatalf("requantizeRows %dx%d: %v, want %v", m, n, got, want)
					}
				}
				for _, d := range halfTypes {
					x := guardedHalves(t, (m-1)*lds+n, front)
					for i := range x {
						element.Of(d).Set(asBytes(x), int64(i), r.NormFloat64())
					}
					got, want := guardedHalves(t, (m-1)*ldd+n, front), make([]uint16, (m-1)*ldd+n)
					clear(got)
					halfKernelsFor(d, isa).affineRows(&got[0], &x[0], &gains[0], &summands[0], ldd, lds, m, n, cached)
					halfKernelsFor(d, Portable).affineRows(&want[0], &x[0], &gains[0], &summands[0], ldd, lds, m, n, cached)
					neighbours(t, fmt.Sprintf("%s: affineRows %dx%d", d, m, n), d, got, want)
				}
			}
		}
	})
}

// The twins, by hand: row i meets number i.
func TestRowsByHand(t *testing.T) {
	k := sumKernelsFor(Portable)
	src, row := []int32{1, 2, 3, -4}, []int32{10, -1}
	sums, bytes := make([]int32, 4), make([]int8, 4)
	k.addFloorRows(&sums[0], &src[0], &row[0], 2, 2, 2, 2, 0)
	k.requantizeRows(&bytes[0], &src[0], &row[0], &[]float32{0.5, 20}[0], 2, 2, 2, 2, noFloor)
	if want := []int32{11, 12, 2, 0}; !slices.Equal(sums, want) {
		t.Errorf("addFloorRows: %v, want %v", sums, want)
	}
	if want := []int8{6, 6, 40, -100}; !slices.Equal(bytes, want) {
		t.Errorf("requantizeRows: %v, want %v", bytes, want)
	}
	for _, d := range halfTypes {
		x := make([]uint16, 4)
		for i, v := range []float64{1, 2, 3, -4} {
			element.Of(d).Set(asBytes(x), int64(i), v)
		}
		halfKernelsFor(d, Portable).affineRows(&x[0], &x[0], &[]float32{2, 0.5}[0], &[]float32{1, -1}[0], 2, 2, 2, 2, cached)
		for i, want := range []float64{3, 5, 0.5, -3} {
			if got := element.Of(d).Get(asBytes(x), int64(i)); got != want {
				t.Errorf("%s: affineRows [%d] = %g, want %g", d, i, got, want)
			}
		}
	}
}

// The operations of channels alone, on every instruction set.
func TestNarrowChannels(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		b := testBackend(t, isa)
		for _, d := range []schema.DType{schema.BF16, schema.FP16, schema.INT8} {
			b.units = map[schema.DType][]unit{d: {{dtype: d}}}
			for _, text := range []string{"1x1x1x1x1x1x1x0x1", "3x1x5x7x6x1x1x0x1", "2x1x20x20x5x1x1x0x1"} {
				for _, name := range []string{"Conv2d_Bias", "Conv2d_BatchNorm"} {
					p, err := bench.Lookup(name)
					if err != nil {
						t.Fatal(err)
					}
					shape, err := bench.ParseShape(text, p.Dims)
					if err != nil {
						t.Fatal(err)
					}
					chain, err := p.In(d).Build(shape, bench.Place{Threads: 1})
					if err != nil {
						t.Fatal(err)
					}
					for _, op := range chain[1:] {
						if !kernels[op.Name].has(d) {
							continue
						}
						for _, threads := range threadCounts(b) {
							c := bench.Case{Chain: bench.Chain{op}, DType: d, Place: bench.Place{Threads: threads}, Seed: 7}
							if _, err := bench.Verify(b, c); err != nil {
								t.Errorf("%s %s %s: %v", op.Name, shape, d, err)
							}
						}
					}
				}
			}
		}
	})
}

// Every second element, at lengths around the loops, on rows apart, at the edges of the
// memory: one more is read, and none written.
func TestEverySecond(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range []schema.DType{schema.BF16, schema.INT8} {
			k, size := everySecondFor(unit{dtype: d, isa: isa}), int(d.Bytes())
			if isa != AVX512 || k == nil {
				t.Skipf("there is none for %s", isa)
			}
			for n := 1; n <= 140; n++ {
				const m = 3
				lds, ldd := (2*n+3)*size, (n+1)*size
				src := guardedOne[byte](t, (m-1)*lds+2*n*size, n%2 == 0)
				dst := guardedOne[byte](t, (m-1)*ldd+n*size, n%2 == 0)
				for i := range src {
					src[i] = byte(r.Uint32())
				}
				clear(dst)
				want := make([]byte, len(dst))
				for i := range m {
					for j := range n * size {
						want[i*ldd+j] = src[i*lds+j/size*2*size+j%size]
					}
				}
				k(&dst[0], &src[0], ldd, lds, m, n)
				if !slices.Equal(dst, want) {
					t.Fatalf("%s, %d: %v, want %v", d, n, dst, want)
				}
			}
		}
	})
}
