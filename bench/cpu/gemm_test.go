package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// gemmCase is one product in one arrangement of the operands.
type gemmCase struct {
	m, n, k          int
	transA, transB   bool
	packA, packB     bool
	accumulate, relu bool
	streams          bool
	threads          int
	block            blocking // in units of mr, 1 and nr; zero: from the caches
	front            bool     // guard page before the buffers instead of behind
}

func TestGEMM(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		t.Run("fp32", func(t *testing.T) { testGEMM[float32](t, isa) })
		t.Run("fp64", func(t *testing.T) { testGEMM[float64](t, isa) })
	})
}

func testGEMM[T float](t *testing.T, isa ISA) {
	kernels := newGEMMKernels[T](isa)
	small := blocking{2 * kernels.mr, 24, 2 * kernels.nr}
	var cases []gemmCase
	// Every shape of tile, with a k that the unrolled loop does not divide.
	for m := 1; m <= kernels.tall()+1; m++ {
		for _, n := range []int{1, kernels.vl - 1, kernels.vl, kernels.vl + 1, kernels.nr, kernels.nr + 1} {
			for _, k := range []int{1, 3, 4, 19} {
				cases = append(cases, gemmCase{m: m, n: n, k: k, threads: 1, accumulate: n%2 == 0, front: m%2 == 0})
			}
		}
	}
	// Edges of the blocks.
	shape := 0
	for _, m := range []int{small.mc - 1, small.mc, small.mc + 1, 3*small.mc - kernels.mr} {
		for _, n := range []int{small.nc - 1, small.nc, 2*small.nc + 3} {
			for _, k := range []int{small.kc - 1, small.kc, 2*small.kc + 5} {
				// Four arrangements a shape; all 16 come up several times.
				shape++
				for step := range 4 {
					variant := (5*step + shape) % 16
					cases = append(cases, gemmCase{
						m: m, n: n, k: k, block: small, threads: 1 + variant%4,
						transA: variant&4 != 0, transB: variant&8 != 0,
						packA: variant&1 != 0, packB: variant&2 != 0,
						accumulate: variant%3 == 0, relu: variant%3 == 1, front: variant%5 == 0,
					})
				}
			}
		}
	}
	cases = append(cases,
		gemmCase{m: 129, n: 257, k: 515, threads: 2, relu: true},
		gemmCase{m: 61, n: 75, k: 50, threads: 3, relu: true},
		gemmCase{m: 301, n: kernels.nr - 5, k: 1024, threads: 2},
		gemmCase{m: 301, n: kernels.nr, k: 1025, packB: true, threads: 2, relu: true},
		gemmCase{m: 301, n: 96, k: 500, threads: 2, relu: true},
		gemmCase{m: 301, n: 50, k: 500, threads: 3, accumulate: true},
		gemmCase{m: 200, n: 64, k: 1024, threads: 1},
		// Several passes over A.
		gemmCase{m: 61, n: 2*kernels.nr + 1, k: 205, block: small, threads: 2, relu: true},
		gemmCase{m: 70, n: 3 * kernels.nr, k: 205, block: small, threads: 3, accumulate: true},
		gemmCase{m: 40, n: kernels.nr, k: 301, block: small, packB: true, threads: 2, relu: true},
		gemmCase{m: 61, n: 75, k: 50, packB: true, threads: 3, relu: true},
		gemmCase{m: 5, n: 2*kernels.nr + 3, k: 19, packB: true, threads: 1, accumulate: true},
		gemmCase{m: 40, n: 3 * kernels.nr, k: 64, packB: true, threads: 2},
		gemmCase{m: 3, n: 300, k: 700, threads: 2, transB: true},
		gemmCase{m: 300, n: 3, k: 700, threads: 2, transA: true},
		// Dot products: several calls, several passes over A; columns of all layouts.
		gemmCase{m: 2*dotRows + 7, n: 1, k: 9000, threads: 1, relu: true},
		gemmCase{m: dotRows + 6, n: 2, k: 5001, threads: 2, accumulate: true, relu: true},
		gemmCase{m: dotRows + 5, n: 2, k: 300, threads: 3, packB: true, front: true},
		gemmCase{m: 61, n: 2, k: 4200, threads: 2, transB: true, front: true},
		gemmCase{m: 9, n: 1, k: 77, threads: 4, packB: true, relu: true},
		gemmCase{m: skinnyRows, n: 300, k: 37, threads: 2, accumulate: true},
		gemmCase{m: skinnyRows - 1, n: 624, k: 37, threads: 1, accumulate: true, relu: true}, // several blocks
		gemmCase{m: skinnyRows + 1, n: 300, k: 37, threads: 2, relu: true},
		// Several panels and blocks where B is packed on the way, and a last one that is not whole.
		gemmCase{m: lowRows, n: 3*kernels.nr + kernels.vl + 1, k: 515, threads: 2, relu: true},
		gemmCase{m: lowRows + 1, n: 2 * kernels.nr, k: 530, block: small, threads: 1, front: true},
		gemmCase{m: mostLowRows - 1, n: 5*kernels.nr - 1, k: 300, block: small, threads: 1, transA: true, accumulate: true, front: true},
		gemmCase{m: mostLowRows, n: kernels.nr - 3, k: 257, threads: 3, relu: true},
		gemmCase{m: 2, n: 40, k: 4*skinnySteps + 7, threads: 1, transA: true, relu: true},
		gemmCase{m: 1, n: 5000, k: 37, threads: 2, relu: true},
		gemmCase{m: 1, n: 5000, k: 37, threads: 2},
		gemmCase{m: 1, n: 75, k: 37, threads: 1, accumulate: true},
		// What the hardware fetches: groups of panels, single ones and several blocks; rows.
		gemmCase{m: 1, n: 11 * kernels.nr, k: 205, block: small, packB: true, threads: 2, streams: true, relu: true},
		gemmCase{m: 1, n: (panelsCall + 2) * kernels.nr, k: 37, packB: true, threads: 1, streams: true, accumulate: true},
		gemmCase{m: 1, n: 48 * kernels.nr, k: 37, threads: 2, streams: true, relu: true},
		gemmCase{m: 2, n: 4160, k: skinnySteps + 5, threads: 1, accumulate: true},
	)
	r := rand.New(rand.NewPCG(1, 2))
	teams := map[int]*team{}
	for _, c := range cases {
		if teams[c.threads] == nil {
			teams[c.threads] = newTestTeam(t, c.threads)
		}
		noDots := kernels
		noDots.dots = nil
		onTheWay := noDots
		onTheWay.tilePlain = nil
		packing := onTheWay
		packing.tilePack = nil
		ways := []gemmKernels[T]{packing}
		if kernels.tilePack != nil && c.m >= lowRows && c.m <= mostLowRows {
			ways = append(ways, onTheWay)
		}
		if kernels.tilePlain != nil {
			ways = append(ways, noDots)
		}
		if kernels.dots != nil && c.n <= kernels.vl/2 {
			ways = append(ways, kernels)
		}
		for _, k := range ways {
			if err := checkGEMM[T](t, r, k, isa, teams[c.threads], c); err != nil {
				t.Fatalf("%+v, packing beforehand %t, on the way %t, dot products %t: %v", c, k.tilePack == nil, k.tilePlain == nil, k.dots != nil, err)
			}
		}
	}
}

// randomMatrix has a leading dimension above its width.
func randomMatrix[T float](t *testing.T, r *rand.Rand, rows, cols int, trans, front bool) matrix[T] {
	m := matrix[T]{rows: rows, cols: cols, trans: trans}
	if trans {
		rows, cols = cols, rows
	}
	m.ld = cols + 3
	m.data = guardedOne[T](t, (rows-1)*m.ld+cols, front)
	fillRandom(r, m.data, rows, cols, m.ld)
	return m
}

func (m matrix[T]) at(i, j int) float64 {
	if m.trans {
		i, j = j, i
	}
	return float64(m.data[i*m.ld+j])
}

func checkGEMM[T float](t *testing.T, r *rand.Rand, kernels gemmKernels[T], isa ISA, team *team, c gemmCase) error {
	if c.block == (blocking{}) {
		c.block = newBlocking(kernels, cacheSizes{})
	}
	g := planGEMM(kernels, c.block, c.threads, c.m, c.n, c.k)
	g.accumulate, g.l1 = c.accumulate, typicalCaches.L1
	g.streams = c.streams && g.mayStream()
	g.planLow()
	g.planDots(typicalCaches.L3)
	a := randomMatrix[T](t, r, c.m, c.k, c.transA, c.front)
	b := randomMatrix[T](t, r, c.k, c.n, c.transB, c.front)
	out := randomMatrix[T](t, r, c.m, c.n, false, c.front)
	before := append([]T(nil), out.data...)
	scratch, err := g.newScratch(asBytes(guardedOne[T](t, int(g.scratchBytes())/int(unsafe.Sizeof(T(0))), c.front)))
	if err != nil {
		return err
	}
	opA, opB := plain(a), plain(b)
	if c.packA {
		opA = g.prepackA(guardedOne[T](t, g.packedALen(), c.front), a)
	}
	if c.packB {
		opB = g.prepackB(guardedOne[T](t, g.packedBLen(), c.front), b)
	}
	bias := guardedOne[T](t, c.n, c.front)
	fillRandom(r, bias, 1, c.n, c.n)
	var epi epilogue[T]
	if c.relu {
		epi = epilogueOf([]step[T]{with(vecKernelsFor[T](isa).addRelu, bias, c.n)})
	}
	if c.threads == 1 {
		g.serial(scratch, &opA, &opB, &out, epi)
	} else {
		team.run(func(w *worker) { g.run(w, scratch, opA, opB, out, epi) })
	}

	// The products, the old C and the bias, here and in the reference.
	bound := gamma[T](c.k+2) + gamma[float64](c.k+2)
	for i := range c.m {
		for j := range c.n {
			var want, size float64
			for p := range c.k {
				x := a.at(i, p) * b.at(p, j)
				want += x
				size += math.Abs(x)
			}
			if c.accumulate {
				want += float64(before[i*out.ld+j])
				size += math.Abs(float64(before[i*out.ld+j]))
			}
			if c.relu {
				want += float64(bias[j])
				size += math.Abs(float64(bias[j]))
				want = max(want, 0)
			}
			if got := out.at(i, j); !(math.Abs(got-want) <= bound*size) {
				return fmt.Errorf("c[%d,%d] = %g, want %g +- %g", i, j, got, want, bound*size)
			}
		}
		for j := c.n; j < out.ld && i*out.ld+j < len(out.data); j++ {
			if !math.IsNaN(out.at(i, j)) {
				return fmt.Errorf("padding c[%d,%d] = %g was written", i, j, out.at(i, j))
			}
		}
	}
	return nil
}
