package bench

import "hwcal/bench/ref"

// Transpose takes X[m,n] to Y[n,m]; no FLOP.
func Transpose(x *Tensor) Op {
	m, n := x.Dims[0], x.Dims[1]
	return Op{
		Name: "transpose",
		In:   []*Tensor{x},
		Out:  &Tensor{Name: "transpose", Dims: []int64{n, m}},
		Ref:  func(in []ref.Field, _ ref.Precision) ref.Field { return ref.Transpose(in[0], m, n) },
	}
}
