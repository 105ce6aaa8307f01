package cpu

import (
	"fmt"
	"math"
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

// conv is the plan of a convolution as an implicit GEMM: for each image and group,
// Y[K,PQ] = W[K,CRS] * im2col(X)[CRS,PQ] on the same micro-kernel. The weights are
// packed once; the panels of im2col(X) are gathered from X when they are packed, so
// that the matrix itself never exists.
type conv[T float] struct {
	convShape
	gemm   *gemm[T] // of one image and group
	im2col *im2col[T]
}

func newConv[T float](isa ISA, caches cacheSizes, threads int, s convShape) (*conv[T], error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if threads < 1 {
		return nil, fmt.Errorf("cpu: conv2d with %d threads", threads)
	}
	kernels := newGEMMKernels[T](isa)
	return planConv(kernels, newConvKernels[T](isa), newBlocking(kernels, caches), threads, s), nil
}

func planConv[T float](kernels gemmKernels[T], ck convKernels[T], b blocking, threads int, s convShape) *conv[T] {
	pixels := s.p() * s.q()
	v := &conv[T]{convShape: s}
	v.gemm = planGEMM(kernels, b, threads, s.k/s.groups, pixels, s.c/s.groups*s.r*s.s)
	// The workers share the panels of all images and groups.
	all := s.n * s.groups * ceilDiv(pixels, kernels.nr) * kernels.nr
	v.gemm.grid = newGrid(threads, v.gemm.m, all, kernels.mr, kernels.nr)
	v.gemm.nc = ceilDiv(even(ceilDiv(pixels, kernels.nr)*kernels.nr, b.nc, kernels.nr), kernels.nr) * kernels.nr
	v.im2col = newIm2col(kernels, ck, s)
	return v
}

func (v *conv[T]) scratchBytes() int64 { return v.gemm.scratchBytes() }

func (v *conv[T]) newScratch(mem []byte) (*gemmScratch[T], error) { return v.gemm.newScratch(mem) }

// weightsLen is the length that packWeights wants.
func (v *conv[T]) weightsLen() int { return v.groups * v.gemm.packedALen() }

// packWeights packs weights [K,C/groups,R,S] into dst, once for many runs.
func (v *conv[T]) packWeights(dst, weights []T) []T {
	g := v.gemm
	rs := v.r * v.s
	ordered := make([]T, g.m*g.k)
	for group := range v.groups {
		from := weights[group*g.m*g.k:][:g.m*g.k]
		for i := range g.m {
			for p := range g.k {
				c, tap := v.im2col.step(p)
				ordered[i*g.k+p] = from[i*g.k+c*rs+tap]
			}
		}
		g.prepackA(dst[group*g.packedALen():], matrix[T]{data: ordered, rows: g.m, cols: g.k, ld: g.k})
	}
	return dst[:v.weightsLen()]
}

// run computes Y. All workers of the team call it with the same arguments. Each
// writes its own part of Y, so there is no barrier inside; one must follow. The
// epilogue sees channels as rows and the pixels of one image as columns.
func (v *conv[T]) run(w *worker, s *gemmScratch[T], x, weights, y []T, epi epilogue[T]) {
	g := v.gemm
	row, col := w.id/g.cols, w.id%g.cols
	perUnit := ceilDiv(g.n, g.nr) // panels of one image and group
	first, last := part(v.n*v.groups*perUnit, 1, col, g.cols)
	for unit := first / perUnit; unit*perUnit < last; unit++ {
		j0 := max(first-unit*perUnit, 0) * g.nr
		j1 := min((last-unit*perUnit)*g.nr, g.n)
		// Image and group in one number count images of C/groups channels.
		image := x[unit*(v.c/v.groups)*v.h*v.w:][:v.c/v.groups*v.h*v.w]
		c := matrix[T]{data: y[unit*g.m*g.n:][:g.m*g.n], rows: g.m, cols: g.n, ld: g.n}
		group := unit % v.groups
		a := weights[group*g.packedALen():][:g.packedALen()]
		for jc := j0; jc < j1; jc += g.nc {
			n := min(g.nc, j1-jc)
			for pc := 0; pc < g.k; pc += g.kc {
				kc := min(g.kc, g.k-pc)
				v.im2col.pack(s.b[w.id], image, pc, kc, jc, jc+n)
				t := block[T]{pc: pc, jc: jc, n: n, kc: kc, add: pc > 0, row0: group * g.m, fetch: s.fetch[w.id]}
				if pc+kc == g.k {
					t.epi = epi
				}
				for t.ic = 0; t.ic < g.m; t.ic += g.mc {
					t.panels = newPanels(min(g.mc, g.m-t.ic), g.mr)
					t.first, t.last = part(t.panels.n, 1, row, g.rows)
					ap := a[t.ic*g.k+pc*t.panels.m:][:t.panels.m*kc]
					g.multiply(&t, ap, s.b[w.id], c, s.c[w.id])
				}
			}
		}
	}
}

// foldBatchNorm folds batch norm at inference into the weights [K,...] and the bias
// [K] of the convolution before it: s = gamma/sqrt(variance+eps), W' = W*s,
// b' = (b-mean)*s + beta. A nil bias is zero.
func foldBatchNorm[T float](foldedW, foldedB, w, b, gamma, beta, mean, variance []T, eps float64) {
	per := len(w) / len(gamma)
	for k := range gamma {
		s := float64(gamma[k]) / math.Sqrt(float64(variance[k])+eps)
		for i := k * per; i < (k+1)*per; i++ {
			foldedW[i] = T(float64(w[i]) * s)
		}
		bias := 0.0
		if b != nil {
			bias = float64(b[k])
		}
		foldedB[k] = T((bias-float64(mean[k]))*s + float64(beta[k]))
	}
}
