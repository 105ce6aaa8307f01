package bench

import "hwcal/bench/ref"

// Sigmoid is 1/(1 + e^-x), 4 FLOP an element with the exponential counted as one.
func Sigmoid(x *Tensor) Op {
	return Op{
		Name: "sigmoid",
		In:   []*Tensor{x},
		Out:  like("sigmoid", x),
		FLOP: 4 * x.Elems(),
		Ref:  func(in []ref.Field, p ref.Precision) ref.Field { return ref.Sigmoid(in[0], p) },
	}
}
