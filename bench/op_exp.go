package bench

import "hwcal/bench/ref"

// Exp is e^x, 1 FLOP an element.
func Exp(x *Tensor) Op {
	return Op{
		Name: "exp",
		In:   []*Tensor{x},
		Out:  like("exp", x),
		FLOP: x.Elems(),
		Ref:  func(in []ref.Field, p ref.Precision) ref.Field { return ref.Exp(in[0], p) },
	}
}
