package bench

import "hwcal/bench/ref"

// Mask adds a mask to each of the matrices that X is made of, as attention does
// before its softmax: 0 where an element counts, a large negative number where not; 1
// FLOP an element.
func Mask(x, mask *Tensor) Op {
	n := mask.Elems()
	return Op{
		Name: "mask",
		In:   []*Tensor{x, mask},
		Out:  like("mask", x),
		FLOP: x.Elems(),
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.Bias(in[0], in[1], n, p)
		},
	}
}
