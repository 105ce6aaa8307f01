package cpu

import "unsafe"

// separable is the plan of a depthwise convolution with ReLU, and a 1x1 convolution of
// its result, as in MobileNet: a few rows of all channels at a time, which the second
// finds in L2 where the first has left them.
//
// Each worker has blocks of rows of its own. But it reads all weights for each block; where
// these do not stay in L2, all workers share a block: its channels in the first
// convolution, its filters or pixels in the second.
type separable[T float] struct {
	first *depthwise[T]
	// second has images of the rows of a block, or of the rows that are left in the
	// last block of an image.
	second, last *conv[T]
	block        int // rows of the intermediate
	filters      int
	team         int // workers that share a block
}

func newSeparable[T float](isa ISA, caches cacheSizes, threads int, s convShape, filters int) (*separable[T], error) {
	d, err := newDepthwise[T](isa, caches, s)
	if err != nil {
		return nil, err
	}
	// The rows take half of L2, and every worker has some.
	l2, size := orElse(caches.L2, typicalCaches.L2), int(unsafe.Sizeof(T(0)))
	v := &separable[T]{first: d, filters: filters, team: 1}
	if filters*s.c*size > l2 {
		v.team = threads
	}
	fit := v.team * l2 / 2 / size / (s.c * s.q())
	v.block = even(s.p(), max(min(fit, v.team*s.n*s.p()/threads), 1), 1)
	if v.second, err = v.pointwise(isa, caches, v.block); err != nil {
		return nil, err
	}
	v.last, err = v.pointwise(isa, caches, s.p()-(ceilDiv(s.p(), v.block)-1)*v.block)
	return v, err
}

func (v *separable[T]) pointwise(isa ISA, caches cacheSizes, rows int) (*conv[T], error) {
	return newConv[T](isa, caches, v.team, convShape{n: 1, c: v.first.c, h: rows, w: v.first.q(), k: v.filters, r: 1, s: 1, stride: 1, groups: 1})
}

// separableScratch is what a worker works in; of a team all have the same rows and gemm.
type separableScratch[T float] struct {
	buffer, rows []T
	gemm         *convScratch[T]
}

// newScratch allocates that of all workers, with the zeros that the depthwise convolution
// wants.
func (v *separable[T]) newScratch(alloc func(bytes int64) ([]byte, error), workers int) ([]separableScratch[T], error) {
	d, size := v.first, int64(unsafe.Sizeof(T(0)))
	all := make([]separableScratch[T], workers)
	for i := range all {
		s := &all[i]
		mem, err := alloc(int64(d.bufferLen(v.block)) * size)
		if err != nil {
			return nil, err
		}
		clear(mem)
		s.buffer = as[T](mem)
		if first := &all[i/v.team*v.team]; first != s {
			s.rows, s.gemm = first.rows, first.gemm
			continue
		}
		if mem, err = alloc(int64(d.c*v.block*d.q()) * size); err != nil {
			return nil, err
		}
		s.rows = as[T](mem)
		if mem, err = alloc(max(v.second.scratchBytes(), v.last.scratchBytes())); err != nil {
			return nil, err
		}
		if s.gemm, err = v.second.newScratch(mem); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// run computes Y[N,filters,P,Q], block by block of rows of all images.
func (v *separable[T]) run(w *worker, s separableScratch[T], x, taps, weights, y []T, first, second convEpilogue[T]) {
	d := v.first
	p, q := d.p(), d.q()
	blocks, in, count := ceilDiv(p, v.block), d.h*d.w, len(d.offsets)
	lo, hi := w.share(d.n*blocks, 1)
	c0, c1, id := 0, d.c, 0
	if v.team > 1 {
		lo, hi, id = 0, d.n*blocks, w.id
		c0, c1 = w.share(d.c, 1)
	}
	for i := lo; i < hi; i++ {
		n, p0 := i/blocks, i%blocks*v.block
		p1 := min(p0+v.block, p)
		pixels := (p1 - p0) * q
		if v.team > 1 && i > lo {
			w.barrier() // the rows of the block before have been read
		}
		for c := c0; c < c1; c++ {
			d.rows(s.rows[c*pixels:][:pixels], x[(n*d.c+c)*in:][:in], taps[c*count:][:count], s.buffer, p0, p1, first.bias[c], first.floor)
		}
		if v.team > 1 {
			w.barrier()
		}
		conv := v.second
		if p1-p0 < v.block {
			conv = v.last
		}
		t := convBlock[T]{
			image: s.rows[:d.c*pixels], bp: s.gemm.b[id], edge: s.gemm.c[id], convEpilogue: second,
			y: matrix[T]{data: y[n*v.filters*p*q+p0*q:], rows: v.filters, cols: pixels, ld: p * q},
		}
		g := conv.gemm
		j0, j1 := part(pixels, g.nr, id%g.cols, g.cols)
		conv.multiply(&t, weights, id/g.cols, j0, j1)
	}
}
