package cpu

import (
	"math"
	"unsafe"
)

// lowRows and mostLowRows bound the m for which B is packed on the way: the first row of tiles packs a
// panel while it computes, and the other rows find it in L1. Packing a block of B beforehand would cost
// as much as multiplying a few rows, and the skinny kernel loads and stores its sums more often than
// tiles do. Seen on Zen 3, with B in L3 and in memory: it pays from four rows of tiles on, which are
// enough to prefetch the next panel meanwhile.
const lowRows, mostLowRows = 24, 64

// fewSets is a distance of rows of B in bytes at which, as at its multiples, the lines of a panel map to so few sets
// of L2 that they are evicted before their use: reading long runs of each row is faster then. On Zen 3
// 32x4096x4096 from memory takes 1.25 (fp32) and 1.5 times (fp64) as long by panels as by rows.
const fewSets = 16 << 10

// planLow sets the height of a panel of B, which takes half of L1, where it is packed on the way: unless the rows of B are
// odd, which doubles the time of it. With masked tiles, which are higher, that pays from more rows on, and not if the rows of
// B are a multiple of a page apart: a Zen 4 takes .87 to .98 of the time from 33 to 64 rows, but 1.02 to 1.07 then.
func (g *gemm[T]) planLow() {
	least, crowded := lowRows, fewSets
	if g.masked {
		least, crowded = skinnyRows+1, setStride
	}
	size := int(unsafe.Sizeof(T(0)))
	stride := g.n * size
	if g.tilePack != nil && g.m >= least && g.m <= mostLowRows && stride%crowded != 0 && stride%oddRows == 0 {
		g.low = even(g.k, max(g.l1/2/(g.nr*size), 1), 16)
	}
}

// lowCols is the width of a block of C, which takes a quarter of what a block of B does and is finished before the next.
func (g *gemm[T]) lowCols() int { return max(g.kc*g.nc/4/g.m/g.nr*g.nr, g.nr) }

// lowLengths are the sizes of a worker's copy of A with a panel of B, and of the last tile.
func (g *gemm[T]) lowLengths() (ab, c int) {
	return g.m*g.k + g.low*g.nr, g.mr * g.nr
}

// computeLow computes a worker's columns of C. B is read once, a panel at a time.
func (g *gemm[T]) computeLow(id int, s *gemmScratch[T], a, b, c matrix[T], epi epilogue[T]) {
	j0, j1 := part(g.n, g.nr, id, g.threads())
	depth, width := g.low, g.lowCols()
	bp, ap := s.b[id][:depth*g.nr], s.b[id][depth*g.nr:]
	ps := newPanels(g.m, g.mr)
	if j0 < j1 {
		for pc := 0; pc < g.k; pc += depth {
			g.packA(ap[pc*g.m:], a, 0, pc, min(depth, g.k-pc), ps, 0, ps.n)
		}
	}
	for jc := j0; jc < j1; jc += width {
		cols := min(width, j1-jc)
		whole := cols / g.nr * g.nr
		for pc := 0; pc < g.k; pc += depth {
			t := block[T]{blockB: blockB{pc, min(depth, g.k-pc), jc, cols - whole}, panels: ps, last: ps.n, add: pc > 0 || g.accumulate}
			for end := jc + whole; t.jc < end; t.jc += g.nr {
				g.columnOfTiles(&t, ap[pc*g.m:], bp, b, c)
			}
			if whole < cols {
				g.packB(bp, b, pc, t.kc, t.jc, jc+cols)
				for i := range ps.n {
					g.rowOfTiles(&t, i, ap[pc*g.m:], bp, c, s.c[id])
				}
			}
		}
		if epi != nil {
			epi(c.data[jc:], c.ld, 0, jc, g.m, cols)
		}
	}
}

// columnOfTiles multiplies all panels of A by one of B, which the first tile packs into bp. The others
// fetch the panel on its right.
func (g *gemm[T]) columnOfTiles(t *block[T], ap, bp []T, b, c matrix[T]) {
	from, to := b.data[t.pc*b.ld+t.jc:], c.data[t.jc:]
	_, _, _, _ = from[(t.kc-1)*b.ld+g.nr-1], to[(g.m-1)*c.ld+g.nr-1], ap[g.m*t.kc-1], bp[t.kc*g.nr-1]
	floor := T(math.Inf(-1))
	_, hi := t.panels.rows(0)
	g.tilePack(hi, g.nr, t.kc, &ap[0], &bp[0], &to[0], c.ld, t.add, &to[min(hi, g.m-1)*c.ld], nil, nil, floor, &from[0], b.ld, 0, 0, -1)
	for i := 1; i < t.last; i++ {
		lo, hi := t.panels.rows(i)
		next := min(hi, g.m-1)
		far := min(t.kc*(i-1)/(t.last-1)*b.ld+g.nr, len(from)-1)
		g.tileNear(hi-lo, g.nr, t.kc, &ap[lo*t.kc], &bp[0], &to[lo*c.ld], c.ld, t.add, &to[next*c.ld], nil, nil, floor, &from[far], b.ld)
	}
}
