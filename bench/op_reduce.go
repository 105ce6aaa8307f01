package bench

import "hwcal/bench/ref"

// Reduction is what becomes of all elements of a row or of a column.
type Reduction string

const (
	ReduceSum  Reduction = "sum"
	ReduceMax  Reduction = "max"
	ReduceMean Reduction = "mean"
)

// ReduceRows takes X[m,n] to Y[m]: one number of each row, the last axis goes. 1 FLOP an
// element, and one more a row for a mean.
func ReduceRows(r Reduction, x *Tensor) Op { return reduce(r, "rows", x, x.Dims[0], x.Dims[1]) }

// ReduceCols takes X[m,n] to Y[n]: one number of each column, the first axis goes. 1 FLOP
// an element, and one more a column for a mean.
func ReduceCols(r Reduction, x *Tensor) Op { return reduce(r, "cols", x, x.Dims[1], x.Dims[0]) }

// reduce makes each of the outputs of that many elements.
func reduce(r Reduction, over string, x *Tensor, outputs, each int64) Op {
	op := Op{
		Name: "reduce_" + string(r) + "_" + over,
		In:   []*Tensor{x},
		Out:  &Tensor{Name: string(r), Dims: []int64{outputs}},
		FLOP: x.Elems(),
	}
	if r == ReduceMean {
		op.FLOP += outputs
	}
	op.Ref = func(in []ref.Field, p ref.Precision) ref.Field {
		elem := func(i, j int64) ref.Num { return in[0](i*each + j) }
		if over == "cols" {
			elem = func(i, j int64) ref.Num { return in[0](j*outputs + i) }
		}
		switch r {
		case ReduceMax:
			return ref.Max(elem, each)
		case ReduceMean:
			return ref.Mean(elem, each, p)
		}
		return ref.Sum(elem, each, p)
	}
	return op
}
