package bench

import "hwcal/bench/ref"

// Concat puts the rows of Z[m,k] behind those of X[m,n]; no FLOP.
func Concat(x, z *Tensor) Op {
	m, n, k := x.Dims[0], x.Dims[1], z.Dims[1]
	return Op{
		Name: "concat",
		In:   []*Tensor{x, z},
		Out:  &Tensor{Name: "concat", Dims: []int64{m, n + k}},
		Ref:  func(in []ref.Field, _ ref.Precision) ref.Field { return ref.Concat(in[0], in[1], n, k) },
	}
}
