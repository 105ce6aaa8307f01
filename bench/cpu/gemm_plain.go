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

// setStride is the distance of lines that are in one set of L1, setLines how many of them a set
// has at least.
const (
	setStride = 4096
	setLines  = 8
)

// tall is the largest number of rows that tilePlain takes of a C no wider than a vector: a tile
// one vector wide of mr rows keeps half of the units busy, or less.
func (k *gemmKernels[T]) tall() int { return min(16, 2*k.mr) }

// fewPanels is the number of panels of B up to which packing A costs more than reading it in sequence
// from then on saves.
const fewPanels = 4

// fewSteps is the number of steps of k up to which packing takes longer than fetching lines from wherever they are.
const fewSteps = 8

// oddRows is what the rows of B are a multiple of where few of the vectors cross lines. Else their lines are spread over the
// sets, and tilePlain is the faster by what it saves on passing over them twice: a Zen 4 runs 40x3001x1000 of fp32 at 89
// GFLOPS so, at 74 from packed panels, and at 56 where they are packed on the way.
const oddRows = 32

// planSmall plans a product of unpacked matrices where packing is not worth its time: where A has few rows, or all
// matrices fit into L2, or B into half of it; where A is in L3 or meets few panels of B; or where there are few steps. Then as many
// rows of B as fit into that half are multiplied by all of A before the next ones. Unless all
// matrices fit or B is one panel, rows of B have to be near each other, as the lines of a panel
// would else compete for few sets. Where they do not begin with a cache line, vectors cross lines
// and cost two loads, so that packing B pays sooner: on Skylake-SP from a quarter of L2 on, on Zen 4 from an eighth.
func (g *gemm[T]) planSmall(halfL2, halfL3 int) {
	size := int(unsafe.Sizeof(T(0)))
	most, mostB := halfL2/2, halfL2/4
	if g.n*size%64 == 0 {
		most, mostB = 2*halfL2, halfL2
	}
	bytesB := g.k * g.n * size
	fits := (g.m*g.k+g.m*g.n)*size+bytesB <= most
	near := g.n*size < setStride/2
	stays := bytesB <= mostB && near || g.n <= g.nr && bytesB <= halfL2
	passes := near && g.m > skinnyRows && (g.n <= fewPanels*g.nr || g.m*g.k*size <= halfL3)
	either := fits || stays || passes || g.k <= fewSteps // for a plain B or a packed one
	small := either
	switch odd := g.n*size%oddRows != 0; {
	case g.m <= skinnyRows && (g.masked || odd || g.m < lowRows):
		small = bytesB <= halfL3 && g.plainRows(size) || !g.takesSkinny(g.n)
	case g.m <= mostLowRows && odd:
		small = either || g.n*size < 4*setStride && bytesB <= 2*halfL3
	}
	if g.tilePlain == nil || !small {
		return
	}
	g.plainB = !either
	if g.depth = g.k; !fits && !stays {
		g.depth = even(g.k, max(mostB/(g.n*size), 1), 16)
	}
	rows := g.mr
	if g.n <= g.vl {
		rows = g.tall()
	}
	if g.k*size%setStride == 0 {
		rows = min(rows, setLines-1)
	}
	g.shares = newShares(g.grid, g.m, g.n, rows, g.nr)
}

// plainRows says whether few rows are multiplied by a B in L3 or nearer at least as fast as with tileSkinny, which loads and
// stores its sums every four steps of k: a Zen 4 runs 4x64x4640 of fp32 at 106 GFLOPS so, and at 39 with tileSkinny. Against
// it is that each line of a panel comes from another row of B, which is the slower the further they are apart, and the less
// there is to do with a line.
func (g *gemm[T]) plainRows(size int) bool {
	stride := g.n * size
	near := stride < setStride
	switch {
	case g.m == 1:
		return stride <= setStride/4
	case g.m < 4:
		return stride < setStride/2
	case g.masked && stride%64 != 0: // the lines of a panel are spread over the sets
		near = stride < 2*setStride
	}
	beside := stride % setStride
	crowded := min(beside, setStride-beside) < 16 // a row is in the sets of the one before
	return near || g.k <= 4*fewSteps && (g.masked || !crowded)
}

// small says whether the product is computed on the matrices as they are.
func (g *gemm[T]) small(a, b *operand[T]) bool {
	whole := g.n <= g.nr || g.k <= g.kc // panels of B are, if it is packed
	return g.shares != nil && a.packed == nil && !a.trans && !b.trans && (b.packed == nil || whole && !g.plainB)
}

// computeSmall computes a worker's part of C. Packed panels of B are matrices, too.
func (g *gemm[T]) computeSmall(id int, a, b *operand[T], c *matrix[T], epi epilogue[T]) {
	s := &g.shares[id]
	cols := s.j1 - s.j0
	if cols == 0 || len(s.cuts) == 0 {
		return
	}
	_, _ = a.data[(g.m-1)*a.ld+g.k-1], c.data[(g.m-1)*c.ld+s.j1-1]
	if b.packed == nil {
		_ = b.data[(g.k-1)*b.ld+s.j1-1]
	} else {
		_ = b.packed[g.packedCols()*g.k-1]
	}
	for p := 0; p < g.k; p += g.depth {
		g.passSmall(s, p, min(g.depth, g.k-p), a, b, c, epi)
	}
}

// passSmall multiplies `steps` steps of k from p on into C; the epilogue follows those at the end of k.
func (g *gemm[T]) passSmall(s *share, p, steps int, a, b *operand[T], c *matrix[T], epi epilogue[T]) {
	cols, add := s.j1-s.j0, g.accumulate || p > 0
	for i, lo := range s.cuts[:len(s.cuts)-1] {
		rows, from, to := s.cuts[i+1]-lo, &a.data[lo*a.ld+p], c.data[lo*c.ld+s.j0:]
		if b.packed == nil {
			g.tilePlain(rows, cols, steps, from, a.ld, &b.data[p*b.ld+s.j0], b.ld, &to[0], c.ld, add)
		} else {
			for j := s.j0; j < s.j1; j += g.nr {
				width := min(g.nr, g.packedCols()-j)
				g.tilePlain(rows, min(g.nr, s.j1-j), steps, from, a.ld, &b.packed[j*g.k+p*width], width, &to[j-s.j0], c.ld, add)
			}
		}
		if epi != nil && p+steps == g.k {
			epi(to, c.ld, lo, s.j0, rows, cols)
		}
	}
}
