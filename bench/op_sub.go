package bench

import "hwcal/bench/ref"

// Sub is the difference X - Z of the same dimensions; 1 FLOP an element.
func Sub(x, z *Tensor) Op {
	return Op{
		Name: "sub",
		In:   []*Tensor{x, z},
		Out:  like("sub", x),
		FLOP: x.Elems(),
		Ref:  func(in []ref.Field, p ref.Precision) ref.Field { return ref.Sub(in[0], in[1], p) },
	}
}
