package bench

import "hwcal/schema"

// convDims: X[batch,channels,height,width], out_channels filters of
// kernel_size x kernel_size.
var convDims = []string{"batch", "channels", "height", "width", "out_channels", "kernel_size", "stride", "padding", "groups"}

// batchNormEps is the constant that frameworks use by default.
const batchNormEps = 1e-5

// conv2d is a convolution with its own bias.
func conv2d(s Shape) (Chain, error) {
	k, r, groups := s.Get("out_channels"), s.Get("kernel_size"), s.Get("groups")
	x := &Tensor{Name: "X", Dims: []int64{s.Get("batch"), s.Get("channels"), s.Get("height"), s.Get("width")}}
	w := &Tensor{Name: "W", Dims: []int64{k, s.Get("channels") / max(groups, 1), r, r}, Param: true}
	op, err := Conv2d(x, w, channels("b", k, Normal), Conv2dParams{s.Get("stride"), s.Get("padding"), groups})
	return Chain{op}, err
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

// convShapes are taken from ResNet-50: a 3x3 at batch 4 (1 in quick runs), the 1x1
// that widens and the 3x3 of its first stage, a strided 3x3, the 3x3 of its last
// stage; and a depthwise 3x3 as in MobileNet.
func convShapes(mode schema.Mode) []Shape {
	if mode == schema.Quick {
		return []Shape{dims(convDims, 1, 128, 28, 28, 128, 3, 1, 1, 1)}
	}
	shapes := []Shape{dims(convDims, 4, 128, 28, 28, 128, 3, 1, 1, 1), dims(convDims, 1, 64, 56, 56, 256, 1, 1, 0, 1)}
	if mode == schema.Full {
		shapes = append(shapes,
			dims(convDims, 1, 64, 56, 56, 64, 3, 1, 1, 1),
			dims(convDims, 1, 128, 56, 56, 128, 3, 2, 1, 1),
			dims(convDims, 1, 512, 7, 7, 512, 3, 1, 1, 1),
			dims(convDims, 1, 128, 56, 56, 128, 3, 1, 1, 128))
	}
	return shapes
}

func init() {
	for _, p := range []struct {
		name, doc string
		then      []func(*Tensor) Op
	}{
		{"Conv2d_ReLU", "convolution and max(x, 0)", []func(*Tensor) Op{ReLU}},
		{"Conv2d_BatchNorm", "convolution and batch norm, fused by folding it into the weights", []func(*Tensor) Op{batchNorm}},
		{"Conv2d_BatchNorm_ReLU", "convolution, folded batch norm and max(x, 0)", []func(*Tensor) Op{batchNorm, ReLU}},
	} {
		Register(Pattern{
			Name: p.name, Group: "conv", Doc: p.doc,
			Dims:   convDims,
			Shapes: convShapes,
			Chain: func(s Shape, _ int64) (Chain, error) {
				c, err := conv2d(s)
				for _, op := range p.then {
					if err != nil {
						return nil, err
					}
					c = append(c, op(c.Output()))
				}
				return c, err
			},
		})
	}
}
