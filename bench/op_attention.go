package bench

import (
	"math"

	"hwcal/bench/ref"
)

// QKT is the score matrix S[B,H,Sq,Sk] = Q[B,H,Sq,D] K[B,G,Sk,D]^T of each head, 2 D
// FLOP a score. H/G neighbouring heads share a K; with causal they see no key behind
// their own.
func QKT(q, k *Tensor, causal bool) Op {
	b, h, sq, d, sk := q.Dims[0], q.Dims[1], q.Dims[2], q.Dims[3], k.Dims[2]
	scores := &Tensor{Name: "scores", Dims: []int64{b, h, sq, sk}, Causal: causal}
	return Op{
		Name: "qk_t",
		In:   []*Tensor{q, k},
		Out:  scores,
		FLOP: 2 * scores.Used() * d,
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.BatchedGemmT(in[0], in[1], sharedRows(q, k), sk, d, p)
		},
	}
}

// PV is the weighted sum O[B,H,Sq,D] = P[B,H,Sq,Sk] V[B,G,Sk,D] of each head, 2 D FLOP
// a weight. H/G neighbouring heads share a V.
func PV(p, v *Tensor) Op {
	b, h, sq, sk, d := p.Dims[0], p.Dims[1], p.Dims[2], p.Dims[3], v.Dims[3]
	return Op{
		Name: "pv",
		In:   []*Tensor{p, v},
		Out:  &Tensor{Name: "attention", Dims: []int64{b, h, sq, d}},
		FLOP: 2 * p.Used() * d,
		Ref: func(in []ref.Field, precision ref.Precision) ref.Field {
			return ref.BatchedGemm(in[0], in[1], sharedRows(p, v), d, sk, precision)
		},
	}
}

// sharedRows is the number of rows of x that meet the same matrix of y: the heads
// that share it follow each other.
func sharedRows(x, y *Tensor) int64 { return x.Dims[1] / y.Dims[1] * x.Dims[2] }

// scores is Q K^T / sqrt(D).
func scores(q, k *Tensor, causal bool) Chain {
	qkt := QKT(q, k, causal)
	return Chain{qkt, Scale(qkt.Out, 1/math.Sqrt(float64(q.Dims[3])))}
}

// weights appends the softmax of the scores.
func weights(c Chain) Chain { return append(c, Softmax(c.Output())) }

// weighted appends the sum of V with these weights.
func weighted(c Chain, v *Tensor) Chain { return append(c, PV(c.Output(), v)) }
