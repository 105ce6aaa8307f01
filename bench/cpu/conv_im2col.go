package cpu

import "unsafe"

// im2col packs panels of the matrix im2col(X)[CRS,PQ] straight from X.
//
// The steps of k run over blocks of channels, then over the taps (r, s), then over
// the channels of the block: a panel is gathered for one tap and many channels
// with the same offsets, and all taps of a block find its pixels in L1.
type im2col[T float] struct {
	convShape
	gemmKernels[T]
	convKernels[T]
	channels int // of one group
	block    int // channels of a block
	plain    bool
	// lanes has one entry for each vector of pixels and tap: [vector][tap].
	lanes []lanes
}

// channelBlock balances the calls (one for each block and tap) against L1: 32
// channels of a panel with its neighbouring rows are about 16 KiB.
const channelBlock = 32

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
}

func newIm2col[T float](g gemmKernels[T], ck convKernels[T], s convShape) *im2col[T] {
	m := &im2col[T]{convShape: s, gemmKernels: g, convKernels: ck, channels: s.c / s.groups}
	m.block = min(m.channels, channelBlock)
	m.plain = s.r == 1 && s.s == 1 && s.stride == 1 && s.pad == 0
	if m.plain {
		m.block = m.channels
		return m
	}
	for j := 0; j < s.p()*s.q(); j += g.vl {
		for tap := range s.r * s.s {
			m.lanes = append(m.lanes, m.lanesOf(j, tap))
		}
	}
	return m
}

// step is the channel and the tap of a step of k.
func (m *im2col[T]) step(p int) (c, tap int) {
	taps := m.r * m.s
	first := p / (m.block * taps) * m.block
	size := min(m.block, m.channels-first)
	p -= first * taps
	return first + p%size, p / size
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
		y := (j+i)/m.q()*m.stride - m.pad + tap/m.s
		x := (j+i)%m.q()*m.stride - m.pad + tap%m.s
		if y >= 0 && y < m.h && x >= 0 && x < m.w {
			index[i] = int32(y*m.w + x)
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
	if m.plain {
		g := gemm[T]{gemmKernels: m.gemmKernels}
		g.packB(dst, matrix[T]{data: image, rows: m.channels, cols: m.h * m.w, ld: m.h * m.w}, p0, kc, j0, j1)
		return
	}
	taps := m.r * m.s
	for j := j0; j < j1; j += m.nr {
		width := ceilDiv(min(m.nr, j1-j), m.vl) * m.vl
		to := dst[(j-j0)*kc:][:kc*width]
		for p := 0; p < kc; {
			c, tap := m.step(p0 + p)
			end := min(c/m.block*m.block+m.block, m.channels)
			n := min(end-c, kc-p)
			src := image[c*m.h*m.w:]
			for v := 0; v < width; v += m.vl {
				l := &m.lanes[(j+v)/m.vl*taps+tap]
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
