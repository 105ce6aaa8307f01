package cpu

import (
	"math"

	"hwcal/bench"
)

// layerNorm normalises rows of n elements. The variance is that of the deviations
// from the mean, in a pass of its own: the difference of two sums would lose digits.
type layerNorm[T float] struct {
	vecKernels[T]
	gamma, beta []T
	eps         float64
	nt          bool // dst is stored past the caches
}

func newLayerNorm[T float](ws *workspace, op bench.Op) *layerNorm[T] {
	return &layerNorm[T]{
		vecKernelsFor[T](ws.isa), data[T](ws, op.In[1]), data[T](ws, op.In[2]), op.Params.(bench.LayerNormParams).Eps, false,
	}
}

// row writes the norm of src, or of src + y; dst may be src.
func (l *layerNorm[T]) row(dst, src, y []T) {
	n := len(src)
	var sum T
	for at := 0; at < n; at += vecCall {
		count := min(vecCall, n-at)
		if y == nil {
			sum += l.rowSum(&src[at], count)
		} else {
			sum += l.addRowSum(&dst[at], &src[at], &y[at], count)
		}
	}
	if y != nil {
		src = dst
	}
	mean := sum / T(n)
	scale := T(1 / math.Sqrt(float64(l.squares(src, mean))/float64(n)+l.eps))
	for at := 0; at < n; at += vecCall {
		count := min(vecCall, n-at)
		l.normalize(&dst[at], &src[at], &l.gamma[at], &l.beta[at], count, mean, scale, l.nt)
	}
}

// squares is the sum of the squared deviations of a row of any length.
func (k *vecKernels[T]) squares(src []T, mean T) T {
	var sum T
	for at := 0; at < len(src); at += vecCall {
		sum += k.rowSquares(&src[at], min(vecCall, len(src)-at), mean)
	}
	return sum
}
