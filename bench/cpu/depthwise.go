package cpu

import (
	"math"
	"unsafe"
)

// tapsKernel sums up the taps of a depthwise convolution for m rows of n pixels:
// see tapsPortable.
type tapsKernel[T float] func(dst, src *T, ldd, lds, m, n int, offsets *int, weights *T, taps int, bias, floor T)

// tapsPortable writes dst[i*ldd+j] = max(bias + sum over t of weights[t]
// src[i*lds+offsets[t]+j], floor) for i < m and j < n.
func tapsPortable[T float](dst, src *T, ldd, lds, m, n int, offsets *int, weights *T, taps int, bias, floor T) {
	offs, ws := unsafe.Slice(offsets, taps), unsafe.Slice(weights, taps)
	to := unsafe.Slice(dst, (m-1)*ldd+n)
	for i := range m {
		row := to[i*ldd:][:n]
		for j := range row {
			row[j] = bias
		}
		for t, w := range ws {
			from := unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(src), (i*lds+offs[t])*int(unsafe.Sizeof(w)))), n)
			for j, x := range from {
				row[j] += w * x
			}
		}
		for j, x := range row {
			row[j] = max(x, floor)
		}
	}
}

// planesKernel writes m rows of q pixels of each of some channels, with windows of 3x3, a padding of 1
// and its stride:
//
//	dst[i*q+j] = max(bias + sum over y and x of weights[3*y+x] src[(i*stride+y-1)*w+j*stride+x-1], floor)
//
// What is outside of the w columns of an image is 0, and so are the row before the first of src unless it
// is above, and the one behind the middle of the last window unless it is below. Channels are ddst and
// dsrc apart; of weights they have 9 each. No copy is made of an image with its padding.
//
// A kernel for whole vectors needs an even w and a stride of 2. If q is less than a vector, it reads and writes beyond
// the end of each row, before it writes the next row: the channels must be contiguous, and `spill` more, which are
// written later, must follow them.
type planesKernel[T float] func(dst, src *T, channels, m, w, q, ddst, dsrc int, weights, bias *T, floor T, above, below bool)

// depthwise is the plan of a convolution with one filter a channel.
type depthwise[T float] struct {
	windows[T]
	taps   tapsKernel[T]
	planes planesKernel[T] // nil where there is none for the windows
	whole  planesKernel[T] // for whole vectors; nil where there is none for the windows
	spill  int             // the number of channels that have to follow those of whole
}

// depthwise says whether each channel has one filter of its own.
func (s convShape) depthwise() bool { return s.groups == s.c && s.groups == s.k }

func newDepthwise[T float](isa ISA, caches cacheSizes, s convShape) (*depthwise[T], error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	d := &depthwise[T]{windows: newWindows[T](isa, caches, s, 0), taps: newTapsKernel[T](isa)}
	if s.r == 3 && s.s == 3 && s.pad == 1 && s.h*max(s.w, lineElems) <= planeMost {
		d.planes = newPlanesKernel[T](isa, s.stride)
	}
	if d.planes != nil && s.w%2 == 0 {
		var lanes int
		d.whole, lanes = newWholePlanes[T](isa, s.stride, s.q())
		d.spill = ceilDiv(max(0, lanes-s.q()), s.q())
	}
	return d, nil
}

// planeMost bounds the pixels of a plane that a planesKernel takes in one call, at ten cycles a vector; shorter
// rows count as lineElems pixels.
const planeMost = 1 << 18

// rows computes the output rows [p0, p1) of some channels, max(sum + bias, floor). The planes of the channels are
// contiguous, and so are their weights and biases. dst has those rows only.
func (d *depthwise[T]) rows(dst, planes, weights, bias, buffer []T, p0, p1 int, floor T) {
	in, out, taps, m := d.h*d.w, (p1-p0)*d.q(), len(d.offsets), p1-p0
	if d.planes == nil {
		for c, b := range bias {
			d.load(buffer, planes[c*in:][:in], p0, p1)
			d.taps(&dst[c*out:][:out][0], &buffer[0], d.q(), d.stride*d.pitch(), m, d.q(), &d.offsets[0], &weights[c*taps:][:taps][0], taps, b, floor)
		}
		return
	}
	above, below := p0 > 0, (p1-1)*d.stride+1 < d.h
	most := max(1, vecCall/in)
	for c, n := 0, 0; c < len(bias); c += n {
		kernel := d.planes
		if n = min(most, len(bias)-c); d.whole != nil && n > d.spill {
			kernel, n = d.whole, n-d.spill
		}
		kernel(&dst[c*out:][:n*out][0], &planes[c*in:][:n*in][p0*d.stride*d.w], n, m, d.w, d.q(), out, in, &weights[c*taps:][:n*taps][0], &bias[c], floor, above, below)
	}
}

// run computes Y. Each worker of the team has whole planes.
func (d *depthwise[T]) run(w *worker, buffer, x, weights, y []T, epi convEpilogue[T]) {
	lo, hi := w.share(d.n*d.c, 1)
	in, out, taps := d.h*d.w, d.p()*d.q(), len(d.offsets)
	floor := epi.floor
	if epi.residual != nil {
		floor = T(math.Inf(-1))
	}
	d.blocks(lo, hi, func(i, n, p0, p1 int) {
		c := i % d.c
		rows := y[i*out+p0*d.q():][:(n-1)*out+(p1-p0)*d.q()]
		d.rows(rows, x[i*in:][:n*in], weights[c*taps:][:n*taps], epi.bias[c:][:n], buffer, p0, p1, floor)
		if epi.residual != nil {
			epi.add.slice(rows, rows, epi.residual[i*out+p0*d.q():][:len(rows)], 0, 0)
		}
	})
}

// blocks lets f compute blocks of output rows [p0, p1) of n of the planes [lo, hi), from plane i on:
// of a single plane, or whole planes of one image.
func (d *depthwise[T]) blocks(lo, hi int, f func(i, n, p0, p1 int)) {
	if d.planes == nil {
		d.windows.blocks(lo, hi, func(i, p0, p1 int) { f(i, 1, p0, p1) })
		return
	}
	most := max(1, vecCall/(d.h*d.w))
	for i := lo; i < hi; {
		n := min(most, hi-i, d.c-i%d.c)
		f(i, n, 0, d.p())
		i += n
	}
}
