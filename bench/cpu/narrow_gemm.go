package cpu

import "fmt"

// stepBytes is a step of k, the unit of all narrow kernels and blocks: 64 bytes of a row
// of A, so 32 elements of 16 bits or 64 of int8.
const stepBytes = 64

// narrowKernels are the kernels of one unit for GEMM in a type narrower than fp32. They work on
// packed panels: mr rows of A as [steps][mr][64 bytes], nr columns of B as
// [steps][nr/width][groups][width][group], padded with zeros at the edges. C is in fp32 or int32.
type narrowKernels struct {
	mr, nr   int  // of a tile
	width    int  // columns of B that are contiguous in a panel
	anyRows  bool // vector units: a plan may choose tiles of fewer rows than mr, the same for all tiles
	sparesL1 bool // AMX: block loads B and C with a hint by which they evict little of A from L1
	group    int  // neighbours in k that one instruction multiplies and adds up

	// block is the macro-kernel: panelsA panels of A, each of `rows` rows, times panelsB panels of B, all of
	// `steps` steps. The tiles of C follow each other in acc, with a gap of accSkip bytes after each row of
	// tiles. A tile starts from acc if load, else from zero, and is written to out: its rows ldo bytes apart,
	// tiles nextTile, rows of tiles nextRow. acc and out may be the same, but not overlap otherwise: partial
	// sums may be kept in acc between steps, and in spare, room for one tile, aligned to a cache line.
	// For each of A and B, every step prefetches two lines into L2, at ahead and `second` bytes further;
	// ahead then moves on by a line, and after a tile by another `next` bytes. From the second panel of A on,
	// the panel that follows it is prefetched instead of aheadA. If sparesL1, A may be unpacked rows, lda bytes
	// apart (else lda is 0): what follows in these rows is then prefetched, unless secondA is 0.
	block func(rows, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int,
		out *byte, ldo, nextTile, nextRow int, aheadA *byte, secondA, nextA int, aheadB *byte, secondB, nextB int, spare *byte, lda int)

	// packA copies 64 bytes of each row and step from src[row*ld+64*step] to
	// dst[step*next+64*row], xor flip, and prefetches the source far bytes ahead.
	packA func(dst, src *byte, ld, rows, steps, next int, flip uint64, far int)

	// packB packs nr columns of group*groups rows of B, src[row*ld...], into a panel; dst is the start of a step.
	packB func(dst, src *byte, ld, groups int)

	// sumB is set if the unit multiplies unsigned by signed numbers. A is then packed as
	// A + 128, and sumB appends the correction to a panel of B, a row of int32 that block
	// adds to the tile: -128 times the sum of each column.
	sumB func(panel *byte, groups int)

	// skinny multiplies few rows by a B that is not packed, of n columns and rows ldb bytes apart: it adds
	// x*B to y. x is A packed as [steps][m][8 bytes], y consecutive tiles of m x nr, whose number must be a
	// multiple of 4, as it takes four panels at a time. With sumB, it multiplies by B + 128. It may be nil.
	skinny func(m, n, steps int, x, b *byte, ldb int, y *byte)

	// direct multiplies m unpacked rows of A by n columns of B, of which it packs nr at a time, or nr/2 if there are
	// no more, for all of k, into room. It may be nil.
	direct func(m, n, k int, a *byte, lda int, b *byte, ldb int, c *byte, ldc int, room *byte)

	// panels is direct for a B that is packed: panels of all of k, next bytes apart, with what sumB wrote
	// sums bytes after the start of each. It is set if direct is.
	panels func(m, n, k int, a *byte, lda int, b *byte, next, sums int, c *byte, ldc int)
}

// shift is what packA adds to bytes, without carry.
func (k *narrowKernels) shift() uint64 {
	if k.sumB == nil {
		return 0
	}
	return 0x8080_8080_8080_8080
}

// narrowGEMM is the plan of C = A*B for one shape and unit. A block of C is accumulated in a contiguous
// buffer, tile by tile, over the blocks of k, and the last of these writes it to C: rows of C itself, where
// they are a power of two apart, would compete for the same cache sets. Meanwhile a panel of A stays in L1,
// and panels of B come from L2.
//
// If C is not the plain sums (an epilogue or a narrower type), they stay in that buffer, and the
// epilogue gets a few tiles at a time, which are still in the cache: see hotTiles.
//
// A panel of A is packed right before its first use, and kept for other columns; B is packed for each
// block of rows, or once before the run, in which case A may stay unpacked: see newPackedNarrowGEMM.
// Each worker packs what it needs, so that there is no barrier.
type narrowGEMM struct {
	narrowKernels
	grid
	m, n, k   int
	size      int  // bytes of an element of A and B
	mc, nc    int  // rows and columns of a block of C
	steps     int  // of k in all
	kc        int  // steps of a block
	packedA   bool // A is packed before the run: workers need no room for it
	wholeA    bool // A is so small that it is packed at once
	unpackedA bool // A is not packed, and B is before the run: see newPackedNarrowGEMM
}

// accBytes is the size of an element of C.
const accBytes = 4

// planNarrowGEMM takes the sizes of blocks as upper bounds; kc counts steps.
func planNarrowGEMM(u unit, b blocking, threads, m, n, k int) *narrowGEMM {
	g := &narrowGEMM{narrowKernels: u.gemm, m: m, n: n, k: k, size: int(u.dtype.Bytes())}
	g.grid = newGrid(threads, m, n, g.mr, g.nr)
	if g.anyRows {
		// As many panels as before, with as few rows of zeros as possible.
		g.mr = ceilDiv(m, g.rows*ceilDiv(ceilDiv(m, g.rows), g.mr))
	}
	g.steps = ceilDiv(k*g.size, stepBytes)
	g.kc = even(g.steps, b.kc, 1)
	g.mc = even(ceilDiv(ceilDiv(m, g.mr), g.rows), max(b.mc/g.mr, 1), 1) * g.mr
	g.nc = even(ceilDiv(ceilDiv(n, g.nr), g.cols), max(b.nc/g.nr, 1), 1) * g.nr
	return g
}

// narrow says whether B is one panel, so that A is used once: a panel of it is packed
// right before.
func (g *narrowGEMM) narrow() bool { return g.anyRows && g.n <= g.nr }

// once says whether a packed panel of A is not needed again, as the worker's columns are one block of C.
func (g *narrowGEMM) once() bool {
	return !g.wholeA && ceilDiv(ceilDiv(g.n, g.nr), g.cols)*g.nr <= g.nc
}

// readsA says whether A, of rows ld bytes apart, is read without packing. k has to be whole steps, and either
// A is used only once, as B is one panel, or its rows are so near each other that they stay in L1 as a packed panel does.
func (g *narrowGEMM) readsA(ld int) bool {
	return g.sparesL1 && g.k*g.size%stepBytes == 0 && (g.n <= g.nr || ld <= nearRows)
}

// nearRows is the largest such distance in bytes: the 32 rows of a panel then take at most two thirds of an
// L1 of 48 KiB, and few of them map to the same sets.
const nearRows = 1024

func (g *narrowGEMM) threads() int { return g.rows * g.cols }

// panelA, panelB and tile are the sizes in bytes of what the names say; panels are
// those of one block.
func (g *narrowGEMM) panelA(steps int) int { return g.mr * stepBytes * steps }
func (g *narrowGEMM) tile() int            { return g.mr * g.nr * accBytes }
func (g *narrowGEMM) panelB(steps int) int {
	sums := 0
	if g.sumB != nil {
		sums = g.nr * accBytes
	}
	return g.nr*stepBytes*steps + sums
}

// narrowScratch is the memory that one worker works in, one run at a time.
type narrowScratch struct {
	a, b, c []byte
	spare   []byte // a step of B that is no whole panel, or a tile on its way to C
}

// lengths are the sizes of the buffers in bytes.
func (g *narrowGEMM) lengths() (a, b, c, spare int) {
	if g.unpackedA {
		return 0, 0, hotSums, g.spareBytes()
	}
	rows, cols := g.mc/g.mr, g.nc/g.nr
	switch {
	case g.packedA:
	case g.once() && !g.readsB():
		a = g.panelA(g.kc)
	default:
		a = rows * g.panelA(g.steps)
	}
	b, c = cols*g.panelB(g.kc), rows*cols*g.tile()
	if g.readsB() {
		rest, block := g.skinnyLengths()
		b, c = max(b, rest), max(c, block)
	}
	return a, b, c, g.spareBytes()
}

// spareBytes is the size of narrowScratch.spare.
func (g *narrowGEMM) spareBytes() int { return max(g.nr*stepBytes, g.tile()) }

// scratchBytes is the size of the memory that newScratch wants.
func (g *narrowGEMM) scratchBytes() int64 {
	a, b, c, spare := g.lengths()
	return int64(g.threads()) * int64(a+b+c+spare)
}

// newScratch cuts mem, aligned to 64 bytes, into the buffers of each worker.
func (g *narrowGEMM) newScratch(mem []byte) ([]narrowScratch, error) {
	if int64(len(mem)) < g.scratchBytes() {
		return nil, fmt.Errorf("cpu: gemm %dx%dx%d: scratch of %d bytes, want %d", g.m, g.n, g.k, len(mem), g.scratchBytes())
	}
	cut := func(n int) []byte {
		part := mem[:n:n]
		mem = mem[n:]
		return part
	}
	a, b, c, spare := g.lengths()
	s := make([]narrowScratch, g.threads())
	for i := range s {
		s[i] = narrowScratch{cut(a), cut(b), cut(c), cut(spare)}
	}
	return s, nil
}

// rows of bytes: row i begins at data[i*ld].
type byteRows struct {
	data []byte
	ld   int
}

// finish is an epilogue: it turns complete sums into elements of C, m x n from (i0, j0) on. The sums are
// rows of nr, aligned to cache lines.
type finish func(sums []byte, i0, j0, m, n int)

// run computes C on worker id. All workers of the plan call it, each with its id; a
// barrier must follow before another reads C or writes the inputs. packed is B as
// prepackB made it, or nil. The sums go to C, or to end if that is not nil.
func (g *narrowGEMM) run(id int, s narrowScratch, a, b byteRows, packed []byte, c byteRows, end finish) {
	switch {
	case packed != nil && g.unpackedA:
		g.computeRows(id, s, a, packed, c, end)
	case packed != nil:
		g.compute(id, s, narrowA{rows: a}, packedB{g, packed}, c, end)
	case g.readsB():
		g.computeSkinny(id, s, a, b, c, end)
	default:
		g.compute(id, s, narrowA{rows: a}, rowsB{g, b, s.spare}, c, end)
	}
}

// compute does what run says with B from wherever it comes.
func (g *narrowGEMM) compute(id int, s narrowScratch, a narrowA, b narrowB, c byteRows, end finish) {
	row, col := id/g.cols, id%g.cols
	i0, i1 := part(g.m, g.mr, row, g.rows)
	j0, j1 := part(g.n, g.nr, col, g.cols)
	for ic := i0; ic < i1; ic += g.mc {
		for jc := j0; jc < j1; jc += g.nc {
			t := narrowBlock{
				narrowGEMM: g, c: c, end: end, acc: s.c, spare: s.spare,
				i0: ic, j0: jc, m: min(g.mc, i1-ic), n: min(g.nc, j1-jc),
			}
			for pc := 0; pc < g.steps; pc += g.kc {
				t.pc, t.steps = pc, min(g.kc, g.steps-pc)
				nextI, nextJ, nextP := ic, jc, pc+t.steps // the next block
				if nextP == g.steps {
					nextJ, nextP = jc+g.nc, 0
				}
				if nextJ >= j1 {
					nextI, nextJ = ic+g.mc, j0
				}
				t.b = b.block(s.b, jc, t.n, pc, t.steps)
				t.aheadB = b.ahead(nextJ, min(g.nc, j1-nextJ), nextP, t.steps)
				at := t.panelsA() * g.panelA(pc)
				switch {
				case a.packed != nil:
					t.a = a.packed[ic/g.mr*g.panelA(g.steps)+at:]
					t.multiply()
				case g.readsA(a.rows.ld):
					t.multiplyRows(s.a, a.rows)
				case jc > j0:
					t.a = s.a[at:]
					t.multiply()
				default:
					t.packAndMultiply(s.a, a.rows, nextI, nextP)
				}
			}
		}
	}
}
