package bench

import "hwcal/bench/ref"

// BatchNormParams holds the constant that keeps the variance from 0.
type BatchNormParams struct{ Eps float64 }

// BatchNorm is the inference form over the channels of X[N,C,H,W], with gamma,
// beta, mean and variance of C elements each; 2 FLOP an element, as gamma and the
// variance become one factor.
func BatchNorm(x, gamma, beta, mean, variance *Tensor, eps float64) Op {
	channels, spatial := x.Dims[1], x.Dims[2]*x.Dims[3]
	return Op{
		Name:   "batchnorm",
		In:     []*Tensor{x, gamma, beta, mean, variance},
		Out:    like("batchnorm", x),
		FLOP:   2 * x.Elems(),
		Params: BatchNormParams{eps},
		Fold: func(w ref.Field, filter int64, in []ref.Field, stored ref.Rounding) ref.Field {
			return ref.FoldBatchNorm(w, in[1], in[4], filter, eps, stored)
		},
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.BatchNorm(in[0], in[1], in[2], in[3], in[4], channels, spatial, eps, p)
		},
	}
}
