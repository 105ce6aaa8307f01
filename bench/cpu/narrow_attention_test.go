package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// Attention within the bounds that hold for measurements too, fused and one by one, on one
// thread and two. With the caches of a real CPU, all keys are in one block; with tiny
// ones, blocks are a tile wide and a step deep.
func TestNarrowAttention(t *testing.T) {
	eachUnit(t, func(t *testing.T, u unit) {
		if u.dtype == schema.INT8 {
			t.Skip("softmax is no function of integers")
		}
		b := testBackend(t, "")
		b.units = map[schema.DType][]unit{u.dtype: {u}}
		mr, nr := int64(u.gemm.mr), int64(u.gemm.nr)
		real, tiny := b.caches, cacheSizes{1, 8 * u.gemm.mr * u.gemm.nr * accBytes, 1}
		for _, c := range []struct {
			pattern string
			caches  cacheSizes
			threads int
			shape   []int64
		}{
			{"QK_T", real, 1, []int64{1, 1, 1, 1}},
			{"QK_T", tiny, 2, []int64{1, 3, mr + 1, 33}},
			{"QK_T_Softmax", real, 2, []int64{1, 1, nr + 3, 35}},
			{"Full_Attention", real, 1, []int64{1, 1, 1, 1}},
			{"Full_Attention", real, 2, []int64{1, 1, nr + 1, 31}},
			{"Full_Attention", tiny, 2, []int64{1, 1, nr + 9, 7}},
			{"Causal_Attention", real, 2, []int64{1, 1, 2*mr + 34, 2*mr + 34, nr + 1}},
			{"Causal_Attention", tiny, 1, []int64{1, 2, mr + 3, 2*nr - 1, 34}},
			{"Grouped_Query_Attention", real, 1, []int64{1, 4, 2, mr - 1, mr + 1, 16}},
			{"Grouped_Query_Attention", tiny, 2, []int64{1, 2, 1, mr + 5, 2*nr + 3, 40}},
		} {
			b.caches = c.caches
			var text []string
			for _, n := range c.shape {
				text = append(text, fmt.Sprint(n))
			}
			verifyIn(t, b, c.pattern, strings.Join(text, "x"), u.dtype, c.threads)
		}
	})
}

// What needs no unit, on every instruction set: one query, softmax and scale. Rows are
// shorter and longer than a block in L1.
func TestHalfDecodeAndSoftmax(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		b := testBackend(t, isa)
		real := b.caches
		for _, d := range halfTypes {
			b.units = map[schema.DType][]unit{d: {{name: "none", dtype: d}}}
			for _, threads := range threadCounts(b) {
				for _, caches := range []cacheSizes{real, {1, 1, 1}} {
					b.caches = caches
					for _, shape := range []string{"1x1x1x2x1", "1x3x1x7x5", "1x2x2x37x16", "1x4x1x131x33", "1x8x2x519x9", "1x6x3x1030x20"} {
						verifyIn(t, b, "Decode_Attention", shape, d, threads)
					}
				}
				for _, dims := range [][]int64{{1, 1, 1, 1}, {2, 1, 31, 67}, {1, 3, 2, blockElems + 1}} {
					x := &bench.Tensor{Name: "X", Dims: dims}
					for _, op := range []bench.Op{bench.Scale(x, 0.3), bench.Softmax(x)} {
						c := bench.Case{Chain: bench.Chain{op}, DType: d, Place: bench.Place{Threads: threads}, Seed: 3}
						if _, err := bench.Verify(b, c); err != nil {
							t.Errorf("%s %v %s %d threads: %v", op.Name, dims, d, threads, err)
						}
					}
				}
				checkHalfCausalRows(t, b, d, threads)
			}
		}
	})
}

// Every number of 16 bits is scaled as in float64 and rounded twice, in rows of all lengths
// around the loops, apart from each other.
func TestHalfScale(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			f, e := halfKernelsFor(d, isa).scale, element.Of(d)
			check := func(src []uint16, m, n, ld int, a float32) {
				t.Helper()
				dst, want := guardedHalves(t, (m-1)*ld+n, n%2 == 0), make([]uint16, (m-1)*ld+n)
				copy(want, dst)
				for i := range m {
					for j := i * ld; j < i*ld+n; j++ {
						e.Set(asBytes(want), int64(j), float64(float32(e.Get(asBytes(src), int64(j))*float64(a))))
					}
				}
				f(&dst[0], &src[0], nil, ld, ld, 0, m, n, a, 0, cached)
				sameNumbers(t, fmt.Sprintf("%s: %dx%d times %g", d, m, n, a), d, dst, want)
			}
			all := make([]uint16, 1<<16)
			for i := range all {
				all[i] = uint16(i)
			}
			for _, a := range []float32{1, 0.125, -0.3, 1e20} {
				check(all, 256, 256, 256, a)
			}
			for n := 1; n <= 300; n += 1 + n/20 {
				src := guardedHalves(t, 2*(n+3)+n, n%2 == 1)
				copy(src, all[0x3c00:])
				check(src, 3, n, n+3, 0.7)
			}
		}
	})
}

// checkHalfCausalRows compares what is seen of each row with the same operation on that
// alone, whatever lies behind it. Behind the last line of which a row of its panel sees something nothing is written.
func checkHalfCausalRows(t *testing.T, b *Backend, d schema.DType, threads int) {
	t.Helper()
	const heads, queries, keys = 3, 33, 70
	seen := attentionShape{sq: queries, sk: keys, causal: true}.seen
	half, vec := halfKernelsFor(d, b.isas[0]), vecKernelsFor[float32](b.isas[0])
	x := &bench.Tensor{Name: "X", Dims: []int64{1, heads, queries, keys}, Causal: true}
	for _, op := range []bench.Op{bench.Scale(x, 0.3), bench.Softmax(x)} {
		c := bench.Case{Chain: bench.Chain{op}, DType: d, Place: bench.Place{Threads: threads}, Seed: 3}
		ws, err := b.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		k, err := ws.Bind(c.Chain)
		if err != nil {
			t.Fatal(err)
		}
		src, got := halves(ws.(*workspace), x), halves(ws.(*workspace), op.Out)
		want := make([]uint16, len(got))
		for i := range got {
			got[i], want[i] = 0x1234, 0x1234
		}
		rows, err := causalRows[float32](ws.(*workspace), op.Out)
		if err != nil {
			t.Fatal(err)
		}
		free := map[int]bool{}
		for id := range threads {
			eachPanel[uint16](rows, &worker{id: id}, func(at, m, seen, n int) {
				for i := range m {
					for j := seen + i; j < n; j++ {
						free[at+i*keys+j] = true
					}
				}
			})
		}
		for row := range heads * queries {
			n := seen(row % queries)
			for j := n; j < keys; j++ {
				src[row*keys+j] = 0xffff // NaN
			}
			half.eachBlock(&want[row*keys], &src[row*keys], n, n, 1, n, func(x []float32, _, _ int) {
				if op.Name == "scale" {
					vec.scale.slice(x, x, nil, 0.3, 0)
				} else {
					vec.softmax(x, n, x, n, nil, 0, 1, n, 1)
				}
			})
		}
		if _, err := bench.Sample(ws, []bench.Kernel{k}, 1); err != nil {
			t.Fatal(err)
		}
		for i := range free {
			got[i] = want[i]
		}
		sameHalves(t, fmt.Sprintf("causal %s on %d threads", op.Name, threads), d, got, want)
		if err := ws.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever is in P where nothing is seen, the result is the same. The memory ends where the
// tensors do.
func TestNarrowCausalHides(t *testing.T) {
	eachUnit(t, func(t *testing.T, u unit) {
		if u.dtype == schema.INT8 {
			t.Skip("softmax is no function of integers")
		}
		r := rand.New(rand.NewPCG(11, 12))
		tm := newTestTeam(t, 1)
		for _, s := range []attentionShape{{2, u.gemm.mr + 3, u.gemm.mr + 40, 9, 2, true}, {1, 5, 5, 3, 1, true}} {
			for i, caches := range []cacheSizes{{}, {1, 1, 1}} {
				x, err := newNarrowAttention(u, isaBeside(u), caches, 1, s)
				if err != nil {
					t.Fatal(err)
				}
				front, back := guardedBytes(t, int(x.scratchBytes()))
				mem := [][]byte{front, back}[i]
				for i := range mem {
					mem[i] = 0xff // NaN
				}
				random := func(n int) []uint16 {
					x := guardedHalves(t, n, i == 0)
					for i := range x {
						element.Of(u.dtype).Set(asBytes(x), int64(i), r.NormFloat64())
					}
					return x
				}
				p, v := random(s.heads*s.sq*s.sk), random(s.heads/s.group*s.sk*s.d)
				var results [2][]uint16
				for j, unseen := range []float64{0, math.NaN()} {
					for row := range s.heads * s.sq {
						for key := s.seen(row % s.sq); key < s.sk; key++ {
							element.Of(u.dtype).Set(asBytes(p), int64(row*s.sk+key), unseen)
						}
					}
					results[j] = random(s.heads * s.sq * s.d)
					body, err := x.pv(mem, p, v, results[j])
					if err != nil {
						t.Fatal(err)
					}
					tm.run(body)
				}
				sameHalves(t, fmt.Sprintf("%s %+v", u.title, s), u.dtype, results[1], results[0])
			}
		}
	})
}
