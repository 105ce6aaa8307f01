package cpu

import "unsafe"

// dotKeys is the number of rows of A that the kernel takes at a time, dotRows the number of a call.
const dotKeys, dotRows = 4, 64

// dotsAhead is how many elements ahead dots is to fetch rows that are ld elements apart: the eighth row, which is beyond what
// the hardware fetches at the end of a page, or as much as a core reads from memory in its latency, and again, in whole
// groups of rows. With 128 elements each a Zen 4 reads rows from memory twice as fast by the second distance, and from L2 by
// a fifth slower.
func dotsAhead[T float](ld int, far bool) int {
	const memory = 13312 // bytes
	if !far {
		return 2 * dotKeys * ld
	}
	return ceilDiv(memory, dotKeys*ld*int(unsafe.Sizeof(T(0)))) * dotKeys * ld
}

// planDots plans a product with few columns, which leave most of a vector empty: vectors then run along
// k, and an element of C is a dot product of a row of A and a column of B. So many steps of k are taken at a time that the
// columns stay in L1. Rows that are fetched ahead come to L2 if they would take more than half of L1.
//
// Four rows take 4k/vl multiplications for a column, and some 18 instructions to add up and store its sums, where a tile takes
// 4k in all; and k steps of a column are copied in 1.5k. The tile may be a third faster before that counts as less, as a
// Zen 4 runs dot products at 3/4 of its peak.
func (g *gemm[T]) planDots(l3 int) {
	copied := 0
	if g.n > 1 {
		copied = 6 * g.k / g.m
	}
	if g.dots == nil || g.n*(4*g.k/g.vl+18+copied) >= 3*g.k {
		return
	}
	size := int(unsafe.Sizeof(T(0)))
	g.dotDepth = g.k
	if g.n > 1 { // a single one is read once for four rows
		g.dotDepth = even(g.k, max(g.l1/2/(g.n*size), 1), perLine[T]())
	}
	g.farA = g.m*g.k*size > l3*3/2 || 2*dotKeys*g.k*size > g.l1/2
}

// dotLengths are the sizes of a worker's copy of the columns, and of the products of a call, with room behind the last row
// of A.
func (g *gemm[T]) dotLengths() (b, c int) { return g.n * g.dotDepth, g.n * (dotRows + dotKeys) }

// computeDots computes a worker's rows of C.
func (g *gemm[T]) computeDots(id int, s *gemmScratch[T], a matrix[T], b *operand[T], c matrix[T], epi epilogue[T]) {
	lo, hi := part(g.m, dotKeys, id, g.threads())
	if lo == hi {
		return
	}
	for p := 0; p < g.k; p += g.dotDepth {
		steps := min(g.dotDepth, g.k-p)
		columns, ld := g.columnsOf(b, p, steps, s.b[id])
		for i := lo; i < hi; i += dotRows {
			rows := min(dotRows, hi-i)
			g.dotsOf(columns, ld, a.data[i*a.ld+p:], a.ld, rows, steps, s.c[id])
			to := c.data[i*c.ld:]
			for j := range g.n {
				for r, v := range s.c[id][j*(dotRows+dotKeys):][:rows] {
					if g.accumulate || p > 0 {
						v += to[r*c.ld+j]
					}
					to[r*c.ld+j] = v
				}
			}
			if epi != nil && p+steps == g.k {
				epi(to, c.ld, i, 0, rows, g.n)
			}
		}
	}
}

// columnsOf gives steps [p, p+steps) of the columns of B, ld elements apart: as they are, if they lie in memory so, or
// copied to room.
func (g *gemm[T]) columnsOf(b *operand[T], p, steps int, room []T) (columns []T, ld int) {
	from := b.matrix
	if b.packed != nil {
		from = matrix[T]{data: b.packed, ld: g.packedCols()} // one panel
	}
	switch {
	case from.trans:
		return from.data[p:], from.ld
	case g.n == 1 && from.ld == 1:
		return from.data[p:], steps
	}
	for j := range g.n {
		column, rest := room[j*steps:][:steps], from.data[p*from.ld+j:]
		for ; len(column) > 4; column, rest = column[4:], rest[4*from.ld:] {
			column[0], column[1], column[2], column[3] = rest[0], rest[from.ld], rest[2*from.ld], rest[3*from.ld]
		}
		for i := range column {
			column[i] = rest[i*from.ld]
		}
	}
	return room, steps
}

// dotsOf multiplies rows of A by the columns, each to a row of `to`, dotRows+dotKeys elements apart.
func (g *gemm[T]) dotsOf(columns []T, ld int, a []T, lda, rows, steps int, to []T) {
	const pitch = dotRows + dotKeys
	_, _, _ = columns[(g.n-1)*ld+steps-1], a[(rows-1)*lda+steps-1], to[g.n*pitch-1]
	whole, ahead := rows/dotKeys*dotKeys, dotsAhead[T](lda, g.farA)
	if whole > 0 {
		g.dots(g.n, whole, steps, &columns[0], ld, &a[0], lda, &to[0], pitch, dotKeys, ahead, g.farA)
	}
	switch last := rows - dotKeys; {
	case whole == rows:
	case last > 0: // some once more
		g.dots(g.n, dotKeys, steps, &columns[0], ld, &a[last*lda], lda, &to[last], pitch, dotKeys, ahead, g.farA)
	default: // each row dotKeys times; the next overwrites what is too much
		for r := range rows {
			g.dots(g.n, dotKeys, steps, &columns[0], ld, &a[r*lda], 0, &to[r], pitch, dotKeys, ahead, g.farA)
		}
	}
}
