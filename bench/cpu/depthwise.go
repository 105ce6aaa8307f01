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

// depthwise is the plan of a convolution with one filter a channel. Rows of a plane
// are copied with their padding into a buffer that stays in L1, split into the columns
// of each phase of the stride; there every tap is a load from a fixed distance.
type depthwise[T float] struct {
	convShape
	taps     tapsKernel[T]
	copyRows mapKernel[T]
	evenOdd  func(dst *T, ldd, beside int, src *T, lds, rows, n, ahead int)
	phase    int // distance of the phases of a row
	offsets  []int
	block    int // rows of the output for which the buffer takes half of L1
}

// depthwise says whether each channel has one filter of its own.
func (s convShape) depthwise() bool { return s.groups == s.c && s.groups == s.k }

func newDepthwise[T float](isa ISA, caches cacheSizes, s convShape) (*depthwise[T], error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	d := &depthwise[T]{
		convShape: s, taps: newTapsKernel[T](isa), copyRows: vecKernelsFor[T](isa).scale,
		evenOdd: newConvKernels[T](isa).evenOdd,
	}
	d.phase = ceilDiv(max(s.w+2*s.pad, (s.q()-1)*s.stride+s.s), s.stride)
	for tap := range s.r * s.s {
		y, x := tap/s.s, tap%s.s
		d.offsets = append(d.offsets, y*d.pitch()+x%s.stride*d.phase+x/s.stride)
	}
	fit := orElse(caches.L1, typicalCaches.L1) / 2 / int(unsafe.Sizeof(T(0))) / d.pitch()
	d.block = even(s.p(), max((fit-s.r)/s.stride+1, 1), 1)
	return d, nil
}

// pitch is the distance of two rows of the buffer.
func (d *depthwise[T]) pitch() int { return d.phase * d.stride }

// bufferLen is the size of the buffer for some rows of the output. The last load
// reads a whole vector.
func (d *depthwise[T]) bufferLen(rows int) int {
	return ((rows-1)*d.stride+d.r)*d.pitch() + lineElems
}

// rows computes the output rows [p0, p1) of a channel, max(sum + bias, floor). The
// buffer holds zeros where no pixel comes.
func (d *depthwise[T]) rows(dst []T, plane, weights []T, buffer []T, p0, p1 int, bias, floor T) {
	top := p0*d.stride - d.pad
	end := (p1-1)*d.stride - d.pad + d.r
	for _, out := range [2][2]int{{top, min(0, end)}, {max(d.h, top), end}} {
		if n := out[1] - out[0]; n > 0 {
			clear(buffer[(out[0]-top)*d.pitch():][:n*d.pitch()])
		}
	}
	if lo, hi := max(top, 0), min(end, d.h); lo < hi {
		d.fill(buffer[(lo-top)*d.pitch():], plane[lo*d.w:], hi-lo)
	}
	d.taps(&dst[0], &buffer[0], d.q(), d.stride*d.pitch(), p1-p0, d.q(), &d.offsets[0], &weights[0], len(d.offsets), bias, floor)
}

// fill copies rows of a plane into the columns of each phase.
func (d *depthwise[T]) fill(buffer, from []T, rows int) {
	first := d.column(0)
	switch d.stride {
	case 1:
		d.copyRows.matrix(buffer[first:], d.pitch(), from, d.w, nil, 0, rows, d.w, 1, 0)
	case 2:
		d.evenOdd(&buffer[first], d.pitch(), d.column(1)-first, &from[0], d.w, rows, d.w, 0)
	default:
		for j := range d.w {
			to := buffer[d.column(j):]
			for i := range rows {
				to[i*d.pitch()] = from[i*d.w+j]
			}
		}
	}
}

// column is where column j of a plane is in a row of the buffer.
func (d *depthwise[T]) column(j int) int {
	return (j+d.pad)%d.stride*d.phase + (j+d.pad)/d.stride
}

// run computes Y. Each worker of the team has whole planes.
func (d *depthwise[T]) run(w *worker, buffer, x, weights, y []T, epi convEpilogue[T]) {
	lo, hi := w.share(d.n*d.c, 1)
	in, out, taps := d.h*d.w, d.p()*d.q(), len(d.offsets)
	floor := epi.floor
	if epi.residual != nil {
		floor = T(math.Inf(-1))
	}
	for i := lo; i < hi; i++ {
		c := i % d.c
		for p0 := 0; p0 < d.p(); p0 += d.block {
			p1 := min(p0+d.block, d.p())
			rows := y[i*out:][p0*d.q() : p1*d.q()]
			d.rows(rows, x[i*in:][:in], weights[c*taps:][:taps], buffer, p0, p1, epi.bias[c], floor)
			if epi.residual != nil {
				epi.add.slice(rows, rows, epi.residual[i*out+p0*d.q():][:len(rows)], 0, 0)
			}
		}
	}
}
