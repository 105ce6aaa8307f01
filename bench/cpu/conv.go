package cpu

import (
	"fmt"
	"math"

	"hwcal/bench"
)

// convShape is a two-dimensional convolution X[N,C,H,W] * W[K,C/groups,R,S] ->
// Y[N,K,P,Q] without dilation.
type convShape struct {
	n, c, h, w  int
	k, r, s     int
	stride, pad int
	groups      int
}

// p and q are the height and the width of the output.
func (s convShape) p() int { return (s.h+2*s.pad-s.r)/s.stride + 1 }
func (s convShape) q() int { return (s.w+2*s.pad-s.s)/s.stride + 1 }

// plain says that im2col(X) is X.
func (s convShape) plain() bool { return s.r == 1 && s.s == 1 && s.stride == 1 && s.pad == 0 }

// pixel is where in a plane of X the output pixel j finds a tap, if not beyond the
// border.
func (s convShape) pixel(j, tap int) (at int, ok bool) {
	y := j/s.q()*s.stride - s.pad + tap/s.s
	x := j%s.q()*s.stride - s.pad + tap%s.s
	return y*s.w + x, y >= 0 && y < s.h && x >= 0 && x < s.w
}

// mask has a bit for each of n output pixels from j on that finds the tap in a plane.
func (s convShape) mask(j, n, tap int) int {
	mask := 0
	for i := range n {
		if _, ok := s.pixel(j+i, tap); ok {
			mask |= 1 << i
		}
	}
	return mask
}

// inside is the share of the products that are not with padding.
func (s convShape) inside() float64 {
	p := bench.Conv2dParams{Stride: int64(s.stride), Pad: int64(s.pad)}
	pairs := p.Inside(int64(s.h), int64(s.r), int64(s.p())) * p.Inside(int64(s.w), int64(s.s), int64(s.q()))
	return float64(pairs) / float64(s.p()*s.q()*s.r*s.s)
}

func (s convShape) check() error {
	switch {
	case min(s.n, s.c, s.h, s.w, s.k, s.r, s.s, s.stride, s.groups) < 1 || s.pad < 0:
		return fmt.Errorf("cpu: conv2d %+v: want positive sizes", s)
	case s.c%s.groups != 0 || s.k%s.groups != 0:
		return fmt.Errorf("cpu: conv2d c=%d k=%d: not multiples of %d groups", s.c, s.k, s.groups)
	case s.h+2*s.pad < s.r || s.w+2*s.pad < s.s:
		return fmt.Errorf("cpu: conv2d: filter %dx%d is larger than the padded image %dx%d", s.r, s.s, s.h+2*s.pad, s.w+2*s.pad)
	case s.h*s.w*s.c/s.groups > math.MaxInt32:
		return fmt.Errorf("cpu: conv2d: an image of %dx%dx%d is too large", s.c, s.h, s.w)
	}
	return nil
}

// convUnit are the kernels that a plan of a convolution is made of.
type convUnit[T float] struct {
	gemmKernels[T]
	convKernels[T]
	// rounding kernels do the last steps of k if Y is of 16 bits; partial sums are kept in a buffer of T. Else they are nil.
	rounding nearKernels[T, uint16]
}

// apart says that partial sums are kept in a buffer instead of Y, in rows of nr pixels.
func (u convUnit[T]) apart() bool { return u.rounding.tileNear != nil }

func newConvUnit[T float](isa ISA) convUnit[T] {
	return convUnit[T]{newGEMMKernels[T](isa), newConvKernels[T](isa), nearKernels[T, uint16]{}}
}

// conv is the plan of a convolution as an implicit GEMM: for each image and group,
// Y[K,PQ] = W[K,CRS] * im2col(X)[CRS,PQ] on the same micro-kernel. The weights are
// packed once; the panels of im2col(X) are taken from X when they are packed, so that
// the matrix itself never exists.
type conv[T float] struct {
	convShape
	convSteps
	gemm   *gemm[T]   // of one image and group
	width  int        // pixels of a band, whose panels are packed together
	depth  int        // steps of k that all pixels of a worker take before the next ones
	shifts *shifts[T] // reads X in place; nil for shapes that it does not fit, for which there is
	im2col *im2col[T] // which gathers

	rounding nearKernels[T, uint16] // see convUnit
	sums     int                    // panels of pixels whose partial sums a worker keeps apart; 0 if there are none, or in Y
}

// convScratch is the memory that one run at a time works in.
type convScratch[T float] struct {
	*gemmScratch[T]
	planes [][]T   // of each worker
	masks  [][]int // of each worker: of the steps of a tile
	sums   [][]T   // of each worker: those that are apart from Y
}

func newConv[T float](u convUnit[T], caches cacheSizes, threads int, s convShape) (*conv[T], error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if threads < 1 {
		return nil, fmt.Errorf("cpu: conv2d with %d threads", threads)
	}
	b := newConvBlocking(u.gemmKernels, caches, s.k/s.groups, s.c/s.groups*s.r*s.s)
	return planConv(u, b, orElse(caches.L2, typicalCaches.L2), threads, s), nil
}

func planConv[T float](u convUnit[T], b blocking, l2, threads int, s convShape) *conv[T] {
	pixels, kernels := s.p()*s.q(), u.gemmKernels
	v := &conv[T]{convShape: s, convSteps: newConvSteps(s)}
	v.gemm = planGEMM(kernels, b, threads, s.k/s.groups, pixels, s.c/s.groups*s.r*s.s)
	// The workers share the panels of all images and groups.
	all := s.n * s.groups * ceilDiv(pixels, kernels.nr) * kernels.nr
	v.gemm.grid = newGrid(threads, v.gemm.m, all, kernels.mr, kernels.nr)
	v.gemm.mc, v.gemm.kc, v.depth = even(v.gemm.m, b.mc, kernels.mr), even(v.gemm.k, b.kc, 16), v.gemm.k
	if v.shifts = newShifts(kernels, u.convKernels, s, v.convSteps); v.shifts == nil {
		v.im2col = newIm2col(kernels, u.convKernels, s, v.convSteps)
	} else {
		if v.shifts.groupChannels(l2, b.kc) {
			v.depth = v.shifts.block * v.tapCount
			v.gemm.kc = v.depth
		}
		v.convSteps = v.shifts.convSteps
	}
	v.width = max(b.kc/v.gemm.kc, 1) * kernels.nr
	if !kernels.masked {
		v.width = max(v.width, b.nc) // a panel of weights then meets them all while it is in L1
	}
	v.rounding = u.rounding
	keeps := u.apart() && !v.atOnce()
	if keeps {
		v.width = kernels.nr // a panel has its sums for itself
	}
	v.gemm.nc = ceilDiv(b.nc, v.width) * v.width
	switch {
	case keeps && v.depth < v.gemm.k:
		v.sums = ceilDiv(pixels, kernels.nr) // all of them take one group of steps after the other
	case keeps:
		v.sums = v.gemm.nc / kernels.nr
	}
	return v
}

// atOnce says that a tile takes all steps of k in one call.
func (v *conv[T]) atOnce() bool {
	oneRun := v.shifts == nil || v.tapCount == 1 || v.shifts.tapByTap()
	return v.gemm.kc == v.gemm.k && oneRun
}

func (v *conv[T]) scratchBytes() int64 {
	return v.gemm.scratchBytes() + int64(v.gemm.threads())*lengthBytes[T](v.sumsLen(), v.shifts.planesLen())
}

// sumsLen is the number of sums that a worker keeps apart.
func (v *conv[T]) sumsLen() int { return v.sums * v.gemm.m * v.gemm.nr }

// newScratch cuts mem, aligned to 64 bytes, into buffers.
func (v *conv[T]) newScratch(mem []byte) (*convScratch[T], error) {
	g, err := v.gemm.newScratch(mem)
	if err != nil {
		return nil, err
	}
	s := &convScratch[T]{gemmScratch: g}
	rest := cutter[T]{as[T](mem[v.gemm.scratchBytes():])}
	for range v.gemm.threads() {
		s.sums, s.planes = append(s.sums, rest.cut(v.sumsLen())), append(s.planes, rest.cut(v.shifts.planesLen()))
		s.masks = append(s.masks, make([]int, v.gemm.kc))
	}
	return s, nil
}

func (v *conv[T]) pixelParts() int { return v.gemm.cols }

func (v *conv[T]) name() string   { return fmt.Sprintf("implicit_gemm_%dx%d", v.gemm.mr, v.gemm.nr) }
func (v *conv[T]) layout() string { return filterBlocks(v.gemm.mc, v.gemm.kc) }

// weightsLen is the length that packWeights wants.
func (v *conv[T]) weightsLen() int { return v.groups * v.gemm.packedALen() }

// packWeights packs weights [K,C/groups,R,S] into dst, once for many runs.
func (v *conv[T]) packWeights(dst, weights []T) []T {
	g := v.gemm
	for group := range v.groups {
		ordered := inSteps(v.convSteps, weights[group*g.m*g.k:], g.m)
		g.prepackA(dst[group*g.packedALen():], matrix[T]{data: ordered, rows: g.m, cols: g.k, ld: g.k})
	}
	return dst[:v.weightsLen()]
}

func (v *conv[T]) run(id int, s *convScratch[T], x, weights, y []T, ld int, epi convEpilogue[T]) {
	g := v.gemm
	row, col := id/g.cols, id%g.cols
	perUnit := ceilDiv(g.n, g.nr) // panels of one image and group
	first, last := part(v.n*v.groups*perUnit, 1, col, g.cols)
	for unit := first / perUnit; unit*perUnit < last; unit++ {
		j0 := max(first-unit*perUnit, 0) * g.nr
		j1 := min((last-unit*perUnit)*g.nr, g.n)
		// Image and group in one number count images of C/groups channels.
		image := x[unit*(v.c/v.groups)*v.h*v.w:][:v.c/v.groups*v.h*v.w]
		group := unit % v.groups
		t := convBlock[T]{
			image: image, bp: s.b[id], edge: s.c[id], masks: s.masks[id], convEpilogue: epi,
		}
		if epi.half != nil {
			t.first16, t.ld16 = unit*g.m*ld, ld
			t.y = matrix[T]{data: s.sums[id], rows: g.m, cols: g.nr, ld: g.nr}
		} else {
			t.y = matrix[T]{data: y[unit*g.m*ld:], rows: g.m, cols: g.n, ld: ld}
		}
		t.bias = epi.bias[group*g.m:][:g.m]
		if epi.residual != nil {
			t.residual = epi.residual[unit*g.m*ld:]
		}
		for p0 := 0; p0 < g.k; p0 += v.depth {
			p1 := min(p0+v.depth, g.k)
			if v.shifts != nil && !v.shifts.inPlace() {
				t.channel = p0 / v.tapCount
				t.image = v.shifts.split(s.planes[id], image[t.channel*v.h*v.w:], (p1-p0)/v.tapCount, j0, j1)
			}
			v.multiply(&t, weights[group*g.packedALen():][:g.packedALen()], row, j0, j1, p0, p1)
		}
	}
}

// multiply computes the steps [p0, p1) of k of the pixels [j0, j1) of an image and of the channels of a
// row of the grid.
func (v *conv[T]) multiply(t *convBlock[T], weights []T, row, j0, j1, p0, p1 int) {
	g := v.gemm
	for jc := j0; jc < j1; jc += g.nc {
		end := min(jc+g.nc, j1)
		if t.kept = jc; p1-p0 < g.k {
			t.kept = j0
		}
		for t.ic = 0; t.ic < g.m; t.ic += g.mc {
			t.panels = newPanels(min(g.mc, g.m-t.ic), g.mr)
			t.first, t.last = part(t.panels.n, 1, row, g.rows)
			for t.pc = p0; t.pc < p1; t.pc += g.kc {
				t.kc = min(g.kc, p1-t.pc)
				t.weights, t.far = weights[t.ic*g.k+t.pc*t.panels.m:], t.panels.m*t.kc
				for j := jc; j < end; j += v.width {
					v.band(t, j, min(v.width, end-j))
				}
			}
		}
	}
}
