package bench

import "hwcal/bench/ref"

// Bias adds b[n] to every row of X[.,n], 1 FLOP an element.
func Bias(x, b *Tensor) Op {
	n := b.Elems()
	return Op{
		Name: "bias",
		In:   []*Tensor{x, b},
		Out:  like("bias", x),
		FLOP: x.Elems(),
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.Bias(in[0], in[1], n, p)
		},
	}
}

// like is a tensor of the dimensions of t, for what is done to each of its elements:
// sums stay sums.
func like(name string, t *Tensor) *Tensor {
	return &Tensor{Name: name, Dims: t.Dims, Sums: t.Sums, Causal: t.Causal}
}
