package bench

import "hwcal/bench/ref"

// MSE is the mean of (x - t)^2 over all elements, a single number; 3 FLOP an element, and
// the division.
func MSE(x, target *Tensor) Op {
	n := x.Elems()
	return Op{
		Name: "mse",
		In:   []*Tensor{x, target},
		Out:  &Tensor{Name: "mse", Dims: []int64{1}},
		FLOP: 3*n + 1,
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.MSE(in[0], in[1], n, p)
		},
	}
}
