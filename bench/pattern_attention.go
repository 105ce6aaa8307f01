package bench

import "hwcal/schema"

// attentionDims: Q, K and V of [batch, heads, seq, head_dim].
var attentionDims = []string{"batch", "heads", "seq", "head_dim"}

func attentionInput(name string, s Shape) *Tensor {
	return &Tensor{Name: name, Dims: []int64{s.Get("batch"), s.Get("heads"), s.Get("seq"), s.Get("head_dim")}}
}

// selfScores is scaled Q K^T of as many queries as keys.
func selfScores(s Shape) Chain {
	return scores(attentionInput("Q", s), attentionInput("K", s), false)
}

// attentionShapes: short sequences in a batch and BERT-base at 512 tokens; at 384 tokens, ViT-B/16
// alone and in a batch, and long ones, whose scores no longer fit into caches.
func attentionShapes(mode schema.Mode) []Shape {
	if mode == schema.Quick {
		return []Shape{dims(attentionDims, 1, 8, 128, 64)}
	}
	shapes := []Shape{dims(attentionDims, 4, 8, 256, 64), dims(attentionDims, 1, 12, 512, 64)}
	if mode == schema.Full {
		shapes = append(shapes,
			dims(attentionDims, 1, 12, 384, 64), dims(attentionDims, 1, 12, 197, 64), dims(attentionDims, 8, 12, 197, 64),
			dims(attentionDims, 1, 8, 1024, 64), dims(attentionDims, 1, 4, 2048, 128))
	}
	return shapes
}

// attentionThroughput is that of long sequences, by which GPUs are compared.
func attentionThroughput(schema.Mode) []Shape {
	return []Shape{dims(attentionDims, 4, 16, 4096, 128)}
}

// attentionSweep has fewer heads where the scores of one grow large.
func attentionSweep() []Shape {
	var shapes []Shape
	for _, seq := range []int64{32, 64, 128, 256, 384, 512, 768, 1024, 1536, 2048} {
		shapes = append(shapes, dims(attentionDims, 1, max(1, min(2048/seq, 4)), seq, 64))
	}
	return shapes
}

func init() {
	for _, p := range []struct {
		name, doc string
		chain     func(Shape) Chain
	}{
		{"QK_T", "attention scores: Q K^T / sqrt(d)", selfScores},
		{"QK_T_Softmax", "attention weights: softmax(Q K^T / sqrt(d))", func(s Shape) Chain {
			return weights(selfScores(s))
		}},
		{"Full_Attention", "softmax(Q K^T / sqrt(d)) V, fused by an online softmax", func(s Shape) Chain {
			return weighted(weights(selfScores(s)), attentionInput("V", s))
		}},
	} {
		register(Pattern{
			Name: p.name, Group: "attention", Doc: p.doc,
			Dims:   attentionDims,
			Shapes: attentionShapes, Throughput: attentionThroughput, Sweep: attentionSweep(),
			Chain: func(s Shape, _ int64) (Chain, error) { return p.chain(s), nil },
		})
	}
}
