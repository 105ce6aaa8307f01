package cpu

import (
	"math/bits"
	"slices"
	"unsafe"
)

// phase is where a plane begins in X: see shifts. The column may be beyond the stride: see newShifts.
type phase struct{ y, x int }

// rowPhases are the phases of the same rows whose columns are less than a stride behind one, x: at is where the plane of each
// of them begins among those of a channel, or noPlane.
type rowPhases struct {
	phase
	at []int
}

const noPlane = -1

// byRows are those of all phases.
func (m *shifts[T]) byRows() []rowPhases {
	var all []rowPhases
	for i, p := range m.phases {
		first := phase{p.y, p.x / m.stride * m.stride}
		which := slices.IndexFunc(all, func(p rowPhases) bool { return p.phase == first })
		if which < 0 {
			which = len(all)
			all = append(all, rowPhases{first, slices.Repeat([]int{noPlane}, m.stride)})
		}
		all[which].at[p.x-first.x] = i * m.height * m.width
	}
	return all
}

// inPlace says that the planes of X are those of the only phase.
func (m *shifts[T]) inPlace() bool { return m.stride == 1 && m.width == m.w }

// planes is the size of the planes of one channel.
func (m *shifts[T]) planes() int { return len(m.phases) * m.height * m.width }

// planesLen is the length that split wants for a group of channels.
func (m *shifts[T]) planesLen() int {
	switch {
	case m == nil || m.inPlace():
		return 0
	case m.tapByTap():
		return m.channels*m.planes() + m.roomLen()
	}
	return m.block*m.planes() + m.roomLen()
}

// roomLen is the length of what deinterleave needs besides, or more: at each level but the last both halves of rows, which are
// at most stride*width long.
func (m *shifts[T]) roomLen() int {
	levels := bits.Len(uint(m.stride)) - 1
	return max(levels-1, 0) * m.height * m.stride * m.width
}

// split copies the planes of so many channels of an image to dst, as far as the output
// pixels [j0, j1) need them, or gives the image if it has them.
func (m *shifts[T]) split(dst, image []T, channels, j0, j1 int) []T {
	if m.inPlace() {
		return image
	}
	top, bottom := m.height, 0
	for _, t := range m.taps {
		top, bottom = min(top, t.rows), max(bottom, t.rows+1)
	}
	first, end := max(j0/m.width+top, 0), (j1-1)/m.width+bottom
	ahead := 0
	if len(m.phases) > 1 {
		// The same rows of the next channel, as others may belong to another worker. For the one
		// phase of a 1x1 it does not pay.
		ahead = m.h * m.w
	}
	for c := range channels {
		to, from := dst[c*m.planes():][:m.planes()], image[c*m.h*m.w:][:m.h*m.w]
		for _, p := range m.rowPhases {
			if rows := min(end, ceilDiv(m.h-p.y, m.stride)) - first; rows > 0 && p.x < m.w {
				d := deinterleave[T]{m.evenOdd, to[first*m.width:], p.at, m.width, rows}
				d.run(0, 1, from[(p.y+first*m.stride)*m.w+p.x:], m.stride*m.w, min(m.stride*m.width, m.w-p.x), ahead, dst[channels*m.planes():])
			}
		}
	}
	return dst
}

// deinterleave splits rows by even and odd columns, and these again, as often as it takes. With one plane it copies them.
type deinterleave[T float] struct {
	evenOdd   func(dst *T, ldd, beside int, src *T, lds, rows, n, ahead int)
	to        []T   // of every plane, if it began at 0
	planes    []int // of column i, modulo their number
	ldd, rows int
}

// run takes rows of n elements, lds apart, which are the columns x, x+step, ...
func (d *deinterleave[T]) run(x, step int, src []T, lds, n, ahead int, room []T) {
	if n <= 0 || !d.wanted(x, step) {
		return
	}
	if 2*step < len(d.planes) {
		half := ceilDiv(n, 2)
		odd, beside := d.rows*half, 0
		if d.wanted(x+step, 2*step) {
			beside = odd
		}
		d.evenOdd(&room[0], half, beside, &src[0], lds, d.rows, n, ahead)
		d.run(x, 2*step, room, half, half, 0, room[2*odd:])
		d.run(x+step, 2*step, room[odd:], half, n/2, 0, room[2*odd:])
		return
	}
	if len(d.planes) == 1 {
		for i := range d.rows {
			copy(d.to[d.planes[0]+i*d.ldd:], src[i*lds:][:n])
		}
		return
	}
	even, odd := d.planes[x], d.planes[x+step]
	switch {
	case odd == noPlane:
		d.evenOdd(&d.to[even], d.ldd, 0, &src[0], lds, d.rows, n, ahead)
	case even != noPlane:
		d.evenOdd(&d.to[even], d.ldd, odd-even, &src[0], lds, d.rows, n, ahead)
	case n > 1:
		d.evenOdd(&d.to[odd], d.ldd, 0, &src[1], lds, d.rows, n-1, ahead)
	}
}

// wanted says whether one of these columns has a plane.
func (d *deinterleave[T]) wanted(x, step int) bool {
	for ; x < len(d.planes); x += step {
		if d.planes[x] != noPlane {
			return true
		}
	}
	return false
}

// evenOddPortable splits rows of n elements; see convKernels.
func evenOddPortable[T float](dst *T, ldd, beside int, src *T, lds, rows, n, _ int) {
	to := func(i int) *T { return (*T)(unsafe.Add(unsafe.Pointer(dst), i*int(unsafe.Sizeof(*dst)))) }
	from := unsafe.Slice(src, (rows-1)*lds+n)
	for i := range rows {
		for j, x := range from[i*lds:][:n] {
			switch {
			case j%2 == 0:
				*to(i*ldd + j/2) = x
			case beside != 0:
				*to(beside + i*ldd + j/2) = x
			}
		}
	}
}
