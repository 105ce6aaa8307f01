package bench

import "hwcal/bench/ref"

// Tanh is the hyperbolic tangent, 1 FLOP an element.
func Tanh(x *Tensor) Op {
	return Op{
		Name: "tanh",
		In:   []*Tensor{x},
		Out:  like("tanh", x),
		FLOP: x.Elems(),
		Ref:  func(in []ref.Field, p ref.Precision) ref.Field { return ref.Tanh(in[0], p) },
	}
}
