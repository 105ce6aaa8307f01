package bench

import "hwcal/bench/ref"

// Softmax normalises exp(x) over the last dimension, 5 FLOP an element: maximum
// and its subtraction, exponential, sum, division.
func Softmax(x *Tensor) Op {
	n := x.Dims[len(x.Dims)-1]
	return Op{
		Name: "softmax",
		In:   []*Tensor{x},
		Out:  like("softmax", x),
		FLOP: 5 * x.Elems(),
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.Softmax(in[0], n, p)
		},
	}
}
