package bench

import "hwcal/schema"

// operationDims: X[batch*seq,dim], the activations of a network; rows are those of the
// matrix, batch*seq of them.
var operationDims = []string{"batch", "seq", "dim"}

// vocabulary is that of LLaMA.
const vocabulary = 32000

// operationShapes are the named sizes small, medium and large, squares of 1024, 2048 and
// 4096; so few elements that their time is what a call costs; and around 32 sequences of
// 512 tokens in 1024 dimensions all that occur along one of the axes.
func operationShapes(mode schema.Mode) []Shape {
	shape := func(batch, seq, dim int64) Shape { return dims(operationDims, batch, seq, dim) }
	shapes := []Shape{shape(1, 1024, 1024)}
	if mode != schema.Quick {
		shapes = append(shapes, shape(1, 1, 8), shape(1, 4096, 4096))
	}
	if mode == schema.Full {
		shapes = append(shapes, shape(1, 16, 1024), shape(1, 2048, 2048))
		for _, batch := range []int64{16, 32, 64, 128} {
			shapes = append(shapes, shape(batch, 512, 1024))
		}
		for _, seq := range []int64{256, 1024, 2048} {
			shapes = append(shapes, shape(32, seq, 1024))
		}
		for dim := int64(8); dim <= 4096; dim *= 2 {
			if dim != 1024 { // measured above
				shapes = append(shapes, shape(32, 512, dim))
			}
		}
	}
	return shapes
}

// operation is a pattern of one operation on X[rows,dim].
type operation struct {
	name, doc string
	op        func(x *Tensor, s Shape) Op
}

// second is a matrix beside X.
func second(x *Tensor, fill Fill) *Tensor { return &Tensor{Name: "Z", Dims: x.Dims, Fill: fill} }

// vector has one element a row, or one a column.
func vector(name string, n int64, fill Fill) *Tensor {
	return &Tensor{Name: name, Dims: []int64{n}, Fill: fill}
}

func alone(op func(*Tensor) Op) func(*Tensor, Shape) Op {
	return func(x *Tensor, _ Shape) Op { return op(x) }
}

func together(op func(x, z *Tensor) Op, fill Fill) func(*Tensor, Shape) Op {
	return func(x *Tensor, _ Shape) Op { return op(x, second(x, fill)) }
}

func reducing(op func(Reduction, *Tensor) Op, r Reduction) func(*Tensor, Shape) Op {
	return func(x *Tensor, _ Shape) Op { return op(r, x) }
}

// operations in the order in which they are listed.
var operations = []operation{
	{"add", "x + z", together(Add, Normal)},
	{"sub", "x - z", together(Sub, Normal)},
	{"mul", "x z", together(Mul, Normal)},
	{"div", "x / z", together(Div, Positive)},
	{"exp", "e^x", alone(Exp)},
	{"relu", "max(x, 0)", alone(ReLU)},
	{"gelu", "x/2 (1 + erf(x/sqrt 2))", alone(GELU)},
	{"gelu_tanh", "x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))", alone(GELUTanh)},
	{"silu", "x / (1 + e^-x), also called Swish", alone(SiLU)},
	{"sigmoid", "1 / (1 + e^-x)", alone(Sigmoid)},
	{"tanh", "tanh x", alone(Tanh)},
	{"bias", "x + b[dim]", func(x *Tensor, s Shape) Op {
		return Bias(x, &Tensor{Name: "b", Dims: []int64{s.Get("dim")}, Param: true})
	}},
	{"reduce_sum_rows", "y[rows]: the sum of each row, the last axis goes", reducing(ReduceRows, ReduceSum)},
	{"reduce_max_rows", "y[rows]: the maximum of each row, the last axis goes", reducing(ReduceRows, ReduceMax)},
	{"reduce_mean_rows", "y[rows]: the mean of each row, the last axis goes", reducing(ReduceRows, ReduceMean)},
	{"reduce_sum_cols", "y[dim]: the sum of each column, the first axis goes", reducing(ReduceCols, ReduceSum)},
	{"reduce_max_cols", "y[dim]: the maximum of each column, the first axis goes", reducing(ReduceCols, ReduceMax)},
	{"reduce_mean_cols", "y[dim]: the mean of each column, the first axis goes", reducing(ReduceCols, ReduceMean)},
	{"softmax", "e^x / sum over each row", alone(Softmax)},
	{"layernorm", "(x - mean) / sqrt(variance + eps) gamma + beta over each row", alone(layerNorm)},
	{"rmsnorm", "x / sqrt(mean square + eps) gamma over each row", func(x *Tensor, s Shape) Op {
		return RMSNorm(x, &Tensor{Name: "gamma", Dims: []int64{s.Get("dim")}, Param: true}, layerNormEps)
	}},
	{"batchnorm", "inference, over the dim channels of X[batch,dim,seq]", func(_ *Tensor, s Shape) Op {
		return batchNorm(&Tensor{Name: "X", Dims: []int64{s.Get("batch"), s.Get("dim"), 1, s.Get("seq")}})
	}},
	{"dropout", "0 for one element in ten, x / 0.9 for the others", func(x *Tensor, _ Shape) Op { return Dropout(x, dropoutShare) }},
	{"mse", "one number: the mean of (x - z)^2", together(MSE, Normal)},
	{"cross_entropy", "y[rows]: log(sum of e^x) - x[label] of each row, the class of which labels[rows] tells", func(x *Tensor, s Shape) Op {
		return CrossEntropy(x, vector("labels", x.Dims[0], Labels(s.Get("dim"))))
	}},
	{"embedding", "Y[rows,dim]: the rows indices[rows] of a table of 32000", func(x *Tensor, s Shape) Op {
		table := &Tensor{Name: "table", Dims: []int64{vocabulary, s.Get("dim")}}
		return Embedding(table, vector("indices", x.Dims[0], Labels(vocabulary)))
	}},
	{"transpose", "Y[dim,rows]", alone(Transpose)},
	{"permute", "Y[batch,heads,seq,d]: the heads of X[batch,seq,heads,d] apart, of d = 64 columns, or what of that divides dim", func(x *Tensor, s Shape) Op {
		return SplitHeads(x, s.Get("batch"), s.Get("dim")/headColumns(s.Get("dim")))
	}},
	{"concat", "Y[rows,2 dim]: the rows of Z behind those of X", together(Concat, Normal)},
	{"copy", "y = x", alone(Copy)},
	{"set", "y = 3", func(x *Tensor, _ Shape) Op { return Set(&Tensor{Name: "Y", Dims: x.Dims}, streamScalar) }},
}

// headColumns is the largest power of 2, up to 64, that divides the columns of all heads.
func headColumns(dim int64) int64 { return min(dim&-dim, 64) }

func init() {
	for _, o := range operations {
		register(Pattern{
			Name: o.name, Group: "operation", Doc: o.doc, Dims: operationDims, Shapes: operationShapes,
			Chain: func(s Shape, _ int64) (Chain, error) {
				x := &Tensor{Name: "X", Dims: []int64{s.Get("batch") * s.Get("seq"), s.Get("dim")}}
				return Chain{o.op(x, s)}, nil
			},
		})
	}
}
