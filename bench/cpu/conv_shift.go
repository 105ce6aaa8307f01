package cpu

import (
	"math"
	"math/bits"
	"unsafe"
)

// shifts reads im2col(X)[CRS,PQ] from X in place. If the output is as wide as a plane
// of X, the pixels of a tap lie in the plane in the order of the output, at a constant
// offset, and a mask leaves out those beyond the border. So the first row of tiles reads B
// from X and packs it on the way for the other rows; where that needs a mask and the tiles
// take none, B is packed beforehand, in whole vectors.
//
// Other convolutions read the planes of their phases: those of phase (y, x) are the rows y, y+stride, ... and the
// columns x, x+stride, ... of X, as many columns as the output has. See conv_phases.go.
type shifts[T float] struct {
	convShape
	convSteps
	gemmKernels[T]
	convKernels[T]
	phases    []phase
	rowPhases []rowPhases
	height    int // of a plane
	width     int // of a plane and of the output
	taps      []tapShift
	at        []int // of the first pixel of each tap, in the planes of a channel
	masks     []int // [panel][tap]
	places    []int // of each step, in all planes, if the taps of a channel follow each other
}

// minRun is the number of channels below which k runs over all taps of one channel, then of
// the next: runs of channels with the same tap would be too short.
const minRun = 16

// mostPlanes is how many times as large as an image its planes may be. Those of the first layer of AlexNet are 2.7 times as
// large, those of patches as large.
const mostPlanes = 4

// tapShift is the phase of a tap, and how far its pixels are from those of the output.
type tapShift struct{ phase, rows, cols int }

// newShifts gives nil for shapes and instruction sets that it does not fit, and where im2col is cheaper.
func newShifts[T float](g gemmKernels[T], ck convKernels[T], s convShape, st convSteps) *shifts[T] {
	if ck.packRun == nil || bits.OnesCount(uint(s.stride)) > 1 {
		return nil
	}
	m := &shifts[T]{convShape: s, convSteps: st, gemmKernels: g, convKernels: ck, height: ceilDiv(s.h, s.stride), width: s.q()}
	if s.r*s.s > 1 && m.channels < minRun && (g.tileTaps != nil || ck.packTaps != nil) {
		m.block = 1
	}
	cheap := m.inPlace() || s.stride == 2 // cheaper than im2col, whatever the sizes
	for tap := range s.r * s.s {
		dy, dx := tap/s.s-s.pad, tap%s.s-s.pad
		p := phase{dy & (s.stride - 1), dx & (s.stride - 1)}
		shift := tapShift{rows: (dy - p.y) / s.stride, cols: (dx - p.x) / s.stride}
		if shift.cols > 0 && p.x+s.q()*s.stride < s.w {
			// It would read a column behind the plane's last, and has a plane of its own.
			p.x, shift.cols = dx, 0
			cheap = false
		}
		for shift.phase < len(m.phases) && m.phases[shift.phase] != p {
			shift.phase++
		}
		if shift.phase == len(m.phases) {
			m.phases = append(m.phases, p)
		}
		m.taps = append(m.taps, shift)
		m.at = append(m.at, (shift.phase*m.height+shift.rows)*m.width+shift.cols)
	}
	// Else a panel of pixels has to repay the planes; and without a stride im2col loads a vector in a few pieces, in less time
	// than many channels are copied.
	if !cheap && (s.p()*s.q() <= g.nr || s.stride == 1 && m.channels >= minRun || m.planes() > mostPlanes*s.h*s.w) {
		return nil
	}
	m.rowPhases = m.byRows()
	for j := 0; j < s.p()*s.q(); j += g.nr {
		for tap := range m.taps {
			m.masks = append(m.masks, s.mask(j, min(g.nr, s.p()*s.q()-j), tap))
		}
	}
	if m.tapByTap() {
		for p := range m.channels * len(m.taps) {
			channel, tap := m.step(p)
			m.places = append(m.places, channel*m.planes()+m.at[tap])
		}
	}
	return m
}

// groupChannels makes the channels of a block so few that their planes stay in half of L2, unless runs become too short, and
// says whether it did: all pixels take the steps of one block, at most kc, before the planes of the next are made. Planes of
// all channels at once would be evicted to L3 before their use.
func (m *shifts[T]) groupChannels(l2, kc int) bool {
	if m.inPlace() || m.tapByTap() {
		return false
	}
	fit := l2 / 2 / (m.planes() * int(unsafe.Sizeof(T(0))))
	most := min(max(fit, minRun), m.block, max(kc/len(m.taps), 2)) // with one there would be no runs
	m.block = even(m.channels, most, 1)
	return true
}

// everyPixel says that no pixel of the only tap is beyond the border, so that no kernel needs a mask.
func (m *shifts[T]) everyPixel() bool { return len(m.taps) == 1 && m.pad == 0 }

// pack does for im2col(X) what gemm.packB does for a matrix, from its planes, of the channels from one on.
func (m *shifts[T]) pack(dst, planes []T, first, p0, kc, j0, j1 int) {
	if m.tapByTap() {
		m.packByTaps(dst, planes, p0, kc, j0, j1)
		return
	}
	for p := 0; p < kc; {
		channel, tap, n := m.run(p0+p, kc-p)
		from := &planes[(channel-first)*m.planes()]
		for j := j0; j < j1; j += m.nr {
			width := ceilDiv(min(m.nr, j1-j), m.vl) * m.vl
			to := &dst[(j-j0)*kc:][:kc*width][p*width]
			m.packRun(to, width, from, m.planes(), n, m.at[tap]+j, m.nr, m.masks[j/m.nr*len(m.taps)+tap])
		}
		p += n
	}
}

// packByTaps is pack where the taps of a channel follow each other.
func (m *shifts[T]) packByTaps(dst, planes []T, p0, kc, j0, j1 int) {
	for j := j0; j < j1; j += m.nr {
		width := ceilDiv(min(m.nr, j1-j), m.vl) * m.vl
		to, masks := dst[(j-j0)*kc:][:kc*width], m.masks[j/m.nr*len(m.taps):]
		for p := 0; p < kc; {
			tap := (p0 + p) % len(m.taps)
			n := min(len(m.taps)-tap, kc-p)
			m.packTaps(&to[p*width], width, &planes[0], n, j, &m.places[p0+p], &masks[tap])
			p += n
		}
	}
}

// packTiles is the first row of tiles of a band, which packs so many columns. If there are many channels, they take a run
// of them at a time, which have a tap in common.
func packTiles[T float, C any](m *shifts[T], t *convBlock[T], r tileRow[T, C], cols int, a []T, j int, bp []T) {
	for at := 0; at < cols; at += m.nr {
		tile := r.right(at)
		if at+m.nr < cols {
			tile.next = r.right(at + m.nr).c
		}
		packTile(m, t, tile, min(m.nr, cols-at), a, j+at, bp[at*t.kc:])
	}
}

func packTile[T float, C any](m *shifts[T], t *convBlock[T], r tileRow[T, C], cols int, a []T, j int, bp []T) {
	width := ceilDiv(cols, m.vl) * m.vl
	masks := m.masks[j/m.nr*len(m.taps):][:len(m.taps)]
	if m.tapByTap() {
		n := copy(t.masks[:t.kc], masks[t.pc%len(masks):])
		for n < t.kc {
			n += copy(t.masks[n:t.kc], masks)
		}
		r.tileTaps(r.rows, cols, t.kc, &a[0], &bp[0], r.c, r.ldc, t.add, r.next, r.begin(t.add), r.residual, r.floor,
			&t.image[0], j, &m.places[t.pc], &t.masks[0])
		return
	}
	for p := 0; p < t.kc; {
		channel, tap, n := m.run(t.pc+p, t.kc-p)
		a, bp, from, at, mask, add := &a[p*r.rows], &bp[p*width], &t.image[(channel-t.channel)*m.planes()], m.at[tap]+j, masks[tap], t.add || p > 0
		if p += n; p < t.kc {
			m.tilePack(r.rows, cols, n, a, bp, r.sums, r.lds, add, r.sums, r.bias, nil, T(math.Inf(-1)), from, m.planes(), at, m.nr, mask)
		} else {
			r.tilePack(r.rows, cols, n, a, bp, r.c, r.ldc, add, r.next, r.begin(add), r.residual, r.floor, from, m.planes(), at, m.nr, mask)
		}
	}
}

// tapByTap says that the taps of a channel follow each other.
func (m *shifts[T]) tapByTap() bool {
	return m.block == 1 && len(m.taps) > 1 && (m.tileTaps != nil || m.packTaps != nil)
}
