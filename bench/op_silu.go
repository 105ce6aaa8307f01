package bench

import "hwcal/bench/ref"

// SiLU is x/(1 + e^-x), 4 FLOP an element with the exponential counted as one.
func SiLU(x *Tensor) Op {
	return Op{
		Name: "silu",
		In:   []*Tensor{x},
		Out:  like("silu", x),
		FLOP: 4 * x.Elems(),
		Ref:  func(in []ref.Field, p ref.Precision) ref.Field { return ref.SiLU(in[0], p) },
	}
}
