package bench

import "hwcal/schema"

// layerNormEps is the constant that frameworks use by default.
const layerNormEps = 1e-5

// dropoutShare is that of BERT.
var dropoutShare = DropoutParams{P: 0.1, Seed: 1}

// rowDims: X[rows,cols].
var rowDims = []string{"rows", "cols"}

func rowInput(name string, s Shape) *Tensor {
	return &Tensor{Name: name, Dims: []int64{s.Get("rows"), s.Get("cols")}}
}

// layerNorm has parameters that are nowhere trivial.
func layerNorm(x *Tensor) Op {
	n := x.Dims[len(x.Dims)-1:]
	return LayerNorm(x, &Tensor{Name: "gamma", Dims: n, Param: true}, &Tensor{Name: "beta", Dims: n, Param: true}, layerNormEps)
}

// rowShapes are activations of networks: one token and 512 of a layer of moderate size; the
// hidden layers of BERT-base at 384 tokens and of ViT-B/16, and a 7B decoder's at 1 and
// 32 rows.
func rowShapes(mode schema.Mode) []Shape {
	if mode == schema.Quick {
		return []Shape{dims(rowDims, 128, 1024)}
	}
	shapes := []Shape{dims(rowDims, 512, 1024), dims(rowDims, 1, 4096)}
	if mode == schema.Full {
		shapes = append(shapes, dims(rowDims, 384, 768), dims(rowDims, 384, 3072), dims(rowDims, 197, 768), dims(rowDims, 32, 4096))
	}
	return shapes
}

// rowThroughput is the hidden layer of a 7B decoder at 16384 tokens, far beyond the caches of a GPU.
func rowThroughput(schema.Mode) []Shape { return []Shape{dims(rowDims, 16384, 4096)} }

func maskThroughput(schema.Mode) []Shape { return []Shape{dims(maskDims, 64, 1024, 1024)} }

// rowSweep goes from what fits into L1 to beyond the caches.
func rowSweep() []Shape {
	var shapes []Shape
	for _, rows := range []int64{1, 4, 16, 64, 256, 512, 1024, 2048, 4096} {
		shapes = append(shapes, dims(rowDims, rows, 1024))
	}
	return shapes
}

// maskDims: scores X[heads,queries,keys] of all heads of a batch, a mask
// M[queries,keys] for all of them.
var maskDims = []string{"heads", "queries", "keys"}

// maskShapes are scores of attention at 256 tokens in 8 heads, and of the last of 1024
// tokens; those of BERT-base at 384 tokens and of a decoder's 32 heads.
func maskShapes(mode schema.Mode) []Shape {
	if mode == schema.Quick {
		return []Shape{dims(maskDims, 4, 128, 128)}
	}
	shapes := []Shape{dims(maskDims, 8, 256, 256), dims(maskDims, 32, 1, 1024)}
	if mode == schema.Full {
		shapes = append(shapes, dims(maskDims, 12, 384, 384), dims(maskDims, 12, 512, 512), dims(maskDims, 32, 32, 1024))
	}
	return shapes
}

func maskSweep() []Shape {
	var shapes []Shape
	for _, queries := range []int64{1, 2, 4, 8, 16, 32, 64, 128, 256} {
		shapes = append(shapes, dims(maskDims, 8, queries, 1024))
	}
	return shapes
}

// elementwises are the patterns without a matrix multiplication.
var elementwises = []Pattern{
	{
		Name: "Bias_GELU_Dropout", Doc: "bias, GELU (erf) and dropout of one in ten",
		Dims: rowDims, Shapes: rowShapes, Throughput: rowThroughput, Sweep: rowSweep(),
		Chain: func(s Shape, _ int64) (Chain, error) {
			bias := Bias(rowInput("X", s), &Tensor{Name: "b", Dims: []int64{s.Get("cols")}, Param: true})
			gelu := GELU(bias.Out)
			return Chain{bias, gelu, Dropout(gelu.Out, dropoutShare)}, nil
		},
	},
	{
		Name: "Residual_LayerNorm", Doc: "layer norm of the sum of two matrices",
		Dims: rowDims, Shapes: rowShapes, Throughput: rowThroughput, Sweep: rowSweep(),
		Chain: func(s Shape, _ int64) (Chain, error) {
			add := Add(rowInput("X", s), rowInput("R", s))
			return Chain{add, layerNorm(add.Out)}, nil
		},
	},
	{
		Name: "Softmax_Mask", Doc: "softmax of scores to which a mask is added",
		Dims: maskDims, Shapes: maskShapes, Throughput: maskThroughput, Sweep: maskSweep(),
		Chain: func(s Shape, _ int64) (Chain, error) {
			heads, queries, keys := s.Get("heads"), s.Get("queries"), s.Get("keys")
			mask := Mask(&Tensor{Name: "X", Dims: []int64{heads, queries, keys}},
				&Tensor{Name: "M", Dims: []int64{queries, keys}, Fill: Masking})
			return Chain{mask, Softmax(mask.Out)}, nil
		},
	},
}

func init() {
	for _, p := range elementwises {
		p.Group = "elementwise"
		register(p)
	}
}
