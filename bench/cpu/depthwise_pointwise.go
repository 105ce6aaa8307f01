package cpu

import "unsafe"

// separable is the plan of a depthwise convolution with ReLU, and a 1x1 convolution of
// its result, as in MobileNet: a few rows of all channels at a time, which the second
// finds in L2 where the first has left them.
//
// There are two ways, and both are tried. Either each worker has blocks of rows of its own, which stay in its L2. But
// then it reads all weights for each block, small blocks leave vectors partly empty, and some workers may have
// more rows than others. Or all workers share a block, and divide its channels in the first convolution, its filters
// or pixels in the second: then what one has written reaches the others through L3. On two cores of a Zen 4 the second
// way takes a tenth longer with images of 512x14x14, and 5% less time with 256x28x28 and a stride of 2.
type separable[T float] struct {
	first *depthwise[T]
	// second has images of the rows of a block, or of the rows that are left in the
	// last block of an image.
	second, last convPlan[T]
	block        int // rows of the intermediate
	filters      int
	team         int // workers that share a block
}

// newSeparable is the plan for teams of so many workers: one, or all.
func newSeparable[T float](isa ISA, caches cacheSizes, threads, team int, s convShape, filters int) (*separable[T], error) {
	d, err := newDepthwise[T](isa, caches, s)
	if err != nil {
		return nil, err
	}
	// The rows of a block take 7/8 of L2, as weights and result only stream through it. With half of
	// L2 a Zen 4 takes an eighth longer with images of 256x28x28, which 7/8 hold whole.
	kernels := newGEMMKernels[T](isa)
	l2, size := orElse(caches.L2, typicalCaches.L2), int(unsafe.Sizeof(T(0)))
	v := &separable[T]{first: d, filters: filters, team: team}
	v.block = even(s.p(), max(team*l2*7/8/size/(s.c*s.q()), 1), 1)
	// Smaller blocks, if the busiest worker then has fewer rows.
	busiest := func(block int) int {
		return min(ceilDiv(s.n*ceilDiv(s.p(), block), threads/team)*block, s.n*s.p())
	}
	for block := v.block; block > 1; {
		block = even(s.p(), block-1, 1)
		if busiest(block) < busiest(v.block) {
			v.block = block
		}
	}
	// Both have the same layout of the weights.
	second, last := v.pointwise(v.block), v.pointwise(s.p()-(ceilDiv(s.p(), v.block)-1)*v.block)
	pixelMajor := pixelMajorGain(second, kernels, newBlocking(kernels, caches).kc) > 1
	if v.second, err = convPlanOf(newConvUnit[T](isa), caches, v.team, second, pixelMajor); err != nil {
		return nil, err
	}
	v.last, err = convPlanOf(newConvUnit[T](isa), caches, v.team, last, pixelMajor)
	return v, err
}

func (v *separable[T]) pointwise(rows int) convShape {
	return convShape{n: 1, c: v.first.c, h: rows, w: v.first.q(), k: v.filters, r: 1, s: 1, stride: 1, groups: 1}
}

// separableScratch is what a worker works in; of a team all have the same rows and gemms.
type separableScratch[T float] struct {
	buffer, rows []T
	second, last *convScratch[T]
}

// newScratch allocates that of all workers, prepared for the depthwise convolution.
func (v *separable[T]) newScratch(alloc func(bytes int64) ([]byte, error), workers int) ([]separableScratch[T], error) {
	d, size := v.first, int64(unsafe.Sizeof(T(0)))
	all := make([]separableScratch[T], workers)
	for i := range all {
		s := &all[i]
		if d.planes == nil {
			mem, err := alloc(int64(d.bufferLen(v.block)) * size)
			if err != nil {
				return nil, err
			}
			s.buffer = as[T](mem)
			d.prepare(s.buffer)
		}
		if first := &all[i/v.team*v.team]; first != s {
			s.rows, s.second, s.last = first.rows, first.second, first.last
			continue
		}
		mem, err := alloc(int64(d.c*v.block*d.q()) * size)
		if err != nil {
			return nil, err
		}
		s.rows = as[T](mem)
		if s.second, err = newConvScratch(v.second, alloc); err != nil {
			return nil, err
		}
		if s.last, err = newConvScratch(v.last, alloc); err != nil {
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
		if c0 < c1 {
			d.rows(s.rows[c0*pixels:c1*pixels], x[(n*d.c+c0)*in:(n*d.c+c1)*in], taps[c0*count:c1*count], first.bias[c0:c1], s.buffer, p0, p1, first.floor)
		}
		if v.team > 1 {
			w.barrier()
		}
		plan, scratch := v.second, s.second
		if p1-p0 < v.block {
			plan, scratch = v.last, s.last
		}
		plan.run(id, scratch, s.rows[:d.c*pixels], weights, y[n*v.filters*p*q+p0*q:], p*q, second)
	}
}
