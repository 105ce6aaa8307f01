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

// linear is a fully connected layer with bias and the given operations behind it. In
// bf16 and fp16 everything that is stored is in that type, the bias too, as PyTorch has
// it.
func linear(s Shape, then ...func(*Tensor) Op) Chain {
	return layer(Gemm(linearInputs(s)), then)
}

// quantized is the layer in int8: bias and activation work on the sums, in int32, and
// what comes out is requantized, so that inputs of deviation 1 give outputs of about 1.
func quantized(s Shape, then ...func(*Tensor) Op) Chain {
	c := layer(Sums(Gemm(linearInputs(s))), then)
	scale := channels("scale", s.Get("n"), Positive)
	scale.Factors = true
	return append(c, Requantize(c.Output(), scale, 1/(Int8Unit*math.Sqrt(float64(s.Get("k"))))))
}

// layer is a product and the operations behind it, which begin with the bias.
func layer(gemm Op, then []func(*Tensor) Op) Chain {
	b := &Tensor{Name: "b", Dims: gemm.Out.Dims[1:], Param: true, Sums: gemm.Out.Sums}
	c := Chain{gemm, Bias(gemm.Out, b)}
	for _, op := range then {
		c = append(c, op(c.Output()))
	}
	return c
}

// linearShapes: layers of moderate size, smaller in quick runs, so that they too
// see enough blocks; a few rows against wide weights; the feed-forward of
// BERT-base at 384 tokens; a 7B decoder's projection at batch 32.
func linearShapes(mode schema.Mode) []Shape {
	if mode == schema.Quick {
		return []Shape{dims(linearDims, 128, 1024, 1024)}
	}
	shapes := []Shape{dims(linearDims, 512, 1024, 1024), dims(linearDims, 32, 1024, 1024)}
	if mode == schema.Full {
		shapes = append(shapes, dims(linearDims, 384, 3072, 768), dims(linearDims, 32, 4096, 4096))
	}
	return shapes
}

func init() {
	for _, p := range []struct {
		name, doc string
		int8      bool // GELU and its like are no functions of integers: networks compute them in real numbers
		then      []func(*Tensor) Op
	}{
		{"Linear_Bias", "fully connected layer: X W + b", true, nil},
		{"Linear_Bias_ReLU", "fully connected layer and max(x, 0)", true, []func(*Tensor) Op{ReLU}},
		{"Linear_Bias_GELU", "fully connected layer and GELU (erf)", false, []func(*Tensor) Op{GELU}},
	} {
		pattern := Pattern{
			Name: p.name, Group: "linear", Doc: p.doc,
			Dims:   linearDims,
			Shapes: linearShapes,
			Chain:  func(s Shape, _ int64) (Chain, error) { return linear(s, p.then...), nil },
		}
		if p.int8 {
			pattern.Quantized = func(s Shape, _ int64) (Chain, error) { return quantized(s, p.then...), nil }
		}
		Register(pattern)
	}
}
