package bench

import "hwcal/bench/ref"

// Copy is Y = X; no FLOP.
func Copy(x *Tensor) Op {
	return Op{
		Name: "copy",
		In:   []*Tensor{x},
		Out:  like("copy", x),
		Ref:  func(in []ref.Field, _ ref.Precision) ref.Field { return ref.Copy(in[0]) },
	}
}
