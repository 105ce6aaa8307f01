package bench

import (
	"math"

	"hwcal/schema"
)

// convDims: X[batch,channels,height,width], out_channels filters of
// kernel_size x kernel_size.
var convDims = []string{"batch", "channels", "height", "width", "out_channels", "kernel_size", "stride", "padding", "groups"}

// batchNormEps is the constant that frameworks use by default.
const batchNormEps = 1e-5

// conv2d is a convolution of X with its own bias, or none.
func conv2d(x *Tensor, filters, size int64, bias bool, params Conv2dParams) (Op, error) {
	w := &Tensor{Name: "W", Dims: []int64{filters, x.Dims[1] / max(params.Groups, 1), size, size}, Param: true}
	var b *Tensor
	if bias {
		b = channels("b", filters, Normal)
	}
	return Conv2d(x, w, b, params)
}

// convInput is X.
func convInput(s Shape) *Tensor {
	return &Tensor{Name: "X", Dims: []int64{s.Get("batch"), s.Get("channels"), s.Get("height"), s.Get("width")}}
}

// channels is a parameter with one element a channel.
func channels(name string, k int64, fill Fill) *Tensor {
	return &Tensor{Name: name, Dims: []int64{k}, Param: true, Fill: fill}
}

// batchNorm has statistics that are nowhere trivial.
func batchNorm(x *Tensor) Op {
	k := x.Dims[1]
	return BatchNorm(x, channels("gamma", k, Normal), channels("beta", k, Normal),
		channels("mean", k, Normal), channels("variance", k, Positive), batchNormEps)
}

func channelBias(x *Tensor) Op {
	b := channels("b", x.Dims[1], Normal)
	b.Sums = x.Sums
	return ChannelBias(x, b)
}

// addResidual is the end of a residual block.
func addResidual(x *Tensor) Op { return Add(x, like("residual", x)) }

// resNet50 are its layers: of each stage the 3x3, the 1x1 that narrows and the 1x1 that
// widens; between the stages the strided 3x3 and 1x1; the stem.
func resNet50(batch int64) []Shape {
	shapes := []Shape{dims(convDims, batch, 3, 224, 224, 64, 7, 2, 3, 1), dims(convDims, batch, 64, 56, 56, 64, 1, 1, 0, 1)}
	side, narrow := int64(56), int64(64)
	for stage := range 4 {
		if stage > 0 {
			shapes = append(shapes,
				dims(convDims, batch, 2*narrow, 2*side, 2*side, narrow, 1, 1, 0, 1),
				dims(convDims, batch, narrow, 2*side, 2*side, narrow, 3, 2, 1, 1),
				dims(convDims, batch, 2*narrow, 2*side, 2*side, 4*narrow, 1, 2, 0, 1))
		}
		shapes = append(shapes,
			dims(convDims, batch, 4*narrow, side, side, narrow, 1, 1, 0, 1),
			dims(convDims, batch, narrow, side, side, narrow, 3, 1, 1, 1),
			dims(convDims, batch, narrow, side, side, 4*narrow, 1, 1, 0, 1))
		side, narrow = side/2, narrow*2
	}
	return shapes
}

// convShapes: a 3x3 of ResNet-50 and the 1x1 that widens in its first stage, at batch 1, a smaller one in quick runs.
// Full runs see all of its layers at batches of 1 and 4, and a depthwise 3x3 as in MobileNet.
func convShapes(mode schema.Mode) []Shape {
	switch mode {
	case schema.Quick:
		return []Shape{dims(convDims, 1, 64, 28, 28, 64, 3, 1, 1, 1)}
	case schema.Full:
		return append(append(resNet50(1), resNet50(4)...), dims(convDims, 1, 128, 56, 56, 128, 3, 1, 1, 128))
	}
	return []Shape{dims(convDims, 1, 128, 28, 28, 128, 3, 1, 1, 1), dims(convDims, 1, 64, 56, 56, 256, 1, 1, 0, 1)}
}

// convThroughput is ResNet-50 at batch 64, a 3x3 of it, and in full runs all of its layers.
func convThroughput(mode schema.Mode) []Shape {
	if mode == schema.Full {
		return resNet50(64)
	}
	return []Shape{dims(convDims, 64, 128, 28, 28, 128, 3, 1, 1, 1)}
}

// convSweep grows the image of a 3x3 with 64 channels: from where all fits into L1 or
// L2 to where it is memory that the operations meet in.
func convSweep() []Shape {
	var shapes []Shape
	for _, side := range sweepSides {
		shapes = append(shapes, dims(convDims, 1, 64, side, side, 64, 3, 1, 1, 1))
	}
	return shapes
}

var sweepSides = []int64{7, 10, 14, 20, 28, 40, 56, 80, 112}

func init() {
	for _, p := range []struct {
		name, doc string
		ownBias   bool
		then      []func(*Tensor) Op
		// Networks fold batch norm before they are quantized.
		int8 bool
	}{
		{"Conv2d_Bias", "convolution and a bias for each channel", false, []func(*Tensor) Op{channelBias}, true},
		{"Conv2d_ReLU", "convolution and max(x, 0)", true, []func(*Tensor) Op{ReLU}, true},
		{"Conv2d_BatchNorm", "convolution and batch norm, fused by folding it into the weights", true, []func(*Tensor) Op{batchNorm}, false},
		{"Conv2d_BatchNorm_ReLU", "convolution, folded batch norm and max(x, 0)", true, []func(*Tensor) Op{batchNorm, ReLU}, false},
		{"Conv2d_BatchNorm_Add_ReLU", "the end of a residual block: convolution, folded batch norm, sum with the residual, max(x, 0)", true, []func(*Tensor) Op{batchNorm, addResidual, ReLU}, false},
	} {
		layerOf := func(s Shape) (Op, error) {
			return conv2d(convInput(s), s.Get("out_channels"), s.Get("kernel_size"), p.ownBias,
				Conv2dParams{s.Get("stride"), s.Get("padding"), s.Get("groups")})
		}
		pattern := Pattern{
			Name: p.name, Group: "conv", Doc: p.doc,
			Dims:   convDims,
			Shapes: convShapes, Throughput: convThroughput, Sweep: convSweep(),
			Chain: func(s Shape, _ int64) (Chain, error) {
				conv, err := layerOf(s)
				if err != nil {
					return nil, err
				}
				return layer(conv, p.then), nil
			},
		}
		if p.int8 {
			pattern.Quantized = func(s Shape, _ int64) (Chain, error) {
				conv, err := layerOf(s)
				if err != nil {
					return nil, err
				}
				return quantizedConv(conv, p.then), nil
			}
		}
		register(pattern)
	}
}

// The convolution alone, with its bias.
func init() {
	register(Pattern{
		Name: "conv2d", Group: operationGroup, Doc: "convolution with a bias, of X[batch,channels,height,width]",
		Dims: convDims, Shapes: convShapes, Throughput: convThroughput,
		Chain: func(s Shape, _ int64) (Chain, error) {
			conv, err := conv2d(convInput(s), s.Get("out_channels"), s.Get("kernel_size"), true, Conv2dParams{s.Get("stride"), s.Get("padding"), s.Get("groups")})
			return Chain{conv}, err
		},
	})
}

// quantizedConv is the layer in int8, as quantized has it.
func quantizedConv(conv Op, then []func(*Tensor) Op) Chain {
	for _, b := range conv.In[2:] {
		b.Sums = true
	}
	c := layer(Sums(conv), then)
	w := conv.In[1]
	scale := channels("scale", w.Dims[0], Positive)
	scale.Factors = true
	return append(c, ChannelRequantize(c.Output(), scale, 1/(Int8Unit*math.Sqrt(float64(w.Elems()/w.Dims[0])))))
}
