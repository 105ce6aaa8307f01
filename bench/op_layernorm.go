package bench

import "hwcal/bench/ref"

// LayerNormParams holds the constant that keeps the variance from 0.
type LayerNormParams struct{ Eps float64 }

// LayerNorm is (x - mean) / sqrt(variance + eps) gamma + beta over the last dimension,
// 7 FLOP an element: the sum, the deviation, its square and their sum, and three for
// the result.
func LayerNorm(x, gamma, beta *Tensor, eps float64) Op {
	n := gamma.Elems()
	return Op{
		Name:   "layernorm",
		In:     []*Tensor{x, gamma, beta},
		Out:    like("layernorm", x),
		FLOP:   7 * x.Elems(),
		Params: LayerNormParams{eps},
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.LayerNorm(in[0], in[1], in[2], n, eps, p)
		},
	}
}
