package cpu

import "unsafe"

// separable is the plan of a depthwise convolution with ReLU, and a 1x1 convolution of
// its result, as in MobileNet: a few rows of all channels at a time, which the second
// finds in L2 where the first has left them.
type separable[T float] struct {
	first *depthwise[T]
	// second has images of the rows of a block, or of the rows that are left in the
	// last block of an image.
	second, last *conv[T]
	block        int // rows of the intermediate
	filters      int
}

func newSeparable[T float](isa ISA, caches cacheSizes, threads int, s convShape, filters int) (*separable[T], error) {
	d, err := newDepthwise[T](isa, caches, s)
	if err != nil {
		return nil, err
	}
	// The rows take a quarter of L2, and every worker has some.
	fit := orElse(caches.L2, typicalCaches.L2) / 4 / int(unsafe.Sizeof(T(0))) / (s.c * s.q())
	v := &separable[T]{first: d, filters: filters}
	v.block = even(s.p(), max(min(fit, s.n*s.p()/threads), 1), 1)
	if v.second, err = v.pointwise(isa, caches, v.block); err != nil {
		return nil, err
	}
	v.last, err = v.pointwise(isa, caches, s.p()-(ceilDiv(s.p(), v.block)-1)*v.block)
	return v, err
}

func (v *separable[T]) pointwise(isa ISA, caches cacheSizes, rows int) (*conv[T], error) {
	return newConv[T](isa, caches, 1, convShape{n: 1, c: v.first.c, h: rows, w: v.first.q(), k: v.filters, r: 1, s: 1, stride: 1, groups: 1})
}

// separableScratch is what one worker works in.
type separableScratch[T float] struct {
	buffer, rows []T
	gemm         *convScratch[T]
}

// newScratch allocates it, with the zeros that the depthwise convolution wants.
func (v *separable[T]) newScratch(alloc func(bytes int64) ([]byte, error)) (s separableScratch[T], err error) {
	d, size := v.first, int64(unsafe.Sizeof(T(0)))
	var mem [3][]byte
	for i, n := range []int64{
		int64(d.bufferLen(v.block)) * size, int64(d.c*v.block*d.q()) * size, max(v.second.scratchBytes(), v.last.scratchBytes()),
	} {
		if mem[i], err = alloc(n); err != nil {
			return s, err
		}
	}
	clear(mem[0])
	s.buffer, s.rows = as[T](mem[0]), as[T](mem[1])
	s.gemm, err = v.second.newScratch(mem[2])
	return s, err
}

// run computes Y[N,filters,P,Q]. The workers share the blocks of rows of all images.
func (v *separable[T]) run(w *worker, s separableScratch[T], x, taps, weights, y []T, first, second convEpilogue[T]) {
	d := v.first
	p, q := d.p(), d.q()
	blocks, in, count := ceilDiv(p, v.block), d.h*d.w, len(d.offsets)
	lo, hi := w.share(d.n*blocks, 1)
	for i := lo; i < hi; i++ {
		n, p0 := i/blocks, i%blocks*v.block
		p1 := min(p0+v.block, p)
		pixels := (p1 - p0) * q
		for c := range d.c {
			d.rows(s.rows[c*pixels:][:pixels], x[(n*d.c+c)*in:][:in], taps[c*count:][:count], s.buffer, p0, p1, first.bias[c], first.floor)
		}
		conv := v.second
		if p1-p0 < v.block {
			conv = v.last
		}
		t := convBlock[T]{
			image: s.rows[:d.c*pixels], bp: s.gemm.b[0], edge: s.gemm.c[0], convEpilogue: second,
			y: matrix[T]{data: y[n*v.filters*p*q+p0*q:], rows: v.filters, cols: pixels, ld: p * q},
		}
		conv.multiply(&t, weights, 0, 0, pixels)
	}
}
