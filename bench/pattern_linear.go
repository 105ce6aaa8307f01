package bench

import "hwcal/schema"

// linearDims: X[m,k], W[k,n].
var linearDims = []string{"m", "n", "k"}

func linearInputs(s Shape) (x, w *Tensor) {
	m, n, k := s.Get("m"), s.Get("n"), s.Get("k")
	return &Tensor{Name: "X", Dims: []int64{m, k}}, &Tensor{Name: "W", Dims: []int64{k, n}, Param: true}
}

// linear is a fully connected layer with bias and the given operations behind it.
func linear(s Shape, then ...func(*Tensor) Op) Chain {
	x, w := linearInputs(s)
	gemm := Gemm(x, w)
	c := Chain{gemm, Bias(gemm.Out, &Tensor{Name: "b", Dims: w.Dims[1:], Param: true})}
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

// linearSweep are layers of more and more rows.
func linearSweep() []Shape {
	var shapes []Shape
	for _, m := range []int64{1, 4, 16, 64, 128, 256, 512, 1024, 2048} {
		shapes = append(shapes, dims(linearDims, m, 1024, 1024))
	}
	return shapes
}

func init() {
	for _, p := range []struct {
		name, doc string
		then      []func(*Tensor) Op
	}{
		{"Linear_Bias", "fully connected layer: X W + b", nil},
		{"Linear_Bias_ReLU", "fully connected layer and max(x, 0)", []func(*Tensor) Op{ReLU}},
		{"Linear_Bias_GELU", "fully connected layer and GELU (erf)", []func(*Tensor) Op{GELU}},
	} {
		Register(Pattern{
			Name: p.name, Group: "linear", Doc: p.doc,
			Dims:   linearDims,
			Shapes: linearShapes,
			Sweep:  linearSweep(),
			Chain:  func(s Shape, _ int64) (Chain, error) { return linear(s, p.then...), nil },
		})
	}
}
