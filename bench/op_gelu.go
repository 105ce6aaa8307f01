package bench

import "hwcal/bench/ref"

// GELU is x/2 (1 + erf(x/sqrt 2)), 5 FLOP an element with erf counted as one.
func GELU(x *Tensor) Op {
	return Op{
		Name: "gelu",
		In:   []*Tensor{x},
		Out:  like("gelu", x),
		FLOP: 5 * x.Elems(),
		Ref:  func(in []ref.Field, p ref.Precision) ref.Field { return ref.GELU(in[0], p) },
	}
}
