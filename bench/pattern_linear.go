package bench

import (
	"math"

	"hwcal/schema"
)

// linearDims: X[m,k], W[k,n].
var linearDims = []string{"m", "n", "k"}

func linearInputs(s Shape) (x, w *Tensor) {
	m, n, k := s.Get("m"), s.Get("n"), s.Get("k")
	return &Tensor{Name: "X", Dims: []int64{m, k}}, &Tensor{Name: "W", Dims: []int64{k, n}, Param: true}
}

// linear is a fully connected layer and the given operations behind it. In bf16 and
// fp16 everything that is stored is in that type, the bias too, as PyTorch has it.
func linear(s Shape, then ...func(*Tensor) Op) Chain {
	return layer(Gemm(linearInputs(s)), then)
}

// quantized is the layer in int8: what is behind it works on the sums, in int32, and
// what comes out is requantized, so that inputs of deviation 1 give outputs of about 1.
func quantized(s Shape, then ...func(*Tensor) Op) Chain {
	c := layer(Sums(Gemm(linearInputs(s))), then)
	scale := channels("scale", s.Get("n"), Positive)
	scale.Factors = true
	return append(c, Requantize(c.Output(), scale, 1/(Int8Unit*math.Sqrt(float64(s.Get("k"))))))
}

// layer is a product, or a convolution, and the operations behind it.
func layer(first Op, then []func(*Tensor) Op) Chain {
	c := Chain{first}
	for _, op := range then {
		c = append(c, op(c.Output()))
	}
	return c
}

// bias is one of each output feature.
func bias(x *Tensor) Op {
	return Bias(x, &Tensor{Name: "b", Dims: x.Dims[1:], Param: true, Sums: x.Sums})
}

// residual is what goes past a layer.
func residual(x *Tensor) Op { return Add(x, like("R", x)) }

// projection goes back to the width of X[m,k].
func projection(s Shape) func(*Tensor) Op {
	return func(x *Tensor) Op {
		return Gemm(x, &Tensor{Name: "W2", Dims: []int64{s.Get("n"), s.Get("k")}, Param: true})
	}
}

// swiGLU multiplies what two layers of the same input give.
func swiGLU(s Shape) Chain {
	c := linear(s, SiLU)
	_, up := linearInputs(s)
	up.Name = "V"
	value := Gemm(c[0].In[0], up)
	return append(c, value, Mul(c[1].Out, value.Out))
}

// linearShapes: the width of BERT-large at 128 tokens, smaller in quick runs, so that samples are short and a pair
// has many blocks; a single row. In full runs that at 512 tokens, and layers of BERT-base at 384 tokens, of ViT-B/16,
// and of a 7B decoder at 1 and 32 rows.
func linearShapes(mode schema.Mode, layers []Shape) []Shape {
	if mode == schema.Quick {
		return []Shape{dims(linearDims, 32, 512, 512)}
	}
	shapes := []Shape{dims(linearDims, 128, 1024, 1024), dims(linearDims, 1, 1024, 1024)}
	if mode == schema.Full {
		shapes = append(append(shapes, dims(linearDims, 512, 1024, 1024)), layers...)
	}
	return shapes
}

// Behind the layers that widen comes a function, behind those that end with the width of the network a residual or a
// norm, or nothing, as behind the three in front of attention.
var (
	expansions = []Shape{
		dims(linearDims, 384, 3072, 768),
		dims(linearDims, 197, 3072, 768),
		dims(linearDims, 1, 11008, 4096), dims(linearDims, 32, 11008, 4096),
	}
	projections = []Shape{
		dims(linearDims, 384, 768, 768), dims(linearDims, 384, 768, 3072),
		dims(linearDims, 197, 768, 768), dims(linearDims, 197, 768, 3072),
		dims(linearDims, 1, 4096, 4096), dims(linearDims, 32, 4096, 4096),
		dims(linearDims, 1, 4096, 11008), dims(linearDims, 32, 4096, 11008),
	}
)

// linearThroughput are the projections of a 7B decoder at 4096 tokens, or as many rows of BERT-base.
func linearThroughput(mode schema.Mode) []Shape {
	shapes := []Shape{dims(linearDims, 4096, 4096, 4096)}
	if mode == schema.Full {
		shapes = append(shapes, dims(linearDims, 4096, 11008, 4096), dims(linearDims, 4096, 3072, 768))
	}
	return shapes
}

// linearSweep has ever more rows for the same weights, and fewer where a chain
// multiplies twice.
func linearSweep(products int64) []Shape {
	var shapes []Shape
	for _, m := range []int64{1, 4, 8, 16, 32, 64, 128, 256, 512} {
		shapes = append(shapes, dims(linearDims, max(1, m/products), 1024, 1024))
	}
	return shapes
}

func init() {
	for _, p := range []struct {
		name, doc string
		products  int64
		layers    []Shape
		chain     func(Shape) Chain
		// GELU and its like are no functions of integers: networks compute them, and norms,
		// in real numbers.
		int8 []func(*Tensor) Op
	}{
		{"Linear_Bias", "fully connected layer: X W + b", 1, projections, func(s Shape) Chain { return linear(s, bias) }, []func(*Tensor) Op{bias}},
		{"Linear_Bias_ReLU", "fully connected layer and max(x, 0)", 1, expansions, func(s Shape) Chain { return linear(s, bias, ReLU) }, []func(*Tensor) Op{bias, ReLU}},
		{"Linear_Bias_GELU", "fully connected layer and GELU (erf)", 1, expansions, func(s Shape) Chain { return linear(s, bias, GELU) }, nil},
		{"Linear_Bias_SiLU", "fully connected layer and SiLU", 1, expansions, func(s Shape) Chain { return linear(s, bias, SiLU) }, nil},
		{"Linear_Bias_Residual", "fully connected layer and the sum with a matrix", 1, projections, func(s Shape) Chain { return linear(s, bias, residual) }, nil},
		{"Linear_Bias_GELU_Linear", "two layers with GELU between: GELU(X[m,k] W[k,n] + b) W2[n,k]", 2, expansions, func(s Shape) Chain {
			return linear(s, bias, GELU, projection(s))
		}, nil},
		{"SwiGLU", "gated layer: SiLU(X W) * (X V)", 2, expansions, swiGLU, nil},
		{"Linear_LayerNorm", "layer norm of X W", 1, projections, func(s Shape) Chain { return linear(s, layerNorm) }, nil},
	} {
		pattern := Pattern{
			Name: p.name, Group: "linear", Doc: p.doc,
			Dims:       linearDims,
			Shapes:     func(mode schema.Mode) []Shape { return linearShapes(mode, p.layers) },
			Throughput: linearThroughput, Sweep: linearSweep(p.products),
			Chain: func(s Shape, _ int64) (Chain, error) { return p.chain(s), nil },
		}
		if p.int8 != nil {
			pattern.Quantized = func(s Shape, _ int64) (Chain, error) { return quantized(s, p.int8...), nil }
		}
		register(pattern)
	}
}
