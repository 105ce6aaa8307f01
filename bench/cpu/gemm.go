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
	plainB bool // they are not for a packed B
	depth  int  // steps of k that such a product takes at a time
	l1     int  // bytes
	// low is the height of the panels of B that the first row of tiles packs as it computes; 0 where none does.
	low int
	// dotDepth is the number of steps of k that dot products take at a time; 0 where C is not made of them.
	dotDepth int
	// farA says that rows of A are fetched to L2 for them.
	farA bool
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
	g.planLow()
	g.planDots(orElse(caches.L3, typicalCaches.L3))
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
	if g.dotDepth > 0 {
		columns, products := g.dotLengths()
		b, c = max(b, columns), max(c, products)
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
	case g.dotDepth > 0 && a.packed == nil && !a.trans:
		g.computeDots(id, s, a.matrix, b, *c, epi)
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
