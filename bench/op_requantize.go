package bench

import (
	"hwcal/bench/ref"
	"hwcal/schema"
)

// RequantizeParams holds the factor that all channels share.
type RequantizeParams struct{ Factor float64 }

// Requantize turns sums X[.,n] back into int8: the product with scale[n] and the
// factor, rounded to nearest, ties to even, and limited to -127 and 127, which leaves
// out the number without opposite as inputs do. 1 FLOP an element: the multiplication
// by one number a channel, which the factor belongs to.
func Requantize(x, scale *Tensor, factor float64) Op {
	n := scale.Elems()
	return Op{
		Name:   "requantize",
		In:     []*Tensor{x, scale},
		Out:    &Tensor{Name: "requantize", Dims: x.Dims},
		FLOP:   x.Elems(),
		Params: RequantizeParams{factor},
		Ref: func(in []ref.Field, _ ref.Precision) ref.Field {
			// Whatever the sums are in, they are scaled in fp32.
			return ref.Requantize(in[0], in[1], n, factor, ref.Precision{U: schema.FP32.UnitRoundoff()})
		},
	}
}
