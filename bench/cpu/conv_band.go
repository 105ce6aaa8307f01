package cpu

import (
	"math"
	"unsafe"
)

// convBlock is what band works on: panels [first, last) of a block of weights, from row
// ic of Y and step pc of k on, and one image.
type convBlock[T float] struct {
	ic, pc, kc int
	add, end   bool // the block does not begin with the first step of k; it ends with the last one
	panels
	first, last int
	weights     []T // packed, from the block on
	image       []T // or its planes: see shifts
	channel     int // the first one in image
	bp, edge    []T
	masks       []int // room for the masks of the steps of a tile
	y           matrix[T]
	convEpilogue[T]
	far int // offset in weights of what is prefetched next, behind the block

	// If Y is of 16 bits, y are partial sums: [panel of nr pixels][channel][nr], from pixel `kept` on; it is empty if there
	// are none. The image's channels of Y begin at element first16 and are ld16 elements apart.
	kept, first16, ld16 int
}

// sumsAt is where in y a channel of the group has the sums of a pixel.
func (t *convBlock[T]) sumsAt(channel, j int) int {
	if t.half == nil {
		return channel*t.y.ld + j
	}
	return ((j-t.kept)/t.y.ld*t.y.rows + channel) * t.y.ld
}

// tileRow is a row of tiles to compute, of one panel of weights: its kernels, its place in C, and that of its partial sums
// while steps of k are missing, which is C itself if that is in T.
type tileRow[T float, C any] struct {
	nearKernels[T, C]
	rows     int
	c, next  *C // the first element of the row of tiles, and of the one that follows
	ldc      int
	sums     *T // nil if a tile takes all steps at once, and C is not in T
	lds      int
	bias     *T
	residual *C // nil if there is none, or the last steps are still missing
	floor    T
}

// right is the row from column n on.
func (r tileRow[T, C]) right(n int) tileRow[T, C] {
	if n == 0 {
		return r
	}
	r.c = at(r.c, n)
	if r.sums != nil {
		r.sums = at(r.sums, n)
	}
	if r.residual != nil {
		r.residual = at(r.residual, n)
	}
	return r
}

// begin is what a kernel takes for bias.
func (r tileRow[T, C]) begin(add bool) *T {
	if add {
		return r.sums
	}
	return r.bias
}

// row is the row of tiles of panel i and the pixels [j, j+cols), in T.
func (v *conv[T]) row(t *convBlock[T], i, j, cols int) tileRow[T, T] {
	lo, hi := t.panels.rows(i)
	rows, i0 := hi-lo, t.ic+lo
	at := t.sumsAt(i0, j)
	y := t.y.data[at:][:(rows-1)*t.y.ld+cols]
	r := tileRow[T, T]{
		nearKernels: v.gemm.nearKernels, rows: rows, c: &y[0], next: &y[0], ldc: t.y.ld, sums: &y[0], lds: t.y.ld,
		bias: &t.bias[i0:][:rows][0], floor: T(math.Inf(-1)),
	}
	if i+1 < t.last {
		r.next = &t.y.data[at+rows*t.y.ld]
	}
	if t.end && t.half == nil {
		r.floor = t.floor
		if t.residual != nil {
			r.residual = &t.residual[at:][:len(y)][0]
		}
	}
	return r
}

// roundedRow is row for the last steps of k, in a type of 16 bits.
func (v *conv[T]) roundedRow(t *convBlock[T], i, j, cols int) tileRow[T, uint16] {
	lo, hi := t.panels.rows(i)
	rows, i0 := hi-lo, t.ic+lo
	at := t.first16 + i0*t.ld16 + j
	y := t.half.y[at:][:(rows-1)*t.ld16+cols]
	r := tileRow[T, uint16]{
		nearKernels: v.rounding, rows: rows, c: &y[0], next: &y[0], ldc: t.ld16,
		bias: &t.bias[i0:][:rows][0], floor: T(t.half.floor), residual: startOf(t.half.residual, at, len(y)),
	}
	if v.sums > 0 {
		r.sums, r.lds = &t.y.data[t.sumsAt(i0, j):][:rows*t.y.ld][0], t.y.ld
	}
	if i+1 < t.last {
		r.next = &t.half.y[at+rows*t.ld16]
	}
	return r
}

// band packs the panels of im2col(X) of cols pixels from j on, or has the first tiles pack
// them, and multiplies all panels of weights by them while they are in the cache.
func (v *conv[T]) band(t *convBlock[T], j, cols int) {
	g := v.gemm
	bp := t.bp[:ceilDiv(cols, g.vl)*g.vl*t.kc]
	direct := cols // columns that the kernel can write to Y
	if !g.masked && cols%g.vl != 0 {
		direct = cols / g.nr * g.nr
	}
	onTheWay := 0 // columns that the first tiles pack
	switch {
	case v.shifts == nil:
		v.im2col.pack(bp, t.image, t.pc, t.kc, j, j+cols)
	case g.masked:
		onTheWay = cols
	default:
		if v.shifts.everyPixel() {
			onTheWay = cols / g.nr * g.nr
		}
		v.shifts.pack(bp[onTheWay*t.kc:], t.image, t.channel, t.pc, t.kc, j+onTheWay, j+cols)
	}
	t.add, t.end = t.pc > 0, t.pc+t.kc == g.k
	for i := t.first; i < t.last; i++ {
		if t.end && t.half != nil {
			multiplyRow(v, t, v.roundedRow(t, i, j, cols), i, j, cols, onTheWay, bp)
		} else {
			r := v.row(t, i, j, cols)
			multiplyRow(v, t, r, i, j, direct, onTheWay, bp)
			if direct < cols {
				v.edge(t, r.right(direct), i, cols-direct, bp[direct*t.kc:])
			}
		}
		onTheWay = 0
	}
}

// multiplyRow multiplies panel i of the weights by cols columns of im2col(X), packed in bp but for onTheWay of them, which it
// packs.
func multiplyRow[T float, C any](v *conv[T], t *convBlock[T], r tileRow[T, C], i, j, cols, onTheWay int, bp []T) {
	a := t.filters(i)
	packTiles(v.shifts, t, r, onTheWay, a, j, bp)
	if onTheWay < cols {
		r = r.right(onTheWay)
		far, left := &t.weights[min(t.far, len(t.weights)-1)], cols-onTheWay
		r.tileNear(r.rows, left, t.kc, &a[0], &bp[onTheWay*t.kc], r.c, r.ldc, t.add, r.next, r.begin(t.add), r.residual, r.floor, far, perLine[T]())
		t.far += ceilDiv(left, v.gemm.nr) * t.kc / 4 * perLine[T]()
	}
}

// filters is panel i of the weights.
func (t *convBlock[T]) filters(i int) []T {
	lo, hi := t.panels.rows(i)
	return t.weights[lo*t.kc:][:(hi-lo)*t.kc]
}

// edge is a tile whose last vector is not whole, and cannot be written as it is.
func (v *conv[T]) edge(t *convBlock[T], r tileRow[T, T], i, cols int, bp []T) {
	width := ceilDiv(cols, v.gemm.vl) * v.gemm.vl
	to := &t.edge[0]
	v.gemm.tileNear(r.rows, width, t.kc, &t.filters(i)[0], &bp[0], to, width, false, to, nil, nil, T(math.Inf(-1)), to, 0)
	y := unsafe.Slice(r.c, (r.rows-1)*r.ldc+cols)
	for i := range r.rows {
		row, from := y[i*r.ldc:][:cols], t.edge[i*width:]
		for j := range row {
			if !t.add {
				row[j] = 0
			}
			row[j] += from[j]
		}
	}
	bias := r.bias
	if t.add {
		bias = nil // it is part of the sum
	}
	finishPortable(r.rows, cols, r.c, r.ldc, bias, r.residual, r.floor)
}
