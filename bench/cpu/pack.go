package cpu

import "unsafe"

// matrix is a view of rows x cols elements: element (i, j) is data[i*ld+j], or
// data[j*ld+i] if trans.
type matrix[T float] struct {
	data       []T
	rows, cols int
	ld         int
	trans      bool
}

// panels cuts m rows of A into the fewest panels of at most mr rows, as equal as
// possible: 32 rows are 11+11+10 instead of 14+14+4, so that no tile is slow.
type panels struct {
	m, n           int // rows; panels
	height, taller int // rows of each; panels, the first ones, that have a row more
}

func newPanels(m, mr int) panels {
	n := ceilDiv(m, mr)
	return panels{m, n, m / max(n, 1), m % max(n, 1)}
}

// rows of panel i.
func (p panels) rows(i int) (lo, hi int) {
	lo = i*p.height + min(i, p.taller)
	hi = lo + p.height
	if i < p.taller {
		hi++
	}
	return lo, hi
}

// packA packs panels [first, last) of the block of A that starts at (i0, p0) and
// has kc columns. Panel i starts at dst[lo*kc], where lo is its first row, and is
// [kc][rows].
func (g *gemm[T]) packA(dst []T, a matrix[T], i0, p0, kc int, ps panels, first, last int) {
	g.packPanels(dst, a, i0, p0, kc, ps, 0, first, last)
}

// packPanels leaves out the first base rows: panel i starts at dst[(lo-base)*kc].
func (g *gemm[T]) packPanels(dst []T, a matrix[T], i0, p0, kc int, ps panels, base, first, last int) {
	for i := first; i < last; i++ {
		lo, hi := ps.rows(i)
		rows, to := hi-lo, dst[(lo-base)*kc:(hi-base)*kc]
		if a.trans {
			for p := range kc {
				copy(to[p*rows:][:rows], a.data[(p0+p)*a.ld+i0+lo:])
			}
			continue
		}
		g.transposed(to, rows, a.data[(i0+lo)*a.ld+p0:], a.ld, rows, kc)
	}
}

// packB packs the columns [j0, j1) of the block of B that starts at row p0 and has
// kc rows. The panel of column j starts at dst[(j-j0)*kc] and is [kc][width],
// where width is nr, or for the last one what is left, rounded up to vl by zeros.
func (g *gemm[T]) packB(dst []T, b matrix[T], p0, kc, j0, j1 int) {
	g.packRowsB(dst, b, p0, kc, j0, j1, 0, kc)
}

// packRowsB packs only the rows [first, last) of those kc.
func (g *gemm[T]) packRowsB(dst []T, b matrix[T], p0, kc, j0, j1, first, last int) {
	if first == last {
		return
	}
	if b.trans {
		for j := j0; j < j1; j += g.nr {
			cols := min(g.nr, j1-j)
			width := ceilDiv(cols, g.vl) * g.vl
			to := dst[(j-j0)*kc:][:kc*width]
			to = to[first*width : last*width]
			if cols < width {
				clear(to)
			}
			g.transposed(to, width, b.data[j*b.ld+p0+first:], b.ld, cols, last-first)
		}
		return
	}
	// A few rows of all panels at a time: the memory is read in long runs, for
	// which the hardware looks ahead.
	whole := (j1 - j0) / g.nr * g.nr
	for p := first; p < last; p += packRows {
		rows := min(packRows, last-p)
		from := b.data[(p0+p)*b.ld+j0:][:(rows-1)*b.ld+j1-j0]
		for j := 0; j < whole; j += g.nr {
			g.copyRows(&dst[j*kc+p*g.nr], &from[j], b.ld, rows)
		}
		if cols := j1 - j0 - whole; cols > 0 {
			width := ceilDiv(cols, g.vl) * g.vl
			to := dst[whole*kc+p*width:][:rows*width]
			for i := range rows {
				row := to[i*width:][:width]
				copy(row, from[i*b.ld+whole:][:cols])
				clear(row[cols:])
			}
		}
	}
}

// packRows is the number of rows that packB copies at a time.
const packRows = 4

// transposed writes dst[p*ldd+i] = src[i*lds+p] for i < rows and p < k.
func (g *gemm[T]) transposed(dst []T, ldd int, src []T, lds, rows, k int) {
	whole := k / g.vl * g.vl
	if rows < g.transposeRows {
		whole = 0
	}
	if whole > 0 {
		_, _ = dst[(whole-1)*ldd+rows-1], src[(rows-1)*lds+whole-1]
		g.transpose(&dst[0], ldd, &src[0], lds, rows, whole)
	}
	for i := range rows {
		for p := whole; p < k; p++ {
			dst[p*ldd+i] = src[i*lds+p]
		}
	}
}

// transposePortable writes dst[p*ldd+i] = src[i*lds+p] for i < rows and p < k.
func transposePortable[T float](dst *T, ldd int, src *T, lds, rows, k int) {
	to, from := unsafe.Slice(dst, (k-1)*ldd+rows), unsafe.Slice(src, (rows-1)*lds+k)
	for i := range rows {
		for p, x := range from[i*lds:][:k] {
			to[p*ldd+i] = x
		}
	}
}

// copyRowsPortable writes dst[p*nr+j] = src[p*lds+j] for p < k and j < nr.
func copyRowsPortable[T float](dst, src *T, lds, k, nr int) {
	to, from := unsafe.Slice(dst, k*nr), unsafe.Slice(src, (k-1)*lds+nr)
	for p := range k {
		copy(to[p*nr:][:nr], from[p*lds:])
	}
}

// at is a pointer n elements further.
func at[T any](p *T, n int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), n*int(unsafe.Sizeof(*p))))
}

// inLanes transposes any number of rows by a kernel that takes n.
func inLanes[T float](n int, f func(dst *T, ldd int, src *T, lds, k int)) func(dst *T, ldd int, src *T, lds, rows, k int) {
	return func(dst *T, ldd int, src *T, lds, rows, k int) {
		for i := 0; i < rows; i += n {
			i := min(i, rows-n)
			f(at(dst, i), ldd, at(src, i*lds), lds, k)
		}
	}
}
