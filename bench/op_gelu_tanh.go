package bench

import "hwcal/bench/ref"

// GELUTanh is x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the approximation of GELU that
// GPT-2 uses; 9 FLOP an element with tanh counted as one.
func GELUTanh(x *Tensor) Op {
	return Op{
		Name: "gelu_tanh",
		In:   []*Tensor{x},
		Out:  like("gelu_tanh", x),
		FLOP: 9 * x.Elems(),
		Ref:  func(in []ref.Field, p ref.Precision) ref.Field { return ref.GELUTanh(in[0], p) },
	}
}
