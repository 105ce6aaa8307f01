package bench

import "hwcal/bench/ref"

// Div is the quotient X / Z element by element; 1 FLOP an element.
func Div(x, z *Tensor) Op {
	return Op{
		Name: "div",
		In:   []*Tensor{x, z},
		Out:  like("div", x),
		FLOP: x.Elems(),
		Ref:  func(in []ref.Field, p ref.Precision) ref.Field { return ref.Div(in[0], in[1], p) },
	}
}
