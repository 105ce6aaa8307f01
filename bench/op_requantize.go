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
	return requantize("requantize", x, scale, 1, factor)
}

// ChannelRequantize does the same with one scale a channel of X[N,C,H,W].
func ChannelRequantize(x, scale *Tensor, factor float64) Op {
	return requantize("channel_requantize", x, scale, x.Dims[2]*x.Dims[3], factor)
}

// requantize has as many neighbours as spatial says with the same scale.
func requantize(name string, x, scale *Tensor, spatial int64, factor float64) Op {
	channels := scale.Elems()
	return Op{
		Name:   name,
		In:     []*Tensor{x, scale},
		Out:    &Tensor{Name: name, Dims: x.Dims},
		FLOP:   x.Elems(),
		Params: RequantizeParams{factor},
		Ref: func(in []ref.Field, _ ref.Precision) ref.Field {
			// Whatever the sums are in, they are scaled in fp32.
			return ref.Requantize(in[0], in[1], channels, spatial, factor, ref.Precision{U: schema.FP32.UnitRoundoff()})
		},
	}
}
