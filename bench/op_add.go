package bench

import "hwcal/bench/ref"

// Add is X + Z of the same dimensions, as a residual connection adds them; 1 FLOP an
// element.
func Add(x, z *Tensor) Op {
	return Op{
		Name: "add",
		In:   []*Tensor{x, z},
		Out:  like("add", x),
		FLOP: x.Elems(),
		Ref:  func(in []ref.Field, p ref.Precision) ref.Field { return ref.Add(in[0], in[1], p) },
	}
}
