package cpu

import "unsafe"

// skinnyRows is the largest m for which B, if it comes plain, is never packed beforehand: a tile reads it where it
// lies, or where its rows are too far apart or come from memory, tileSkinny in the order of memory.
const skinnyRows = 32

// skinnySteps is the number of steps of one assembly call, about a millisecond where B comes from
// memory; skinnyDepth is the number of rows of B in a step of tileSkinny.
const skinnySteps, skinnyDepth = 256, 4

// skinny says whether the product has few rows and a kernel for them.
func (g *gemm[T]) skinny(a, b *operand[T]) bool {
	return g.m <= skinnyRows && g.takesSkinny(g.n) && a.packed == nil && b.packed == nil && !b.trans
}

// takesSkinny says whether there is a tileSkinny for n columns.
func (k *gemmKernels[T]) takesSkinny(n int) bool { return k.tileSkinny != nil && n%k.skinnyGrain == 0 }

// skinnyBlock is the size in bytes of a block of C that is accumulated in L2: B is read in long runs, and the copy
// of A for few blocks. On Zen 3 that takes .6 to .95 of the time of blocks in L1 where B comes from memory, and as
// long where it comes from L3. Two rows were slower in L2 before skinnyPitch kept them an odd number of lines apart; with
// AVX-512 that was not measured again, so blocks of several rows are in L1 there: skinnyBlockL1 is half of 32 KiB.
const skinnyBlock, skinnyBlockL1 = 64 << 10, 16 << 10

// skinnyCols is the width of such a block.
func (g *gemm[T]) skinnyCols() int {
	block := skinnyBlock
	if g.masked && g.m > 1 {
		block = skinnyBlockL1
	}
	return max(block/int(unsafe.Sizeof(T(0)))/g.m/64*64, 64)
}

// skinnyPitch is the distance of the rows of a block with n columns: an odd number of lines, so that
// they do not share few sets.
func skinnyPitch[T float](n int) int {
	line := perLine[T]()
	return (ceilDiv(n, line) | 1) * line
}

// skinnyKernel picks one for cols columns of B, and says how many of its rows are a step.
func (g *gemm[T]) skinnyKernel(cols int) (tile skinnyTile[T], depth int) {
	lines := g.tileGEMVFar != nil && g.m == 1 && cols*int(unsafe.Sizeof(T(0)))%64 == 0
	switch {
	case lines && g.streams:
		return g.tileGEMVStreams, g.farRows
	case lines:
		return g.tileGEMVFar, g.farRows
	}
	return g.tileSkinny, skinnyDepth
}

// skinnyLengths are the sizes of a worker's copy of A with the last rows of B, and
// of its block of C.
func (g *gemm[T]) skinnyLengths() (ab, c int) {
	depth := max(skinnyDepth, g.farRows)
	return ceilDiv(g.k, depth)*depth*g.m + depth*g.n, g.m * skinnyPitch[T](min(g.skinnyCols(), g.n))
}

// computeSkinny computes a worker's columns of C. B is read once, row by row.
func (g *gemm[T]) computeSkinny(id int, s *gemmScratch[T], a, b, c matrix[T], epi epilogue[T]) {
	lo, hi := part(g.n, 64, id, g.threads())
	if lo == hi {
		return
	}
	tile, depth := g.skinnyKernel(hi - lo)
	whole, steps := g.k/depth, ceilDiv(g.k, depth)
	x, rest := s.b[id][:steps*depth*g.m], s.b[id][steps*depth*g.m:]
	// x[step][row][depth], with zeros behind the last column, and rows of zeros for B.
	for i := range g.m {
		for p := range steps * depth {
			to := &x[(p/depth*g.m+i)*depth+p%depth]
			switch {
			case p >= g.k:
				*to = 0
			case a.trans:
				*to = a.data[p*a.ld+i]
			default:
				*to = a.data[i*a.ld+p]
			}
		}
	}
	ldr := hi - lo
	if steps > whole {
		clear(rest[:depth*ldr])
		for p := depth * whole; p < g.k; p++ {
			copy(rest[(p-depth*whole)*ldr:][:ldr], b.data[p*b.ld+lo:])
		}
	}
	for j := lo; j < hi; j += g.skinnyCols() {
		n := min(g.skinnyCols(), hi-j)
		ldy := skinnyPitch[T](n)
		y := s.c[id][:g.m*ldy]
		clear(y)
		if g.accumulate {
			for i := range g.m {
				copy(y[i*ldy:][:n], c.data[i*c.ld+j:])
			}
		}
		for at := 0; at < whole; at += skinnySteps {
			count := min(skinnySteps, whole-at)
			from := b.data[depth*at*b.ld+j:]
			_, _ = from[(depth*count-1)*b.ld+n-1], x[(at+count)*depth*g.m-1]
			tile(g.m, n, count, &x[at*depth*g.m], &from[0], b.ld, &y[0], ldy)
		}
		if steps > whole {
			tile(g.m, n, 1, &x[whole*depth*g.m], &rest[j-lo], ldr, &y[0], ldy)
		}
		for i := range g.m {
			copy(c.data[i*c.ld+j:][:n], y[i*ldy:])
		}
		if epi != nil {
			epi(c.data[j:], c.ld, 0, j, g.m, n)
		}
	}
}
