package bench

import "hwcal/bench/ref"

// ScaleParams is the factor of a scale operation.
type ScaleParams struct{ Factor float64 }

// Scale multiplies by a constant, 1 FLOP an element.
func Scale(x *Tensor, factor float64) Op {
	return Op{
		Name:   "scale",
		In:     []*Tensor{x},
		Out:    like("scale", x),
		FLOP:   x.Used(),
		Params: ScaleParams{factor},
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.Scale(in[0], factor, p)
		},
	}
}
