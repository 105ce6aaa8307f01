package bench

import (
	"fmt"

	"hwcal/schema"
)

// The attention of decoders. Queries are the last ones of a sequence of keys: all of
// it, a part of a longer prompt, or a single one. Where there are fewer kv_heads, a
// group of neighbouring heads shares K and V.
var (
	causalDims  = []string{"batch", "heads", "queries", "keys", "head_dim"}
	groupedDims = []string{"batch", "heads", "kv_heads", "queries", "keys", "head_dim"}
	decodeDims  = []string{"batch", "heads", "kv_heads", "keys", "head_dim"}
)

// decoderAttention is softmax(Q K^T / sqrt(d)) V. Of several queries, none sees a key
// behind its own. Both sides leave out what is not seen, so that fusing is not praised
// for what any kernel can skip.
func decoderAttention(s Shape, kvHeads, queries int64) (Chain, error) {
	batch, heads, keys, d := s.Get("batch"), s.Get("heads"), s.Get("keys"), s.Get("head_dim")
	if heads%kvHeads != 0 {
		return nil, fmt.Errorf("%d kv_heads do not divide %d heads", kvHeads, heads)
	}
	if queries > keys {
		return nil, fmt.Errorf("the first of %d queries would see none of %d keys", queries, keys)
	}
	q := &Tensor{Name: "Q", Dims: []int64{batch, heads, queries, d}}
	k := &Tensor{Name: "K", Dims: []int64{batch, kvHeads, keys, d}}
	v := &Tensor{Name: "V", Dims: k.Dims}
	return weighted(weights(scores(q, k, queries > 1)), v), nil
}

// causalShapes: a small decoder; in full mode the prefill of a 7B decoder, whole and
// in chunks of a long prompt. At 2048 tokens a quarter of its heads stands for all.
func causalShapes(mode schema.Mode) []Shape {
	if mode == schema.Quick {
		return []Shape{dims(causalDims, 1, 4, 256, 256, 64)}
	}
	shapes := []Shape{dims(causalDims, 1, 12, 512, 512, 64), dims(causalDims, 4, 8, 256, 256, 64)}
	if mode == schema.Full {
		shapes = append(shapes,
			dims(causalDims, 1, 32, 512, 512, 128), dims(causalDims, 1, 32, 1024, 1024, 128),
			dims(causalDims, 1, 8, 2048, 2048, 128), dims(causalDims, 1, 8, 128, 8192, 128))
	}
	return shapes
}

// groupedShapes are those of a 7B decoder with 8 heads of K and V, or of a part of its heads.
func groupedShapes(mode schema.Mode) []Shape {
	if mode == schema.Quick {
		return []Shape{dims(groupedDims, 1, 4, 1, 128, 128, 128)}
	}
	shapes := []Shape{dims(groupedDims, 1, 8, 2, 512, 512, 128), dims(groupedDims, 4, 32, 8, 128, 128, 128)}
	if mode == schema.Full {
		shapes = append(shapes,
			dims(groupedDims, 1, 32, 8, 512, 512, 128), dims(groupedDims, 1, 32, 8, 1024, 1024, 128),
			dims(groupedDims, 1, 8, 2, 2048, 2048, 128), dims(groupedDims, 1, 8, 2, 128, 8192, 128))
	}
	return shapes
}

// decodeAttentionShapes are those of a 7B decoder, without groups and with, at batch 1
// and 8; in full mode of longer sequences, and at batch 32.
func decodeAttentionShapes(mode schema.Mode) []Shape {
	if mode == schema.Quick {
		return []Shape{dims(decodeDims, 1, 32, 8, 512, 128)}
	}
	shapes := []Shape{dims(decodeDims, 1, 32, 32, 512, 128), dims(decodeDims, 8, 32, 8, 512, 128)}
	if mode == schema.Full {
		shapes = append(shapes,
			dims(decodeDims, 1, 32, 32, 2048, 128), dims(decodeDims, 1, 32, 32, 8192, 128),
			dims(decodeDims, 1, 32, 8, 2048, 128), dims(decodeDims, 1, 32, 8, 8192, 128),
			dims(decodeDims, 32, 32, 32, 512, 128), dims(decodeDims, 32, 32, 8, 2048, 128))
	}
	return shapes
}

// sweepKeys are the lengths along which the sweeps of decoders go.
var sweepKeys = []int64{128, 256, 512, 1024, 1536, 2048, 3072, 4096, 8192}

// alongKeys makes a shape for each length.
func alongKeys(shape func(keys int64) Shape) []Shape {
	var shapes []Shape
	for _, keys := range sweepKeys {
		shapes = append(shapes, shape(keys))
	}
	return shapes
}

func init() {
	register(Pattern{
		Name: "Causal_Attention", Group: "attention", Doc: "attention whose queries see no key behind their own: the prefill of a decoder",
		Dims: causalDims, Shapes: causalShapes,
		Throughput: func(schema.Mode) []Shape { return []Shape{dims(causalDims, 4, 16, 4096, 4096, 128)} },
		Sweep:      alongKeys(func(keys int64) Shape { return dims(causalDims, 1, 2, min(keys, 256), keys, 64) }),
		Chain: func(s Shape, _ int64) (Chain, error) {
			return decoderAttention(s, s.Get("heads"), s.Get("queries"))
		},
	})
	register(Pattern{
		Name: "Grouped_Query_Attention", Group: "attention", Doc: "causal attention whose heads share K and V in groups",
		Dims: groupedDims, Shapes: groupedShapes,
		Throughput: func(schema.Mode) []Shape { return []Shape{dims(groupedDims, 4, 32, 8, 2048, 2048, 128)} },
		Sweep:      alongKeys(func(keys int64) Shape { return dims(groupedDims, 1, 4, 1, min(keys, 128), keys, 64) }),
		Chain: func(s Shape, _ int64) (Chain, error) {
			return decoderAttention(s, s.Get("kv_heads"), s.Get("queries"))
		},
	})
	register(Pattern{
		Name: "Decode_Attention", Group: "attention", Doc: "attention of one query to all keys so far, bound by reading K and V",
		Dims: decodeDims, Shapes: decodeAttentionShapes,
		Throughput: func(schema.Mode) []Shape { return []Shape{dims(decodeDims, 64, 32, 8, 4096, 128)} },
		Sweep:      alongKeys(func(keys int64) Shape { return dims(decodeDims, 1, 16, 4, keys, 128) }),
		Chain: func(s Shape, _ int64) (Chain, error) {
			return decoderAttention(s, s.Get("kv_heads"), 1)
		},
	})
}
