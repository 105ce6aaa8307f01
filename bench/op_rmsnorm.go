package bench

import "hwcal/bench/ref"

// RMSNormParams holds the constant that keeps the mean square from 0.
type RMSNormParams struct{ Eps float64 }

// RMSNorm is x / sqrt(mean of x^2 + eps) gamma over the last dimension, 4 FLOP an element:
// the square and the sum of squares, and two for the result.
func RMSNorm(x, gamma *Tensor, eps float64) Op {
	n := gamma.Elems()
	return Op{
		Name:   "rmsnorm",
		In:     []*Tensor{x, gamma},
		Out:    like("rmsnorm", x),
		FLOP:   4 * x.Elems(),
		Params: RMSNormParams{eps},
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.RMSNorm(in[0], in[1], n, eps, p)
		},
	}
}
