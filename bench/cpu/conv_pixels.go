package cpu

import (
	"fmt"
	"math"
	"unsafe"
)

// pixelMajor is the plan of a convolution as the transposed implicit GEMM: for each
// image, Y[K,PQ]^T = im2col(X)^T[PQ,CRS] * W^T[CRS,K]. Pixels are the rows of a tile and
// filters its columns, of which there are whole vectors: so vectors are full even with an
// image of 7x7, unlike in conv. In return the sums are [PQ][K] and are transposed after the
// last step, and packing costs more, as a vector of pixels serves but one row of tiles.
//
// A block of pixels, of several images if they are small, is multiplied by all filters before
// the next one, so that the filters are read once for each block.
type pixelMajor[T float] struct {
	*shifts[T]
	gemm    *gemm[T] // of the pixels of a block
	grid    grid
	pixels  int // of an image
	panel   int // pixels of a panel; the last one of an image may have fewer
	panels  int // of an image
	block   int // panels of a block
	group   int // channels whose planes stay near while their taps are packed
	filters int // panels of filters
	apart   bool
	// For each panel of an image: the pixels of each tap, and runs of taps with the same pixels.
	taken [][]tapPixels
	runs  [][]sharedTaps
}

// fmaChains is how many sums at once keep two units with a latency of four cycles busy.
const fmaChains = 8

// pixelMajorGain is a model of the time of conv over that of pixelMajor. conv also computes the empty lanes of vectors, and
// the padding. pixelMajor packs and transposes, at a cost in products with vectors of 64 bytes: 4 to pack a pixel for a step,
// 44 more for each run of channels with one tap, and 38 to write a sum transposed; in proportion fewer with shorter vectors.
func pixelMajorGain[T float](s convShape, g gemmKernels[T], kc int) float64 {
	pixels := s.p() * s.q()
	products := float64(pixels)
	if _, inRows := s.panel(g.mr); inRows {
		products *= s.inside()
	}
	besides := (4+44/float64(s.runOf(kc)))/float64(s.k) + 38/float64(s.c/s.groups*s.r*s.s)
	besides *= float64(g.vl*int(unsafe.Sizeof(T(0)))) / 64
	last := ceilDiv(pixels%g.nr, g.vl) // vectors of the last panel
	conv := float64(pixels / g.nr * g.nr)
	if last > 0 {
		conv += float64(last*g.vl) * max(1, fmaChains/float64(g.mr*last))
	}
	return conv / (products * (1 + besides))
}

// runOf is how many channels a block of about kc steps has, each with all taps.
func (s convShape) runOf(kc int) int {
	return even(s.c/s.groups, max(kc*9/8/(s.r*s.s), 1), 1)
}

// newPixelMajor gives nil for what shifts does not fit.
func newPixelMajor[T float](u convUnit[T], b blocking, l2, threads int, s convShape) *pixelMajor[T] {
	kernels := u.gemmKernels
	// A block of steps is that of whole channels, if these have several.
	steps := newConvSteps(s)
	steps.block = s.runOf(b.kc)
	steps.order = outsideIn(s.r, s.s)
	sh := newShifts(kernels, u.convKernels, s, steps)
	if sh == nil || sh.tapByTap() || s.groups != 1 {
		return nil
	}
	size := int(unsafe.Sizeof(T(0)))
	m := &pixelMajor[T]{shifts: sh, pixels: s.p() * s.q(), filters: ceilDiv(s.k, kernels.nr), apart: u.apart()}
	m.panel, _ = s.panel(kernels.mr)
	m.panels = ceilDiv(m.pixels, m.panel)
	m.gemm = planGEMM(kernels, b, 1, m.pixels, s.k, s.c*m.tapCount)
	m.gemm.kc = steps.block * m.tapCount
	m.group = clamp(l2/16/(m.planes()*size), 8, steps.block)
	m.grid = newGrid(threads, s.n*m.panels*kernels.mr, s.k, kernels.mr, kernels.nr)
	mine := ceilDiv(s.n*m.panels, m.grid.rows)
	m.block = even(mine, max(l2/2/(m.gemm.kc*m.panel*size), 1), 1)
	for i := range m.panels {
		taken := s.pixelsOf(steps, i*m.panel, m.panelPixels(i))
		m.taken = append(m.taken, taken)
		m.runs = append(m.runs, shareTaps(taken, m.panelPixels(i)))
	}
	return m
}

// distance is that of packed panels.
func (m *pixelMajor[T]) distance() int { return m.gemm.kc * m.panel }

// lengths are the sizes of a worker's packed pixels, sums, and planes, in whole cache lines.
func (m *pixelMajor[T]) lengths() (packed, sums, planes int) {
	panels := 1 // of filters, whose sums are kept
	if m.gemm.kc < m.gemm.k {
		panels = ceilDiv(m.filters, m.grid.cols)
	}
	if !m.inPlace() {
		planes = m.group*m.planes() + m.roomLen()
	}
	sums = panels * m.sumsLen()
	if m.apart {
		sums += m.nr * m.nr // a piece of them, transposed
	}
	return lines[T](m.block * m.distance()), lines[T](sums), lines[T](planes)
}

// sumsLen is the number of sums of a block of pixels and a panel of filters.
func (m *pixelMajor[T]) sumsLen() int { return m.block * m.panel * m.nr }

func (m *pixelMajor[T]) scratchBytes() int64 {
	a, c, planes := m.lengths()
	return int64(m.grid.rows*m.grid.cols) * int64(a+c+planes) * int64(unsafe.Sizeof(T(0)))
}

func (m *pixelMajor[T]) newScratch(mem []byte) (*convScratch[T], error) {
	if int64(len(mem)) < m.scratchBytes() {
		return nil, fmt.Errorf("cpu: conv2d %+v: scratch of %d bytes, want %d", m.convShape, len(mem), m.scratchBytes())
	}
	s := &convScratch[T]{gemmScratch: new(gemmScratch[T])}
	a, c, planes := m.lengths()
	rest := cutter[T]{as[T](mem)}
	for range m.grid.rows * m.grid.cols {
		s.b, s.c, s.planes = append(s.b, rest.cut(a)), append(s.c, rest.cut(c)), append(s.planes, rest.cut(planes))
	}
	return s, nil
}

func (m *pixelMajor[T]) pixelParts() int { return m.grid.rows }

func (m *pixelMajor[T]) name() string {
	return fmt.Sprintf("implicit_gemm_transposed_%dx%d", m.mr, m.nr)
}

func (m *pixelMajor[T]) layout() string {
	return fmt.Sprintf("panels of %d filters, blocks of %d", m.nr, m.gemm.kc)
}

func (m *pixelMajor[T]) weightsLen() int { return m.gemm.packedBLen() }

// packWeights packs weights [K,C,R,S] into dst, once for many runs.
func (m *pixelMajor[T]) packWeights(dst, weights []T) []T {
	g := m.gemm
	m.gemm.prepackB(dst, matrix[T]{data: inSteps(m.convSteps, weights, g.n), rows: g.k, cols: g.n, ld: g.k, trans: true})
	return dst[:m.weightsLen()]
}

func (m *pixelMajor[T]) run(id int, s *convScratch[T], x, weights, y []T, ld int, epi convEpilogue[T]) {
	row, col := id/m.grid.cols, id%m.grid.cols
	first, last := part(m.n*m.panels, 1, row, m.grid.rows)
	f0, f1 := part(m.filters, 1, col, m.grid.cols)
	for i := first; i < last; i += m.block {
		b := pixelBlock[T]{first: i, last: min(i+m.block, last), f0: f0, f1: f1, x: x, weights: weights, y: y, ld: ld, convEpilogue: epi}
		b.packed, b.sums, b.planes = s.b[id], s.c[id], s.planes[id]
		m.multiply(&b)
	}
}

// pixelBlock is what multiply works on: panels [first, last) of the pixels of all images,
// and panels [f0, f1) of filters.
type pixelBlock[T float] struct {
	first, last, f0, f1  int
	x, weights, y        []T
	ld                   int // of Y
	packed, sums, planes []T
	convEpilogue[T]
}

func (m *pixelMajor[T]) multiply(b *pixelBlock[T]) {
	g := m.gemm
	for pc := 0; pc < g.k; pc += g.kc {
		kc := min(g.kc, g.k-pc)
		m.each(b, func(image, from, to, at int) { m.pack(b, image, from, to, b.packed[at*m.distance():], pc, kc) })
		for f := b.f0; f < b.f1; f++ {
			sums := b.sums
			if g.kc < g.k {
				sums = sums[(f-b.f0)*m.sumsLen():]
			}
			m.tiles(b, f, pc, kc, sums)
			if pc+kc == g.k {
				m.each(b, func(image, from, to, at int) { m.finish(b, f, image, from, to, sums[at*m.panel*m.nr:]) })
			}
		}
	}
}

// each calls do for the panels [from, to) of each image, which are in the block from panel
// at on.
func (m *pixelMajor[T]) each(b *pixelBlock[T], do func(image, from, to, at int)) {
	for i := b.first; i < b.last; {
		image := i / m.panels
		end := min((image+1)*m.panels, b.last)
		do(image, i-image*m.panels, end-image*m.panels, i-b.first)
		i = end
	}
}

// pack packs kc steps of the panels [from, to) of an image: a group of channels at a time.
func (m *pixelMajor[T]) pack(b *pixelBlock[T], image, from, to int, dst []T, pc, kc int) {
	first, count := pc/m.tapCount, kc/m.tapCount // channels
	x := b.x[(image*m.c+first)*m.h*m.w:][:count*m.h*m.w]
	j0, j1 := from*m.panel, min(to*m.panel, m.pixels)
	for c := 0; c < count; c += m.group {
		n := min(m.group, count-c)
		planes := m.split(b.planes, x[c*m.h*m.w:][:n*m.h*m.w], n, j0, j1)
		for i, tap := range m.order {
			for panel := from; panel < to; panel++ {
				t := m.taken[panel][i]
				if t.count > 0 {
					m.packRun(&dst[(panel-from)*m.distance()+t.before*count+c*t.count], t.count, &planes[0], m.planes(), n,
						m.at[tap]+panel*m.panel+t.first, m.panel, t.mask)
				}
			}
		}
	}
}

// panelPixels is the number of pixels of a panel of an image.
func (m *pixelMajor[T]) panelPixels(i int) int { return min(m.panel, m.pixels-i*m.panel) }

// tiles multiplies kc steps of all pixels of a block by a panel of filters.
func (m *pixelMajor[T]) tiles(b *pixelBlock[T], f, pc, kc int, sums []T) {
	g := m.gemm
	cols := min(m.nr, m.k-f*m.nr)
	width := ceilDiv(cols, m.vl) * m.vl
	channels := kc / m.tapCount
	at := g.packedAt(blockB{pc: pc, jc: f * m.nr, kc: kc})
	bp := b.weights[at:][:width*kc]
	far := at + len(bp)
	if pc == 0 {
		// The sums begin with the bias.
		for i := range (b.last - b.first) * m.panel {
			copy(sums[i*m.nr:][:cols], b.bias[f*m.nr:])
		}
	}
	for i := b.first; i < b.last; i++ {
		a := b.packed[(i-b.first)*m.distance():]
		c := sums[(i-b.first)*m.panel*m.nr:]
		runs := m.runs[i%m.panels]
		for r, t := range runs {
			floor := T(math.Inf(-1))
			if r+1 == len(runs) && pc+kc == g.k && b.residual == nil {
				floor = b.floor
			}
			from, steps := &c[t.first*m.nr], t.taps*channels
			m.tileNear(t.count, width, steps, &a[t.before*channels], &bp[t.tap*channels*width], from, m.nr, true, from, nil, nil, floor, &b.weights[min(far, len(b.weights)-1)], perLine[T]())
			far += steps / 4 * perLine[T]()
		}
	}
}

// finish writes the sums of a panel of filters and of the panels [from, to) of the
// pixels of an image to Y.
func (m *pixelMajor[T]) finish(b *pixelBlock[T], f, image, from, to int, sums []T) {
	cols, j0 := min(m.nr, m.k-f*m.nr), from*m.panel
	n := min(to*m.panel, m.pixels) - j0
	at := (image*m.k+f*m.nr)*b.ld + j0
	if m.apart {
		piece := b.sums[len(b.sums)-m.nr*m.nr:]
		for i := 0; i < n; i += m.nr {
			count := min(m.nr, n-i)
			m.gemm.transposed(piece, m.nr, sums[i*m.nr:], m.nr, count, cols)
			b.half.finish(as[float32](asBytes(piece)), m.nr, f*m.nr, at+i, cols, count)
		}
		return
	}
	m.gemm.transposed(b.y[at:], b.ld, sums, m.nr, n, cols)
	if b.residual != nil {
		b.add(&b.y[at], &b.y[at], &b.residual[at], b.ld, b.ld, b.ld, cols, n, 1, 0, cached)
	}
}
