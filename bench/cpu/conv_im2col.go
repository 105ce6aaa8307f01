package cpu

import "unsafe"

// im2col packs panels of the matrix im2col(X)[CRS,PQ] straight from X.
//
// A panel is gathered for one tap and many channels with the same offsets.
type im2col[T float] struct {
	convShape
	convSteps
	gemmKernels[T]
	convKernels[T]
	// lanes has one entry for each vector of pixels and tap: [vector][tap].
	lanes []lanes
}

// maxRuns is the number of pieces that a vector may have to be loaded in pieces.
const maxRuns = 4

// lanes tells where in an image the pixels of one vector are, for one tap.
type lanes struct {
	// Up to four runs of neighbours: lane i comes from offset[r]+i if bit i of
	// mask[r] is set. A lane in no run is padding.
	offset [maxRuns]int32
	mask   [maxRuns]uint16
	// Or lane i comes from index[i], if bit i of mask[0] is set.
	index *[16]int32
}

// convKernels gather one vector of pixels for n channels that are channel elements
// apart: dst[p*ldd+lane], p < n.
type convKernels[T float] struct {
	runs   func(dst *T, ldd int, src *T, channel, n int, l *lanes)
	gather func(dst *T, ldd int, src *T, channel, n int, index *[16]int32, mask int)
	// evenOdd writes dst[i*ldd+j] = src[i*lds+2*j] for i < rows and 2*j < n and, unless
	// beside is 0, dst[beside+i*ldd+j] = src[i*lds+2*j+1] for 2*j+1 < n. It may fetch what
	// is ahead elements further, unless that is 0.
	evenOdd func(dst *T, ldd, beside int, src *T, lds, rows, n, ahead int)
	// packRun writes dst[p*row+i] = src[p*channel+at+i] where bit i of mask is set, or 0,
	// for p < n and i < row, two vectors at most, and fetches what is ahead elements further.
	// It may be nil.
	packRun func(dst *T, row int, src *T, channel, n, at, ahead, mask int)
	// packTaps writes dst[p*row+i] = src[places[p]+at+i] where bit i of masks[p] is set, or 0, for
	// p < n and i < row, which is one vector or two. It may be nil.
	packTaps func(dst *T, row int, src *T, n, at int, places, masks *int)
}

func newIm2col[T float](g gemmKernels[T], ck convKernels[T], s convShape, st convSteps) *im2col[T] {
	m := &im2col[T]{convShape: s, convSteps: st, gemmKernels: g, convKernels: ck}
	if s.plain() {
		return m
	}
	for j := 0; j < s.p()*s.q(); j += g.vl {
		for tap := range s.r * s.s {
			m.lanes = append(m.lanes, m.lanesOf(j, tap))
		}
	}
	return m
}

// lanesOf finds the pixels of the vector that starts at output pixel j.
func (m *im2col[T]) lanesOf(j, tap int) lanes {
	var l lanes
	var index [16]int32
	var valid uint16
	for i := range m.vl {
		if j+i >= m.p()*m.q() {
			break
		}
		if at, ok := m.pixel(j+i, tap); ok {
			index[i] = int32(at)
			valid |= 1 << i
		}
	}
	runs := 0
	for i := 0; i < m.vl; i++ {
		if valid>>i&1 == 0 {
			continue
		}
		from := index[i] - int32(i)
		r := 0
		for r < runs && l.offset[r] != from {
			r++
		}
		if r == maxRuns {
			return lanes{mask: [maxRuns]uint16{valid}, index: &index}
		}
		runs = max(runs, r+1)
		l.offset[r] = from
		l.mask[r] |= 1 << i
	}
	return l
}

// pack does for im2col(X) what gemm.packB does for a matrix.
func (m *im2col[T]) pack(dst, image []T, p0, kc, j0, j1 int) {
	if m.plain() {
		g := gemm[T]{gemmKernels: m.gemmKernels}
		g.packB(dst, matrix[T]{data: image, rows: m.channels, cols: m.h * m.w, ld: m.h * m.w}, p0, kc, j0, j1)
		return
	}
	for j := j0; j < j1; j += m.nr {
		width := ceilDiv(min(m.nr, j1-j), m.vl) * m.vl
		to := dst[(j-j0)*kc:][:kc*width]
		for p := 0; p < kc; {
			c, tap, n := m.run(p0+p, kc-p)
			src := image[c*m.h*m.w:]
			for v := 0; v < width; v += m.vl {
				l := &m.lanes[(j+v)/m.vl*m.tapCount+tap]
				if l.index == nil {
					m.runs(&to[p*width+v], width, &src[0], m.h*m.w, n, l)
				} else {
					m.gather(&to[p*width+v], width, &src[0], m.h*m.w, n, l.index, int(l.mask[0]))
				}
			}
			p += n
		}
	}
}

func portableConvKernels[T float](vl int) convKernels[T] {
	return convKernels[T]{
		runs: func(dst *T, ldd int, src *T, channel, n int, l *lanes) {
			var index [16]int32
			var valid int
			for r, mask := range l.mask {
				for i := range vl {
					if mask>>i&1 != 0 {
						index[i] = l.offset[r] + int32(i)
						valid |= 1 << i
					}
				}
			}
			gatherPortable(dst, ldd, src, channel, n, &index, valid, vl)
		},
		gather: func(dst *T, ldd int, src *T, channel, n int, index *[16]int32, mask int) {
			gatherPortable(dst, ldd, src, channel, n, index, mask, vl)
		},
		evenOdd: evenOddPortable[T],
	}
}

// gatherPortable writes dst[p*ldd+i] = src[p*channel+index[i]] for p < n and i < vl,
// or 0 where bit i of mask is clear.
func gatherPortable[T float](dst *T, ldd int, src *T, channel, n int, index *[16]int32, mask, vl int) {
	to := unsafe.Slice(dst, (n-1)*ldd+vl)
	last := 0
	for i := range vl {
		if mask>>i&1 != 0 {
			last = max(last, int(index[i]))
		}
	}
	from := unsafe.Slice(src, (n-1)*channel+last+1)
	for i := range vl {
		if mask>>i&1 == 0 {
			for p := range n {
				to[p*ldd+i] = 0
			}
			continue
		}
		for p, at := 0, int(index[i]); p < n; p, at = p+1, at+channel {
			to[p*ldd+i] = from[at]
		}
	}
}
