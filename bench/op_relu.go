package bench

import "hwcal/bench/ref"

// ReLU is max(x, 0); a comparison is no FLOP.
func ReLU(x *Tensor) Op {
	return Op{
		Name: "relu",
		In:   []*Tensor{x},
		Out:  like("relu", x),
		Ref:  func(in []ref.Field, _ ref.Precision) ref.Field { return ref.ReLU(in[0]) },
	}
}
