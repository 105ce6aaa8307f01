package bench

import "hwcal/bench/ref"

// CrossEntropy is the loss of each row of the scores X[m,n], whose class labels[m] tells:
// log(sum of e^x) - x[label]. 4 FLOP an element, of which three are those of softmax
// before its division and one the subtraction of the maximum, and two a row.
func CrossEntropy(x, labels *Tensor) Op {
	m, n := x.Dims[0], x.Dims[1]
	return Op{
		Name: "cross_entropy",
		In:   []*Tensor{x, labels},
		Out:  &Tensor{Name: "loss", Dims: []int64{m}},
		FLOP: 4*m*n + 2*m,
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.CrossEntropy(in[0], in[1], n, p)
		},
	}
}
