package bench

import "hwcal/bench/ref"

// Softmax normalises exp(x) over the last dimension, 5 FLOP an element: maximum
// and its subtraction, exponential, sum, division. That of causal scores leaves out
// what has no meaning, and is an operation of its own.
func Softmax(x *Tensor) Op {
	sq, sk := x.Dims[len(x.Dims)-2], x.Dims[len(x.Dims)-1]
	op := Op{
		Name: "softmax",
		In:   []*Tensor{x},
		Out:  like("softmax", x),
		FLOP: 5 * x.Used(),
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.Softmax(in[0], sk, p)
		},
	}
	if x.Causal {
		op.Name = "causal_softmax"
		op.Ref = func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.CausalSoftmax(in[0], sq, sk, p)
		}
	}
	return op
}
