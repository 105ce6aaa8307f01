package cpu

import (
	"math"

	"hwcal/bench"
)

// rmsNorm divides rows by the root of their mean square.
type rmsNorm[T float] struct {
	vecKernels[T]
	gamma []T
	eps   float64
}

func newRMSNorm[T float](ws *workspace, op bench.Op) *rmsNorm[T] {
	return &rmsNorm[T]{vecKernelsFor[T](ws.isa), data[T](ws, op.In[1]), op.Params.(bench.RMSNormParams).Eps}
}

// row writes the norm of src; dst may be src.
func (r *rmsNorm[T]) row(dst, src []T) {
	scale := 1 / math.Sqrt(float64(r.squares(src, 0))/float64(len(src))+r.eps)
	r.scaleMul.slice(dst, src, r.gamma, T(scale), 0)
}
