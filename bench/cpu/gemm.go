package cpu

import (
	"fmt"
	"unsafe"
)

// gemm is the plan of C = A*B for one shape, element type and instruction set: five
// loops around a micro-kernel, after BLIS. From the outside: blocks of mc rows,
// blocks of kc steps of k (A is packed, all workers together), each worker's
// blocks of nc columns (B is packed, by each worker into its own L2), panels of
// A, panels of B.
//
// The plan is immutable; what a run writes is in its scratch.
type gemm[T float] struct {
	gemmKernels[T]
	blocking
	grid
	m, n, k int
	// accumulate adds to what is in C instead of overwriting it.
	accumulate bool
}

func newGEMM[T float](isa ISA, caches cacheSizes, threads, m, n, k int) (*gemm[T], error) {
	if m <= 0 || n <= 0 || k <= 0 || threads <= 0 {
		return nil, fmt.Errorf("cpu: gemm m=%d n=%d k=%d with %d threads: want positive numbers", m, n, k, threads)
	}
	kernels := newGEMMKernels[T](isa)
	return planGEMM(kernels, newBlocking(kernels, caches), threads, m, n, k), nil
}

func planGEMM[T float](kernels gemmKernels[T], b blocking, threads, m, n, k int) *gemm[T] {
	g := &gemm[T]{gemmKernels: kernels, m: m, n: n, k: k}
	g.grid = newGrid(threads, m, n, g.mr, g.nr)
	g.mc = even(m, b.mc, g.mr)
	g.kc = even(k, b.kc, 16)
	g.nc = even(ceilDiv(ceilDiv(n, g.nr), g.grid.cols)*g.nr, b.nc, g.nr)
	g.nc = ceilDiv(g.nc, g.nr) * g.nr
	return g
}

// gemmScratch is the memory that one run at a time works in.
type gemmScratch[T float] struct {
	a [2][]T // packed blocks of A, written in turn; one if each has a slot of it
	b [][]T  // each worker's packed block of B
	c [][]T  // each worker's tile at the edge of C
}

func (g *gemm[T]) threads() int { return g.rows * g.cols }

// slot is what a worker needs for its own panels of a block of A.
func (g *gemm[T]) slot() int {
	return ceilDiv(newPanels(g.mc, g.mr).n, g.rows) * g.mr * g.kc
}

// lengths are the sizes of the buffers of each kind, in whole cache lines.
func (g *gemm[T]) lengths() (a [2]int, b, c int) {
	line := 64 / int(unsafe.Sizeof(T(0)))
	up := func(n int) int { return ceilDiv(n, line) * line }
	a = [2]int{up(g.mc * g.kc), up(g.mc * g.kc)}
	if g.cols == 1 {
		a = [2]int{up(g.rows * g.slot()), 0}
	}
	return a, up(g.nc * g.kc), up(g.mr * g.nr)
}

// scratchBytes is the size of the memory that newScratch wants.
func (g *gemm[T]) scratchBytes() int64 {
	a, b, c := g.lengths()
	return int64(a[0]+a[1]+g.threads()*(b+c)) * int64(unsafe.Sizeof(T(0)))
}

// newScratch cuts mem, aligned to 64 bytes, into buffers.
func (g *gemm[T]) newScratch(mem []byte) (*gemmScratch[T], error) {
	if int64(len(mem)) < g.scratchBytes() {
		return nil, fmt.Errorf("cpu: gemm %dx%dx%d: scratch of %d bytes, want %d", g.m, g.n, g.k, len(mem), g.scratchBytes())
	}
	rest := as[T](mem)
	cut := func(n int) []T {
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	a, b, c := g.lengths()
	s := &gemmScratch[T]{a: [2][]T{cut(a[0]), cut(a[1])}}
	for range g.threads() {
		s.b, s.c = append(s.b, cut(b)), append(s.c, cut(c))
	}
	return s, nil
}

// operand is an input of a GEMM: plain, or packed beforehand by prepackA or
// prepackB of the same plan.
type operand[T float] struct {
	matrix[T]
	packed []T
}

func plain[T float](m matrix[T]) operand[T] { return operand[T]{matrix: m} }

// run computes C. All workers of the team call it with the same arguments; a
// barrier must follow before another reads C or writes the inputs.
func (g *gemm[T]) run(w *worker, s *gemmScratch[T], a, b operand[T], c matrix[T], epi epilogue[T]) {
	g.compute(w.id, w.barrier, s, a, b, c, epi)
}

// serial computes C on the calling worker alone, for a plan of one thread.
func (g *gemm[T]) serial(s *gemmScratch[T], a, b operand[T], c matrix[T], epi epilogue[T]) {
	g.compute(0, nil, s, a, b, c, epi)
}

func (g *gemm[T]) compute(id int, barrier func(), s *gemmScratch[T], a, b operand[T], c matrix[T], epi epilogue[T]) {
	row, col := id/g.cols, id%g.cols
	j0, j1 := part(g.n, g.nr, col, g.cols)
	// A worker that alone reads its panels of A packs each right before its first
	// use; else all pack together, and none may start before all have packed.
	own := a.packed == nil && g.cols == 1
	slot := g.slot() * row
	turn := 0
	for ic := 0; ic < g.m; ic += g.mc {
		ps := newPanels(min(g.mc, g.m-ic), g.mr)
		for pc := 0; pc < g.k; pc += g.kc {
			kc := min(g.kc, g.k-pc)
			var ap []T
			switch {
			case a.packed != nil:
				ap = a.packed[ic*g.k+pc*ps.m:][:ps.m*kc]
			case own:
				ap = s.a[0][slot:]
			default:
				ap = s.a[turn]
				turn = 1 - turn
				first, last := part(ps.n, 1, id, g.threads())
				g.packA(ap, a.matrix, ic, pc, kc, ps, first, last)
				if barrier != nil {
					barrier()
				}
			}
			for jc := j0; jc < j1; jc += g.nc {
				n := min(g.nc, j1-jc)
				bp := s.b[id]
				t := block[T]{kc: kc, pc: pc, jc: jc, n: n, add: pc > 0 || g.accumulate}
				t.ic, t.panels = ic, ps
				t.first, t.last = part(ps.n, 1, row, g.rows)
				if own {
					t.base, _ = ps.rows(t.first)
					if jc == j0 {
						t.pack = &a.matrix
					}
				}
				if b.packed == nil {
					g.packB(bp, b.matrix, pc, kc, jc, jc+n)
				} else {
					bp = b.packed[g.packedCols()*pc+jc*kc:]
				}
				if pc+kc == g.k {
					t.epi = epi
				}
				g.multiply(&t, ap, bp, c, s.c[id])
			}
		}
	}
}

// block is what multiply works on: panels [first, last) of a block of A and a block
// of B, from row ic and column jc of C and from step pc of k on.
type block[T float] struct {
	ic, pc, jc int
	kc, n      int
	panels
	first, last int
	add         bool
	epi         epilogue[T]
	row0        int        // added to the row that the epilogue is told
	pack        *matrix[T] // A, if its panels still have to be packed
	base        int        // row of the block of A where the packed panels begin
}

// multiply multiplies the panels of A in turn by all panels of B.
func (g *gemm[T]) multiply(t *block[T], ap, bp []T, c matrix[T], edge []T) {
	for i := t.first; i < t.last; i++ {
		if t.pack != nil {
			g.packPanels(ap, *t.pack, t.ic, t.pc, t.kc, t.panels, t.base, i, i+1)
		}
		g.rowOfTiles(t, i, ap, bp, c, edge)
	}
}

// rowOfTiles multiplies panel i of A by all panels of B.
func (g *gemm[T]) rowOfTiles(t *block[T], i int, ap, bp []T, c matrix[T], edge []T) {
	lo, hi := t.panels.rows(i)
	rows, i0 := hi-lo, t.ic+lo
	a := ap[(lo-t.base)*t.kc:][:rows*t.kc]
	line := c.data[i0*c.ld+t.jc:]
	_ = line[(rows-1)*c.ld+t.n-1]
	// The panel of A that comes next, two of its rows a tile: the rows that will be
	// packed, or the packed panel, as much of it. Without it the first tile of a
	// panel would wait for all of it, from L3 or from memory.
	var ahead []T
	ldAhead, end := 0, 0
	switch {
	case t.pack == nil:
		next := i + 1
		if next == t.last {
			next = t.first // of the next block of columns
		}
		from, to := t.panels.rows(next)
		ldAhead, end = t.kc, to-from
		ahead = ap[(from-t.base)*t.kc:][:end*t.kc]
	case !t.pack.trans && i+1 < t.last:
		_, end = t.panels.rows(i + 1)
		ldAhead = t.pack.ld
		ahead = t.pack.data[(t.ic+hi)*ldAhead+t.pc : (t.ic+end-1)*ldAhead+t.pc+1]
		end -= hi
	}
	for j, row := 0, 0; j < t.n; j, row = j+g.nr, row+2 {
		cols := min(g.nr, t.n-j)
		to := line[j:]
		fetch, ldFetch := &a[0], 0
		if row+1 < end {
			fetch, ldFetch = &ahead[row*ldAhead], ldAhead
		} else if row < end {
			fetch = &ahead[row*ldAhead]
		}
		if cols%g.vl == 0 {
			g.tileAhead(rows, cols, t.kc, &a[0], &bp[j*t.kc], &to[0], c.ld, t.add, fetch, ldFetch)
		} else {
			width := ceilDiv(cols, g.vl) * g.vl
			g.tileAhead(rows, width, t.kc, &a[0], &bp[j*t.kc], &edge[0], width, false, fetch, ldFetch)
			for i := range rows {
				row, from := to[i*c.ld:][:cols], edge[i*width:][:cols]
				if !t.add {
					copy(row, from)
					continue
				}
				for j := range row {
					row[j] += from[j]
				}
			}
		}
		if t.epi != nil {
			t.epi(to, c.ld, t.row0+i0, t.jc+j, rows, cols)
		}
	}
}

// packedCols is n with the zeros that fill the last panel.
func (g *gemm[T]) packedCols() int { return ceilDiv(g.n, g.vl) * g.vl }

// packedALen and packedBLen are the lengths that the prepack functions want.
func (g *gemm[T]) packedALen() int { return g.m * g.k }
func (g *gemm[T]) packedBLen() int { return g.packedCols() * g.k }

// prepackA packs all of A, once for many runs. It is serial.
func (g *gemm[T]) prepackA(dst []T, a matrix[T]) operand[T] {
	dst = dst[:g.packedALen()]
	for ic := 0; ic < g.m; ic += g.mc {
		ps := newPanels(min(g.mc, g.m-ic), g.mr)
		for pc := 0; pc < g.k; pc += g.kc {
			kc := min(g.kc, g.k-pc)
			g.packA(dst[ic*g.k+pc*ps.m:], a, ic, pc, kc, ps, 0, ps.n)
		}
	}
	return operand[T]{packed: dst}
}

// prepackB packs all of B, once for many runs. It is serial.
func (g *gemm[T]) prepackB(dst []T, b matrix[T]) operand[T] {
	dst = dst[:g.packedBLen()]
	for pc := 0; pc < g.k; pc += g.kc {
		g.packB(dst[g.packedCols()*pc:], b, pc, min(g.kc, g.k-pc), 0, g.n)
	}
	return operand[T]{packed: dst}
}
