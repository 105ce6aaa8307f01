package bench

import "hwcal/bench/ref"

// Gemm is Y[m,n] = X[m,k] W[k,n], 2mnk FLOP. The sums are rounded to the type of the
// case, if that is narrower; see Sums.
func Gemm(x, w *Tensor) Op {
	m, k, n := x.Dims[0], x.Dims[1], w.Dims[1]
	return Op{
		Name: "gemm",
		In:   []*Tensor{x, w},
		Out:  &Tensor{Name: "gemm", Dims: []int64{m, n}},
		FLOP: 2 * m * n * k,
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.Gemm(in[0], in[1], n, k, p)
		},
	}
}

// Sums is the operation with a result in the type in which the case accumulates.
func Sums(op Op) Op {
	out := *op.Out
	out.Sums = true
	op.Out = &out
	return op
}

// BatchedGemm is Y[b,m,n] = X[b,m,k] W[b,k,n] for each b, 2bmnk FLOP.
func BatchedGemm(x, w *Tensor) Op {
	b, m, k, n := x.Dims[0], x.Dims[1], x.Dims[2], w.Dims[2]
	return Op{
		Name: "gemm_batched",
		In:   []*Tensor{x, w},
		Out:  &Tensor{Name: "gemm_batched", Dims: []int64{b, m, n}},
		FLOP: 2 * b * m * n * k,
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.BatchedGemm(in[0], in[1], m, n, k, p)
		},
	}
}
