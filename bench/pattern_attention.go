package bench

import (
	"math"

	"hwcal/schema"
)

// attentionDims: Q, K and V of [batch, heads, seq, head_dim].
var attentionDims = []string{"batch", "heads", "seq", "head_dim"}

// scores is scaled Q K^T.
func scores(s Shape) Chain {
	d := s.Get("head_dim")
	qkt := QKT(attentionInput("Q", s), attentionInput("K", s))
	return Chain{qkt, Scale(qkt.Out, 1/math.Sqrt(float64(d)))}
}

func attentionInput(name string, s Shape) *Tensor {
	return &Tensor{Name: name, Dims: []int64{s.Get("batch"), s.Get("heads"), s.Get("seq"), s.Get("head_dim")}}
}

// attentionShapes: short sequences in a batch (of 1 in quick runs), BERT-base at 512 tokens, and long
// ones, whose scores no longer fit into caches.
func attentionShapes(mode schema.Mode) []Shape {
	if mode == schema.Quick {
		return []Shape{dims(attentionDims, 1, 8, 256, 64)}
	}
	shapes := []Shape{dims(attentionDims, 4, 8, 256, 64), dims(attentionDims, 1, 12, 512, 64)}
	if mode == schema.Full {
		shapes = append(shapes, dims(attentionDims, 1, 8, 1024, 64), dims(attentionDims, 1, 4, 2048, 128))
	}
	return shapes
}

func init() {
	for _, p := range []struct {
		name, doc string
		then      func(Chain, Shape) Chain
	}{
		{"QK_T", "attention scores: Q K^T / sqrt(d)", func(c Chain, _ Shape) Chain { return c }},
		{"QK_T_Softmax", "attention weights: softmax(Q K^T / sqrt(d))", func(c Chain, _ Shape) Chain {
			return append(c, Softmax(c.Output()))
		}},
		{"Full_Attention", "softmax(Q K^T / sqrt(d)) V, fused by an online softmax", func(c Chain, s Shape) Chain {
			c = append(c, Softmax(c.Output()))
			return append(c, PV(c.Output(), attentionInput("V", s)))
		}},
	} {
		Register(Pattern{
			Name: p.name, Group: "attention", Doc: p.doc,
			Dims:   attentionDims,
			Shapes: attentionShapes,
			Chain:  func(s Shape, _ int64) (Chain, error) { return p.then(scores(s), s), nil },
		})
	}
}
