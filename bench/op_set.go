package bench

import "hwcal/bench/ref"

// SetParams is the number that all elements become.
type SetParams struct{ Value float64 }

// Set writes a number to all elements of Y; no FLOP.
func Set(y *Tensor, value float64) Op {
	return Op{
		Name:   "set",
		Out:    y,
		Params: SetParams{value},
		Ref:    func(_ []ref.Field, p ref.Precision) ref.Field { return ref.Constant(value, p) },
	}
}
