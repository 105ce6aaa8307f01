package cpu

import "fmt"

// stepBytes is the length in k of what all narrow kernels take at once: 64 bytes of a
// row of A.
const stepBytes = 64

// narrowKernels are the parts of a GEMM in a type narrower than fp32 that depend on
// the unit. They work on panels: mr rows of A as [steps][mr][64 bytes], nr columns of
// B as [steps][nr/width][groups][width][group]; what a panel lacks is zero. C is in fp32 or int32.
type narrowKernels struct {
	mr, nr  int  // of a tile
	width   int  // columns of B that lie together
	low     bool // tiles may have fewer rows, all of a plan as many
	streams bool // what block loads of B and C makes little room for itself in L1
	group   int  // neighbours in k that are multiplied together

	// block multiplies panels of A, of rows rows, by panels of B, of as many steps. The
	// tiles of C lie in acc one behind the other, accSkip bytes more behind each row of them.
	// Each starts with what is in acc if load, else with zero, and is written to out:
	// rows ldo bytes apart, tiles nextTile, rows of tiles nextRow. acc and out may be
	// the same, but not overlap otherwise: sums may pass by acc between steps, and by spare, a tile
	// that is aligned as cache lines are. Meanwhile L2 gets what is needed next of A and B: a line
	// each step at ahead and second bytes further, from where both move on, and by next more at
	// each tile; from the second panel of A on it gets the one that follows. If streams, a may be
	// rows as they come, lda bytes apart: L2 then gets what follows in them, unless secondA is 0.
	block func(rows, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int,
		out *byte, ldo, nextTile, nextRow int, aheadA *byte, secondA, nextA int, aheadB *byte, secondB, nextB int, spare *byte, lda int)

	// packA copies 64 bytes of each row and step from src[row*ld+64*step] to
	// dst[step*next+64*row], xor flip, and fetches what is far bytes further.
	packA func(dst, src *byte, ld, rows, steps, next int, flip uint64, far int)

	// packB packs nr columns, src[row*ld...], of the rows of the groups. dst is where a step begins.
	packB func(dst, src *byte, ld, groups int)

	// sumB is there if the unit multiplies unsigned by signed numbers. A is then
	// packed as A + 128, and sumB writes a row of int32 behind a panel of B that makes
	// up for it: -128 times the sums of its columns, which block adds.
	sumB func(panel *byte, groups int)

	// skinny adds to the tiles of y, one behind the other, the product of x, packed as
	// [steps][m][8 bytes], and as many rows of B, of n columns, as belong to it, each ldb
	// bytes from the last. It takes four panels at a time, and so the tiles must be a
	// multiple of that. With sumB, it multiplies by B + 128. It may be nil.
	skinny func(m, n, steps int, x, b *byte, ldb int, y *byte)

	// direct is the product of m rows of A, as they come, by n columns of B, a multiple of nr/2, whose rows it
	// packs in room, nr columns of all groups at a time. There are whole groups of k. It may be nil.
	direct func(m, n, groups int, a *byte, lda int, b *byte, ldb int, c *byte, ldc int, room *byte)

	// panels does so with as many packed panels of B, of all of k, next bytes apart; what sumB wrote lies sums bytes
	// behind each. It is there if direct is.
	panels func(m, panels, groups int, a *byte, lda int, b *byte, next, sums int, c *byte, ldc int)
}

// shift is what packA adds to bytes, without carry.
func (k *narrowKernels) shift() uint64 {
	if k.sumB == nil {
		return 0
	}
	return 0x8080_8080_8080_8080
}

// narrowGEMM is the plan of C = A*B for one shape and unit. A block of C lies in a buffer of its
// own, tile by tile, while blocks of A and B are multiplied into it, and is written to C by their last
// ones: its rows would otherwise compete for the same sets of the caches where they are a power of
// two apart. Meanwhile a panel of A stays in L1, and those of B come from L2.
//
// Sums that C does not hold as they are stay in that buffer: what makes elements of
// them gets a few tiles at a time, which are still in L1.
//
// A panel of A is packed right before it is used, and kept for other columns; B is packed for
// each block of rows, or once beforehand, where A may stay as it comes: see newPackedNarrowGEMM. Each worker packs what
// it needs: there is no barrier.
type narrowGEMM struct {
	narrowKernels
	grid
	m, n, k int
	size    int  // bytes of an element of A and B
	mc, nc  int  // rows and columns of a block of C
	steps   int  // of k in all
	kc      int  // steps of a block
	packedA bool // before the run: workers need no room for it
	wholeA  bool // is packed at once, as it is small
	asRows  bool // A is multiplied as it comes, by panels of a B that is packed before the run
}

// accBytes is the size of an element of C.
const accBytes = 4

// planNarrowGEMM takes the sizes of blocks as upper bounds; kc counts steps.
func planNarrowGEMM(u unit, b blocking, threads, m, n, k int) *narrowGEMM {
	g := &narrowGEMM{narrowKernels: u.gemm, m: m, n: n, k: k, size: int(u.dtype.Bytes())}
	g.grid = newGrid(threads, m, n, g.mr, g.nr)
	if g.low {
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
func (g *narrowGEMM) narrow() bool { return g.low && g.n <= g.nr }

// once says whether a panel of A is used when it is packed, and not again.
func (g *narrowGEMM) once() bool {
	return !g.wholeA && ceilDiv(ceilDiv(g.n, g.nr), g.cols)*g.nr <= g.nc
}

// readsA says whether A, of rows ld bytes apart, is multiplied as it comes: whole steps of it that are
// used once, or of rows so near each other that a panel is as good in L1 as if it were packed.
func (g *narrowGEMM) readsA(ld int) bool {
	return g.streams && g.k*g.size%stepBytes == 0 && (g.n <= g.nr || ld <= nearRows)
}

// nearRows is the distance of rows of which 32 take two thirds of 48 KiB, and few the same sets.
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
	if g.asRows {
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

// finish makes elements of C of complete sums: m x n from (i0, j0) on, in rows of nr,
// aligned as cache lines are.
type finish func(sums []byte, i0, j0, m, n int)

// run computes C on worker id. All workers of the plan call it, each with its id; a
// barrier must follow before another reads C or writes the inputs. packed is B as
// prepackB made it, or nil. The sums go to C, or to end if that is not nil.
func (g *narrowGEMM) run(id int, s narrowScratch, a, b byteRows, packed []byte, c byteRows, end finish) {
	switch {
	case packed != nil && g.asRows:
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
