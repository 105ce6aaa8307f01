package cpu

import "unsafe"

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
				if b.packed != nil {
					bp = b.packed[g.packedAt(bs):]
				}
				t := &q.block
				*t = block[T]{blockB: bs, ic: ic, panels: ps, add: pc > 0 || g.accumulate, ap: ap, bp: bp, b: b, c: c}
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
				next := g.following(ic, bs, j0, j1)
				if next != bs {
					t.next, t.spare = next, spare
				}
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

// blockQueue is what others need to know of a worker's block to multiply panels of it.
type blockQueue[T float] struct {
	queue
	block block[T]
	a, b  operand[T] // to which the block points
}

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
	for g.multiplyNext(q, 1, id, s) {
	}
	q.await(bar)
}

// multiplyNext multiplies the next panel of a worker's block, unless fewer than least are left.
func (g *gemm[T]) multiplyNext(q *blockQueue[T], least, id int, s *gemmScratch[T]) bool {
	left, ok := q.take(least)
	if ok {
		g.multiplyPanel(&q.block, q.block.last-1-left, id, s)
		q.finished()
	}
	return ok
}

// help multiplies panels of other workers until each has taken all of its own. Of the last panel of a block its owner
// has all data at hand.
func (g *gemm[T]) help(id int, bar *barrier, s *gemmScratch[T]) {
	for looks, busy := 0, true; busy; looks++ {
		busy = false
		for i := 1; i < g.threads(); i++ {
			q := s.queue[(id+i)%g.threads()]
			for q.open.Load() {
				if !g.multiplyNext(q, leastTaken, id, s) {
					busy = true
					break
				}
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
