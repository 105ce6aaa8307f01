package bench

import "hwcal/bench/ref"

// QKT is the score matrix S[B,H,Sq,Sk] = Q[B,H,Sq,D] K[B,H,Sk,D]^T of each head,
// 2 B H Sq Sk D FLOP.
func QKT(q, k *Tensor) Op {
	b, h, sq, d, sk := q.Dims[0], q.Dims[1], q.Dims[2], q.Dims[3], k.Dims[2]
	return Op{
		Name: "qk_t",
		In:   []*Tensor{q, k},
		Out:  &Tensor{Name: "scores", Dims: []int64{b, h, sq, sk}},
		FLOP: 2 * b * h * sq * sk * d,
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.BatchedGemmT(in[0], in[1], sq, sk, d, p)
		},
	}
}

// PV is the weighted sum O[B,H,Sq,D] = P[B,H,Sq,Sk] V[B,H,Sk,D] of each head,
// 2 B H Sq Sk D FLOP.
func PV(p, v *Tensor) Op {
	b, h, sq, sk, d := p.Dims[0], p.Dims[1], p.Dims[2], p.Dims[3], v.Dims[3]
	return Op{
		Name: "pv",
		In:   []*Tensor{p, v},
		Out:  &Tensor{Name: "attention", Dims: []int64{b, h, sq, d}},
		FLOP: 2 * b * h * sq * sk * d,
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.BatchedGemm(in[0], in[1], sq, d, sk, p)
		},
	}
}
