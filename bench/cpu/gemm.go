package cpu

import (
	"fmt"
	"unsafe"
)

// gemm is the plan of C = A*B for one shape, element type and instruction set: five
// loops around a micro-kernel, after BLIS. From the outside: blocks of mc rows,
// blocks of kc steps of k, blocks of nc columns, panels of A, panels of B. A panel of A is
// packed right before its first use. While a block of B is used, the one that follows it is
// packed, a few rows after each panel of A, so that no row of tiles waits for memory.
//
// Each worker packs what it needs into its own L2, though others in its row or column of the
// grid pack the same: so none waits for another, and none reads what is in the caches of another.
// On two cores that took up to 4% less time than to pack A together. Only at the end, when a worker has finished
// its part of C, it takes panels of A, and the block of B that they are multiplied by, from another: see queue.
//
// The plan is immutable; what a run writes is in its scratch.
type gemm[T float] struct {
	gemmKernels[T]
	blocking
	grid
	m, n, k int
	// oneBlock says that a packed panel of A is used for one row of tiles only, as the worker's
	// columns are one block of B: all panels share one buffer, which stays in the cache.
	oneBlock bool
	// shares are the workers' parts of C where the matrices are multiplied unpacked; else nil.
	shares []share
	depth  int // steps of k that such a product takes at a time
	// farB says that B is too large for L3 and is read from memory each time it is used.
	farB bool
	l1   int // bytes
	// low is the height of the panels of B that the first row of tiles packs as it computes; 0 where none does.
	low int
	// streams says that for m = 1 B is read as several streams, for the hardware to prefetch.
	streams bool
	// accumulate adds to what is in C instead of overwriting it.
	accumulate bool
}

func newGEMM[T float](isa ISA, caches cacheSizes, threads, m, n, k int) (*gemm[T], error) {
	if m <= 0 || n <= 0 || k <= 0 || threads <= 0 {
		return nil, fmt.Errorf("cpu: gemm m=%d n=%d k=%d with %d threads: want positive numbers", m, n, k, threads)
	}
	kernels := newGEMMKernels[T](isa)
	g := planGEMM(kernels, newBlocking(kernels, caches), threads, m, n, k)
	g.l1 = orElse(caches.L1, typicalCaches.L1)
	g.farB = n*k*int(unsafe.Sizeof(T(0))) > orElse(caches.L3, typicalCaches.L3)*3/2
	g.planLow()
	return g, nil
}

func planGEMM[T float](kernels gemmKernels[T], b blocking, threads, m, n, k int) *gemm[T] {
	g := &gemm[T]{gemmKernels: kernels, m: m, n: n, k: k}
	g.grid = newGrid(threads, m, n, g.mr, g.nr)
	size := int(unsafe.Sizeof(T(0)))
	g.planSmall(b.halfL2(size), b.halfL3(size))
	width := ceilDiv(ceilDiv(n, g.nr), g.grid.cols) * g.nr // of a worker's columns
	g.nc = ceilDiv(even(width, b.nc, g.nr), g.nr) * g.nr
	// Where C is narrow, the block of B becomes higher: A is read in longer runs.
	// A panel of A has to fit beside it.
	kc := max(b.kc, min(b.kc*b.nc/g.nc, b.kc*b.nc/(2*g.mr)))
	g.kc = even(k, kc, 16)
	g.mc = even(m, max(b.mc*b.kc/g.kc/g.mr*g.mr, g.mr), g.mr)
	g.oneBlock = width <= g.nc
	return g
}

// gemmScratch is the memory that one run at a time works in.
type gemmScratch[T float] struct {
	a [][]T // each worker's packed panels of a block of A
	b [][]T // each worker's packed block of B, and the one that follows
	c [][]T // each worker's tile at the edge of C
	// fetch is each worker's list of what comes next.
	fetch []*fetchList
	queue []*blockQueue[T]
}

// blockQueue is what others need to know of a worker's block to multiply panels of it.
type blockQueue[T float] struct {
	queue
	block block[T]
	a, b  operand[T]
}

func (g *gemm[T]) threads() int { return g.rows * g.cols }

// lengths are the sizes of a worker's buffers of each kind, in whole cache lines.
func (g *gemm[T]) lengths() (a, b, c int) {
	a = g.mr * g.kc
	if !g.oneBlock {
		a *= ceilDiv(newPanels(g.mc, g.mr).n, g.rows)
	}
	b, c = 2*g.nc*g.kc, g.mr*g.nr
	if g.m <= skinnyRows {
		ab, block := g.skinnyLengths()
		b, c = max(b, ab), max(c, block)
	}
	if g.low > 0 {
		ab, block := g.lowLengths()
		b, c = max(b, ab), max(c, block)
	}
	return lines[T](a), lines[T](b), lines[T](c)
}

// scratchBytes is the size of the memory that newScratch wants.
func (g *gemm[T]) scratchBytes() int64 {
	a, b, c := g.lengths()
	return int64(g.threads()*(a+b+c)) * int64(unsafe.Sizeof(T(0)))
}

// newScratch cuts mem, aligned to 64 bytes, into buffers.
func (g *gemm[T]) newScratch(mem []byte) (*gemmScratch[T], error) {
	if int64(len(mem)) < g.scratchBytes() {
		return nil, fmt.Errorf("cpu: gemm %dx%dx%d: scratch of %d bytes, want %d", g.m, g.n, g.k, len(mem), g.scratchBytes())
	}
	rest := cutter[T]{as[T](mem)}
	a, b, c := g.lengths()
	s := &gemmScratch[T]{}
	for range g.threads() {
		s.a, s.b, s.c = append(s.a, rest.cut(a)), append(s.b, rest.cut(b)), append(s.c, rest.cut(c))
		s.fetch, s.queue = append(s.fetch, new(fetchList)), append(s.queue, new(blockQueue[T]))
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
	g.compute(w.id, &w.team.bar, s, &a, &b, &c, epi)
}

// serial computes C on the calling worker alone, for a plan of one thread.
func (g *gemm[T]) serial(s *gemmScratch[T], a, b *operand[T], c *matrix[T], epi epilogue[T]) {
	g.compute(0, nil, s, a, b, c, epi)
}

func (g *gemm[T]) compute(id int, bar *barrier, s *gemmScratch[T], a, b *operand[T], c *matrix[T], epi epilogue[T]) {
	switch {
	case g.small(a, b):
		g.computeSmall(id, a, b, c, epi)
	case g.low > 0 && a.packed == nil && b.packed == nil && !b.trans:
		g.computeLow(id, s, a.matrix, b.matrix, *c, epi)
	case g.skinny(a, b):
		g.computeSkinny(id, s, a.matrix, b.matrix, *c, epi)
	case g.streams && a.packed == nil && !a.trans && b.packed != nil:
		g.computePanels(id, a.data, b.packed, c.data, epi)
	default:
		g.computePacked(id, bar, s, a, b, *c, epi)
		g.help(id, bar, s)
	}
}

// computePacked computes a worker's part of C on packed copies of A and B.
func (g *gemm[T]) computePacked(id int, bar *barrier, s *gemmScratch[T], a, b *operand[T], c matrix[T], epi epilogue[T]) {
	q := s.queue[id]
	q.a, q.b = *a, *b
	a, b = &q.a, &q.b
	q.open.Store(true)
	defer q.open.Store(false)
	row, col := id/g.cols, id%g.cols
	j0, j1 := part(g.n, g.nr, col, g.cols)
	bs := g.blockB(0, j0, j1)
	half := len(s.b[id]) / 2
	bp, spare := s.b[id][:half], s.b[id][half:]
	if b.packed == nil && bs.cols > 0 {
		g.packB(bp, b.matrix, bs.pc, bs.kc, bs.jc, bs.jc+bs.cols)
	}
	for ic := 0; ic < g.m; ic += g.mc {
		ps := newPanels(min(g.mc, g.m-ic), g.mr)
		for pc := 0; pc < g.k; pc += g.kc {
			kc := min(g.kc, g.k-pc)
			ap := s.a[id]
			if a.packed != nil {
				ap = a.packed[ic*g.k+pc*ps.m:][:ps.m*kc]
			}
			for jc := j0; jc < j1; jc += g.nc {
				t := block[T]{blockB: bs, ic: ic, panels: ps, add: pc > 0 || g.accumulate, b: b, c: c}
				t.first, t.last = part(ps.n, 1, row, g.rows)
				if a.packed == nil {
					t.base, _ = ps.rows(t.first)
					if jc == j0 {
						t.pack = &a.matrix
					}
				}
				if pc+kc == g.k {
					t.epi = epi
				}
				if b.packed != nil {
					bp = b.packed[g.packedAt(bs):]
				}
				next := g.following(ic, bs, j0, j1)
				if next != bs {
					t.next, t.spare = next, spare
				}
				t.ap, t.bp = ap, bp
				q.block = t
				g.multiply(q, id, bar, s)
				if next != bs {
					bs, bp, spare = next, spare, bp
				}
			}
		}
	}
}

// blockB is a block of B: kc steps from pc on, cols columns from jc on.
type blockB struct{ pc, kc, jc, cols int }

func (g *gemm[T]) blockB(pc, jc, j1 int) blockB {
	return blockB{pc, min(g.kc, g.k-pc), jc, min(g.nc, j1-jc)}
}

// following is the block of B that the columns [j0, j1) of C need behind b: the next
// one on the right, below, or the first, for the next block of A; behind the last it is b.
func (g *gemm[T]) following(ic int, b blockB, j0, j1 int) blockB {
	pc, jc := b.pc, b.jc+g.nc
	if jc >= j1 {
		pc, jc = pc+g.kc, j0
	}
	if pc >= g.k {
		pc, ic = 0, ic+g.mc
	}
	if ic >= g.m {
		return b
	}
	return g.blockB(pc, jc, j1)
}

// packedAt is where in all of B, packed, a block begins.
func (g *gemm[T]) packedAt(b blockB) int { return g.packedCols()*b.pc + b.jc*b.kc }

// block is what multiply works on: panels [first, last) of a block of A, from row ic of
// C on, and a block of B.
type block[T float] struct {
	blockB
	ic int
	panels
	first, last int
	add         bool
	epi         epilogue[T]
	ap, bp      []T // packed
	c           matrix[T]
	pack        *matrix[T] // A, if its panels still have to be packed
	base        int        // row of the block of A where the packed panels begin
	// next is the block of B that follows, if it has columns, and spare where it is packed.
	b     *operand[T]
	next  blockB
	spare []T
	fetch *fetchList // room for a list
}

// multiply multiplies the panels of A in turn by all panels of B.
func (g *gemm[T]) multiply(q *blockQueue[T], id int, bar *barrier, s *gemmScratch[T]) {
	q.offer(q.block.last - q.block.first)
	for left, ok := q.take(1); ok; left, ok = q.take(1) {
		g.multiplyPanel(&q.block, q.block.last-1-left, id, s)
		q.finished()
	}
	q.await(bar)
}

// help multiplies panels of other workers until each has taken all of its own. Of the last panel of a block its owner
// has all data at hand.
func (g *gemm[T]) help(id int, bar *barrier, s *gemmScratch[T]) {
	for looks, busy := 0, true; busy; looks++ {
		busy = false
		for i := 1; i < g.threads(); i++ {
			q := s.queue[(id+i)%g.threads()]
			for q.open.Load() {
				left, ok := q.take(leastTaken)
				if !ok {
					busy = true
					break
				}
				g.multiplyPanel(&q.block, q.block.last-1-left, id, s)
				q.finished()
			}
		}
		if busy && looks >= bar.patience {
			bar.relent()
			looks = 0
		}
	}
}

// leastTaken is the number of panels left of a block from which on others take one.
const leastTaken = 2

// multiplyPanel multiplies panel i of A by all panels of B, and packs a part of what follows. A panel that is used once is
// packed for the worker that computes it.
func (g *gemm[T]) multiplyPanel(of *block[T], i, id int, s *gemmScratch[T]) {
	t := *of
	t.fetch = s.fetch[id]
	if t.pack != nil {
		if g.oneBlock {
			t.ap = s.a[id]
			t.base, _ = t.panels.rows(i)
		}
		g.packPanels(t.ap, *t.pack, t.ic, t.pc, t.kc, t.panels, t.base, i, i+1)
	}
	g.rowOfTiles(&t, i, t.ap, t.bp, t.c, s.c[id])
	if t.next.cols > 0 && t.b.packed == nil {
		lo, hi := g.nextRows(&t, i)
		g.packRowsB(t.spare, t.b.matrix, t.next.pc, t.next.kc, t.next.jc, t.next.jc+t.next.cols, lo, hi)
	}
}

// nextRows are the rows of the next block of B that are packed behind panel i of A.
func (g *gemm[T]) nextRows(t *block[T], i int) (lo, hi int) {
	grain := packRows
	if t.b.trans {
		grain = g.vl
	}
	return part(t.next.kc, grain, i-t.first, t.last-t.first)
}

// rowOfTiles multiplies panel i of A by all panels of B.
func (g *gemm[T]) rowOfTiles(t *block[T], i int, ap, bp []T, c matrix[T], edge []T) {
	lo, hi := t.panels.rows(i)
	rows, i0 := hi-lo, t.ic+lo
	a := ap[(lo-t.base)*t.kc:][:rows*t.kc]
	line := c.data[i0*c.ld+t.jc:]
	_, _ = line[(rows-1)*c.ld+t.cols-1], bp[ceilDiv(t.cols, g.vl)*g.vl*t.kc-1]
	next := &line[0]
	if i+1 < t.last {
		next = &line[rows*c.ld]
	}
	f := g.ahead(t, i, ap)
	direct := t.cols // columns that the kernel can write to C
	if !g.masked && t.cols%g.vl != 0 {
		direct = t.cols / g.nr * g.nr
	}
	if direct > 0 {
		g.tile(rows, direct, t.kc, &a[0], &bp[0], &line[0], c.ld, t.add, next, f)
	}
	if direct < t.cols {
		cols := t.cols - direct
		width := ceilDiv(cols, g.vl) * g.vl
		g.tile(rows, width, t.kc, &a[0], &bp[direct*t.kc], &edge[0], width, false, next, f)
		for i := range rows {
			row, from := line[i*c.ld+direct:][:cols], edge[i*width:][:cols]
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
		t.epi(line, c.ld, i0, t.jc, rows, t.cols)
	}
}

// ahead lists what the kernel fetches while it works on panel i of A: rows of the next
// block of B, and where they will be packed, and the next panel of A, from where it is packed, or
// from where it is to where it will be packed.
func (g *gemm[T]) ahead(t *block[T], i int, ap []T) *run {
	if t.fetch == nil {
		return nil
	}
	t.fetch.clear()
	size := int(unsafe.Sizeof(T(0)))
	if t.next.cols > 0 {
		lo, hi := g.nextRows(t, i)
		switch {
		case t.b.packed != nil:
			cols := ceilDiv(t.next.cols, g.vl) * g.vl
			t.fetch.add(unsafe.Pointer(&t.b.packed[g.packedAt(t.next)+min(lo, t.next.kc-1)*cols]), (hi-lo)*cols*size)
		case !t.b.trans:
			for p := lo; p < hi; p++ {
				t.fetch.add(unsafe.Pointer(&t.b.data[(t.next.pc+p)*t.b.ld+t.next.jc]), t.next.cols*size)
			}
			for j := 0; lo < hi && j < t.next.cols; j += g.nr {
				width := ceilDiv(min(g.nr, t.next.cols-j), g.vl) * g.vl
				t.fetch.add(unsafe.Pointer(&t.spare[j*t.next.kc+lo*width]), (hi-lo)*width*size)
			}
		}
	}
	next := i + 1
	if next == t.last {
		next = t.first // of the next block of columns
	}
	lo, hi := t.panels.rows(next)
	if t.pack == nil || !g.oneBlock {
		t.fetch.add(unsafe.Pointer(&ap[(lo-t.base)*t.kc]), (hi-lo)*t.kc*size)
	}
	if t.pack != nil && !t.pack.trans && next > i {
		for r := lo; r < hi; r++ {
			t.fetch.add(unsafe.Pointer(&t.pack.data[(t.ic+r)*t.pack.ld+t.pc]), t.kc*size)
		}
	}
	return t.fetch.first()
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
