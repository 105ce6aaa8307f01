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

// depthwise is the plan of a convolution with one filter a channel.
type depthwise[T float] struct {
	windows[T]
	taps tapsKernel[T]
}

// depthwise says whether each channel has one filter of its own.
func (s convShape) depthwise() bool { return s.groups == s.c && s.groups == s.k }

func newDepthwise[T float](isa ISA, caches cacheSizes, s convShape) (*depthwise[T], error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return &depthwise[T]{newWindows[T](isa, caches, s, 0), newTapsKernel[T](isa)}, nil
}

// rows computes the output rows [p0, p1) of a channel, max(sum + bias, floor).
func (d *depthwise[T]) rows(dst []T, plane, weights []T, buffer []T, p0, p1 int, bias, floor T) {
	d.load(buffer, plane, p0, p1)
	d.taps(&dst[0], &buffer[0], d.q(), d.stride*d.pitch(), p1-p0, d.q(), &d.offsets[0], &weights[0], len(d.offsets), bias, floor)
}

// run computes Y. Each worker of the team has whole planes.
func (d *depthwise[T]) run(w *worker, buffer, x, weights, y []T, epi convEpilogue[T]) {
	lo, hi := w.share(d.n*d.c, 1)
	in, out, taps := d.h*d.w, d.p()*d.q(), len(d.offsets)
	floor := epi.floor
	if epi.residual != nil {
		floor = T(math.Inf(-1))
	}
	d.blocks(lo, hi, func(i, p0, p1 int) {
		c := i % d.c
		rows := y[i*out:][p0*d.q() : p1*d.q()]
		d.rows(rows, x[i*in:][:in], weights[c*taps:][:taps], buffer, p0, p1, epi.bias[c], floor)
		if epi.residual != nil {
			epi.add.slice(rows, rows, epi.residual[i*out+p0*d.q():][:len(rows)], 0, 0)
		}
	})
}
