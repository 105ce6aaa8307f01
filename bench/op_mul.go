package bench

import "hwcal/bench/ref"

// Mul is the product X Z element by element, as gates take it; 1 FLOP an element.
func Mul(x, z *Tensor) Op {
	return Op{
		Name: "mul",
		In:   []*Tensor{x, z},
		Out:  like("mul", x),
		FLOP: x.Elems(),
		Ref:  func(in []ref.Field, p ref.Precision) ref.Field { return ref.Mul(in[0], in[1], p) },
	}
}
