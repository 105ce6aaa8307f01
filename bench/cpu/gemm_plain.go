package cpu

import "unsafe"

// share is what a worker computes of a small C, in panels of rows and in columns.
// It is planned, as divisions take as long as a tile.
type share struct {
	cuts   []int // rows where the panels begin, and the end of the last
	j0, j1 int
}

// newShares plans the parts of C of all workers.
func newShares(g grid, m, n, mr, nr int) []share {
	shares := make([]share, g.rows*g.cols)
	ps := newPanels(m, mr)
	for id := range shares {
		s := &shares[id]
		s.j0, s.j1 = part(n, nr, id%g.cols, g.cols)
		first, last := part(ps.n, 1, id/g.cols, g.rows)
		for i := first; i < last; i++ {
			lo, hi := ps.rows(i)
			s.cuts = append(s.cuts[:i-first], lo, hi)
		}
	}
	return shares
}

// small says whether the product is computed on the matrices as they are: where all
// of them stay in L2, to copy them takes longer than it saves.
func (g *gemm[T]) small(a, b *operand[T]) bool {
	return g.shares != nil && a.packed == nil && b.packed == nil && !a.trans && !b.trans
}

// planSmall plans for matrices of at most so many bytes together.
func (g *gemm[T]) planSmall(bytes int) {
	if g.tilePlain != nil && (g.tilePack != nil || g.n%g.vl == 0) && (g.m*g.k+g.k*g.n+g.m*g.n)*int(unsafe.Sizeof(T(0))) <= bytes {
		g.shares = newShares(g.grid, g.m, g.n, g.mr, g.nr)
	}
}

// computeSmall computes a worker's part of C.
func (g *gemm[T]) computeSmall(id int, a, b, c *matrix[T], epi epilogue[T]) {
	s := &g.shares[id]
	cols := s.j1 - s.j0
	if cols == 0 || len(s.cuts) == 0 {
		return
	}
	_, _, _ = a.data[(g.m-1)*a.ld+g.k-1], b.data[(g.k-1)*b.ld+s.j1-1], c.data[(g.m-1)*c.ld+s.j1-1]
	for i, lo := range s.cuts[:len(s.cuts)-1] {
		rows, line := s.cuts[i+1]-lo, c.data[lo*c.ld+s.j0:]
		g.tilePlain(rows, cols, g.k, &a.data[lo*a.ld], a.ld, &b.data[s.j0], b.ld, &line[0], c.ld, g.accumulate)
		if epi != nil {
			epi(line, c.ld, lo, s.j0, rows, cols)
		}
	}
}
