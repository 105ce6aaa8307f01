package cpu

import "unsafe"

// gemmKernels are the parts of a GEMM that depend on the instruction set.
type gemmKernels[T float] struct {
	mr int // rows of the largest tile; every smaller number of rows works too
	nr int // columns of the widest tile
	vl int // elements of a vector: packed panels of B are a multiple of it wide
	// masked says that a part of a vector is as cheap as a whole one: the number of columns may be
	// any for all tiles. Else it is a multiple of vl, but for tilePlain, and for tileSkinny if its grain is 1.
	masked bool
	// tile is the micro-kernel, after BLIS, for a row of tiles: it keeps a part of
	// C[rows x cols], nr columns at most, in registers while it runs along k. C = A*B,
	// or C += A*B if add. A is packed as [k][rows]; B in panels of nr columns, the
	// last one narrower, each [k][width].
	//
	// Meanwhile it prefetches: C of the following row of tiles, which begins at next, and the
	// lines that fetch lists, which may come from L3 or memory; fetch may be nil.
	tile func(rows, cols, k int, a, b, c *T, ldc int, add bool, next *T, fetch *run)

	nearKernels[T, T]

	// tileSkinny takes 4 rows of b a step; n is a multiple of skinnyGrain. It may be nil.
	tileSkinny  skinnyTile[T]
	skinnyGrain int

	// tileGEMVFar is for m = 1 and rows of whole cache lines. It takes farRows rows of b a step, with
	// software prefetch. If it is set, so are the two that follow.
	tileGEMVFar skinnyTile[T]
	farRows     int

	// tileGEMVStreams is tileGEMVFar without software prefetch.
	tileGEMVStreams skinnyTile[T]

	// tileGEMVPanels is y[panels*nr] = x[k] * b for packed panels, stride elements apart; or adds that to
	// y. It walks several panels at a time, as streams that the hardware prefetches.
	tileGEMVPanels func(panels, k int, x, b *T, stride int, y *T, add bool)

	// tilePlain is tile for matrices that are not packed: A is [rows][k], B [k][cols].
	// If cols is at most vl, there may be up to
	// tall rows. It may be nil.
	tilePlain func(rows, cols, k int, a *T, lda int, b *T, ldb int, c *T, ldc int, add bool)

	// dots is that of vecKernels. It may be nil.
	dots func(m, n, d int, q *T, ldq int, k *T, ldk int, s *T, row, step, ahead int, far bool)

	// transpose writes dst[p*ldd+i] = src[i*lds+p] for i < rows and p < k: at least
	// transposeRows rows, and k a multiple of vl.
	transpose     func(dst *T, ldd int, src *T, lds, rows, k int)
	transposeRows int

	// copyRows writes dst[p*nr+j] = src[p*lds+j] for p < k and j < nr.
	copyRows func(dst, src *T, lds, k int)
}

// nearKernels are micro-kernels for a B in L2 or nearer, with an epilogue in registers. C and the residual may be of
// another type C than A and B, to which the sums are rounded as they are stored. With add the kernels then compute one tile,
// whose partial sums are not read from C but from bias, as rows of nr elements of T.
type nearKernels[T float, C any] struct {
	// tileNear is tile for a B in L2 or nearer: without add the sums begin with bias[row], and what is stored
	// is max(sum + residual, floor), with a residual that has the layout of C. bias and residual may be nil.
	// Every 4 steps of k it prefetches one line: the first at far, each of the others `step` elements further.
	tileNear func(rows, cols, k int, a, b *T, c *C, ldc int, add bool, next *C, bias *T, residual *C, floor T, far *T, step int)

	// tilePack is tileNear for one tile that packs B on the way: it reads k rows of cols
	// elements, lds apart, from src[at] on, stores them to b as a panel, and prefetches what is
	// far elements further. Columns whose bit in mask is clear are not read and count as 0,
	// as padding does; kernels that are not masked read all. It may be nil.
	tilePack func(rows, cols, k int, a, b *T, c *C, ldc int, add bool, next *C, bias *T, residual *C, floor T, src *T, lds, at, far, mask int)

	// tileTaps is tilePack where row p of B is at src[at+places[p]] and has the mask masks[p].
	// It may be nil.
	tileTaps func(rows, cols, k int, a, b *T, c *C, ldc int, add bool, next *C, bias *T, residual *C, floor T, src *T, at int, places, masks *int)
}

// skinnyTile adds to y[m x n] the product of x, packed as [steps][m][rows], and of rows*steps rows of b.
type skinnyTile[T float] func(m, n, steps int, x, b *T, ldb int, y *T, ldy int)

func portableGEMMKernels[T float]() gemmKernels[T] {
	const nr = 16
	return gemmKernels[T]{
		mr: 4, nr: nr, vl: 4,
		tile: func(rows, cols, k int, a, b, c *T, ldc int, add bool, _ *T, _ *run) {
			tilePortable(rows, cols, k, nr, a, b, c, ldc, add)
		},
		nearKernels: nearKernels[T, T]{
			tileNear: func(rows, cols, k int, a, b, c *T, ldc int, add bool, _, bias, residual *T, floor T, _ *T, _ int) {
				tilePortable(rows, cols, k, nr, a, b, c, ldc, add)
				if add {
					bias = nil // it was added with the first part of the sum
				}
				finishPortable(rows, cols, c, ldc, bias, residual, floor)
			},
		},
		transpose:     transposePortable[T],
		transposeRows: 1,
		copyRows:      func(dst, src *T, lds, k int) { copyRowsPortable(dst, src, lds, k, nr) },
	}
}

// tilePortable is the twin of the assembly: it keeps 4x4 parts of the tile in
// registers. The assembly begins the sum of an element with the old C instead of
// adding it last, and rounds once where this may round twice.
//
//	for i := range rows { for j := range cols {
//		sum := 0
//		panel := b[j/nr*nr*k:], width columns wide
//		for p := range k { sum += a[p*rows+i] * panel[p*width+j%nr] }
//		c[i*ldc+j] = sum   // or += if add
//	}}
func tilePortable[T float](rows, cols, k, nr int, a, b, c *T, ldc int, add bool) {
	as, bs := unsafe.Slice(a, rows*k), unsafe.Slice(b, cols*k)
	cs := unsafe.Slice(c, (rows-1)*ldc+cols)
	for j := 0; j < cols; j += 4 {
		first := j / nr * nr
		width := min(nr, cols-first)
		panel := bs[first*k+j-first:]
		i := 0
		for ; i+4 <= rows; i += 4 {
			tile4x4(k, as[i:], rows, panel, width, cs[i*ldc+j:], ldc, add)
		}
		for ; i < rows; i++ {
			tile1x4(k, as[i:], rows, panel, width, cs[i*ldc+j:], add)
		}
	}
}

// finishPortable writes c[i][j] = max(c[i][j] + bias[i] + residual[i][j], floor), where
// the residual has the layout of C.
func finishPortable[T float](rows, cols int, c *T, ldc int, bias, residual *T, floor T) {
	n := (rows-1)*ldc + cols
	cs := unsafe.Slice(c, n)
	for i := range rows {
		row := cs[i*ldc:][:cols]
		if bias != nil {
			b := unsafe.Slice(bias, rows)[i]
			for j := range row {
				row[j] += b
			}
		}
		if residual != nil {
			r := unsafe.Slice(residual, n)[i*ldc:][:cols]
			for j := range row {
				row[j] += r[j]
			}
		}
		for j := range row {
			row[j] = max(row[j], floor)
		}
	}
}

func tile4x4[T float](k int, a []T, lda int, b []T, ldb int, c []T, ldc int, add bool) {
	var c00, c01, c02, c03, c10, c11, c12, c13 T
	var c20, c21, c22, c23, c30, c31, c32, c33 T
	for p := range k {
		x, y := a[p*lda:][:4:4], b[p*ldb:][:4:4]
		y0, y1, y2, y3 := y[0], y[1], y[2], y[3]
		c00 += x[0] * y0
		c01 += x[0] * y1
		c02 += x[0] * y2
		c03 += x[0] * y3
		c10 += x[1] * y0
		c11 += x[1] * y1
		c12 += x[1] * y2
		c13 += x[1] * y3
		c20 += x[2] * y0
		c21 += x[2] * y1
		c22 += x[2] * y2
		c23 += x[2] * y3
		c30 += x[3] * y0
		c31 += x[3] * y1
		c32 += x[3] * y2
		c33 += x[3] * y3
	}
	for i, row := range [4][4]T{{c00, c01, c02, c03}, {c10, c11, c12, c13}, {c20, c21, c22, c23}, {c30, c31, c32, c33}} {
		update(c[i*ldc:], row, add)
	}
}

func tile1x4[T float](k int, a []T, lda int, b []T, ldb int, c []T, add bool) {
	var c0, c1, c2, c3 T
	for p := range k {
		x, y := a[p*lda], b[p*ldb:][:4:4]
		c0 += x * y[0]
		c1 += x * y[1]
		c2 += x * y[2]
		c3 += x * y[3]
	}
	update(c, [4]T{c0, c1, c2, c3}, add)
}

func update[T float](c []T, row [4]T, add bool) {
	c = c[:4:4]
	for j, v := range row {
		if add {
			v += c[j]
		}
		c[j] = v
	}
}
