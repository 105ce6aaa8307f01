package bench

import "hwcal/bench/ref"

// PermuteParams: X is seen as [Outer,P,Q,D], of which Y is [Outer,Q,P,D].
type PermuteParams struct{ Outer, P, Q, D int64 }

// SplitHeads takes X[batch*seq,heads*d], as a fully connected layer gives it, to
// Y[batch,heads,seq,d], as attention takes it; no FLOP.
func SplitHeads(x *Tensor, batch, heads int64) Op {
	seq, d := x.Dims[0]/batch, x.Dims[1]/heads
	return permute(x, PermuteParams{batch, seq, heads, d}, []int64{batch, heads, seq, d})
}

// MergeHeads takes X[batch,heads,seq,d] to Y[batch*seq,heads*d]; no FLOP.
func MergeHeads(x *Tensor) Op {
	batch, heads, seq, d := x.Dims[0], x.Dims[1], x.Dims[2], x.Dims[3]
	return permute(x, PermuteParams{batch, heads, seq, d}, []int64{batch * seq, heads * d})
}

func permute(x *Tensor, s PermuteParams, dims []int64) Op {
	return Op{
		Name:   "permute",
		In:     []*Tensor{x},
		Out:    &Tensor{Name: "permute", Dims: dims},
		Params: s,
		Ref: func(in []ref.Field, _ ref.Precision) ref.Field {
			return func(i int64) ref.Num {
				row, p, q := i/s.D, i/s.D%s.P, i/s.D/s.P%s.Q
				return in[0]((row-p-q*s.P+p*s.Q+q)*s.D + i%s.D)
			}
		},
	}
}
