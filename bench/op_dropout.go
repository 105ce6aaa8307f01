package bench

import "hwcal/bench/ref"

// DropoutParams are the share of elements that become 0, in [0, 1), and the seed of
// the generator, which counts by the index of the element.
type DropoutParams struct {
	P    float64
	Seed uint32
}

// Scale keeps the mean: what is not dropped is divided by the share of what is kept.
func (p DropoutParams) Scale() float64 { return 1 / (1 - p.P) }

// Least is the smallest number of 31 bits with which an element is kept.
func (p DropoutParams) Least() uint32 { return uint32(p.P * (1 << 31)) }

// Dropout sets a share of the elements to 0, as training does; 1 FLOP an element.
func Dropout(x *Tensor, params DropoutParams) Op {
	return Op{
		Name:   "dropout",
		In:     []*Tensor{x},
		Out:    like("dropout", x),
		FLOP:   x.Elems(),
		Params: params,
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.Dropout(in[0], params.Seed, params.Least(), params.Scale(), p)
		},
	}
}
