package cpu

import "unsafe"

// windows reads the taps of windows over planes, as a depthwise convolution and a pool want
// them. Rows of a plane are copied with their padding into a buffer that stays in L1, split into
// the columns of each phase of the stride; there every tap is a load from a fixed distance.
type windows[T float] struct {
	convShape
	outside  T // what the padding is
	copyRows mapKernel[T, T]
	setRows  mapKernel[T, T]
	evenOdd  func(dst *T, ldd, beside int, src *T, lds, rows, n, ahead int)
	phase    int // distance of the phases of a row, in whole lines: a load that crosses lines takes twice as long
	offsets  []int
	block    int // rows of the output for which the buffer takes half of L1
}

func newWindows[T float](isa ISA, caches cacheSizes, s convShape, outside T) windows[T] {
	k := vecKernelsFor[T](isa)
	v := windows[T]{convShape: s, outside: outside, copyRows: k.scale, setRows: k.set, evenOdd: newConvKernels[T](isa).evenOdd}
	line := 64 / int(unsafe.Sizeof(T(0)))
	v.phase = ceilDiv(ceilDiv(max(s.w+2*s.pad, (s.q()-1)*s.stride+s.s), s.stride), line) * line
	for tap := range s.r * s.s {
		y, x := tap/s.s, tap%s.s
		v.offsets = append(v.offsets, y*v.pitch()+x%s.stride*v.phase+x/s.stride)
	}
	fit := orElse(caches.L1, typicalCaches.L1) / 2 / int(unsafe.Sizeof(T(0))) / v.pitch()
	v.block = even(s.p(), max((fit-s.r)/s.stride+1, 1), 1)
	return v
}

// pitch is the distance of two rows of the buffer.
func (v *windows[T]) pitch() int { return v.phase * v.stride }

// bufferLen is the size of the buffer for some rows of the output. The last load
// reads a whole vector.
func (v *windows[T]) bufferLen(rows int) int {
	return ((rows-1)*v.stride+v.r)*v.pitch() + lineElems
}

// prepare fills a buffer with padding, which stays where no pixel comes.
func (v *windows[T]) prepare(buffer []T) { v.setRows.slice(buffer, buffer, nil, 0, v.outside) }

// buffers are prepared, one for each worker.
func (v *windows[T]) buffers(ws *workspace) ([][]T, error) {
	all, err := blocksOf[T](ws, v.bufferLen(v.block))
	for _, b := range all {
		v.prepare(b)
	}
	return all, err
}

// load copies the rows of a plane that the output rows [p0, p1) read into a prepared buffer. A buffer for
// whole planes still has its padding from prepare.
func (v *windows[T]) load(buffer, plane []T, p0, p1 int) {
	top := p0*v.stride - v.pad
	end := (p1-1)*v.stride - v.pad + v.r
	if p1-p0 == v.p() {
		if rows := min(v.h, end); rows > 0 {
			v.fill(buffer[v.pad*v.pitch():], plane, rows)
		}
		return
	}
	for _, out := range [2][2]int{{top, min(0, end)}, {max(v.h, top), end}} {
		if n := out[1] - out[0]; n > 0 {
			v.prepare(buffer[(out[0]-top)*v.pitch():][:n*v.pitch()])
		}
	}
	if lo, hi := max(top, 0), min(end, v.h); lo < hi {
		v.fill(buffer[(lo-top)*v.pitch():], plane[lo*v.w:], hi-lo)
	}
}

// fill copies rows of a plane into the columns of each phase.
func (v *windows[T]) fill(buffer, from []T, rows int) {
	first := v.column(0)
	switch v.stride {
	case 1:
		v.copyRows.matrix(buffer[first:], v.pitch(), from, v.w, nil, 0, rows, v.w, 1, 0)
	case 2:
		v.evenOdd(&buffer[first], v.pitch(), v.column(1)-first, &from[0], v.w, rows, v.w, 0)
	default:
		for j := range v.w {
			to := buffer[v.column(j):]
			for i := range rows {
				to[i*v.pitch()] = from[i*v.w+j]
			}
		}
	}
}

// column is where column j of a plane is in a row of the buffer.
func (v *windows[T]) column(j int) int {
	return (j+v.pad)%v.stride*v.phase + (j+v.pad)/v.stride
}

// blocks lets f compute blocks of output rows [p0, p1) of the planes [lo, hi).
func (v *windows[T]) blocks(lo, hi int, f func(plane, p0, p1 int)) {
	for i := lo; i < hi; i++ {
		for p0 := 0; p0 < v.p(); p0 += v.block {
			f(i, p0, min(p0+v.block, v.p()))
		}
	}
}
