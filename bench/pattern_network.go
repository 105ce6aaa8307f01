package bench

import (
	"errors"

	"hwcal/schema"
)

// Whole networks, or a layer of those that repeat one: what their parts save, in the proportion in
// which they occur. Their convolutions have no bias of their own, as batch norm has one.

// imageDims: X[batch,3,height,width].
var imageDims = []string{"batch", "height", "width"}

// encoderDims: X[batch*seq,64 heads].
var encoderDims = []string{"batch", "seq", "heads"}

// classes of ImageNet.
const classes = 1000

// network collects operations.
type network struct {
	chain Chain
	err   error
}

func (n *network) then(op Op) *Tensor {
	n.chain = append(n.chain, op)
	return op.Out
}

// or keeps the error of an operation that the shape does not allow; the input stands for its output.
func (n *network) or(x *Tensor, op Op, err error) *Tensor {
	if n.err = errors.Join(n.err, err); err != nil {
		return x
	}
	return n.then(op)
}

// conv is a convolution that keeps the size of an image, but for the stride, and its batch norm.
func (n *network) conv(x *Tensor, filters, size, stride, groups int64) *Tensor {
	each := x.Dims[1] / groups
	w := &Tensor{Name: "W", Dims: []int64{filters, each, size, size}, Param: true, Fill: Averaging(each * size * size)}
	op, err := Conv2d(x, w, nil, Conv2dParams{stride, size / 2, groups})
	return n.then(batchNorm(n.or(x, op, err)))
}

func (n *network) convReLU(x *Tensor, filters, size, stride, groups int64) *Tensor {
	return n.then(ReLU(n.conv(x, filters, size, stride, groups)))
}

// linear is a fully connected layer with a bias.
func (n *network) linear(x *Tensor, features int64) *Tensor {
	k := x.Dims[1]
	w := &Tensor{Name: "W", Dims: []int64{k, features}, Param: true, Fill: Averaging(k)}
	return n.then(bias(n.then(Gemm(x, w))))
}

// classify is the end of a network for images.
func (n *network) classify(x *Tensor) (Chain, error) {
	n.linear(n.then(GlobalAveragePool(x)), classes)
	return n.chain, n.err
}

func image(s Shape) *Tensor {
	return &Tensor{Name: "X", Dims: []int64{s.Get("batch"), 3, s.Get("height"), s.Get("width")}}
}

// newResNet50 is ResNet-50 with the strides in the 3x3 convolutions, as frameworks have it (v1.5).
func newResNet50(s Shape, _ int64) (Chain, error) {
	n := &network{}
	x := n.convReLU(image(s), 64, 7, 2, 1)
	pool, err := MaxPool(x, PoolParams{Size: 3, Stride: 2, Pad: 1})
	x = n.or(x, pool, err)
	narrow := int64(64)
	for stage, blocks := range []int{3, 4, 6, 3} {
		for block := range blocks {
			stride, shortcut := int64(1), x
			if block == 0 {
				if stage > 0 {
					stride = 2
				}
				shortcut = n.conv(x, 4*narrow, 1, stride, 1)
			}
			y := n.convReLU(x, narrow, 1, 1, 1)
			y = n.convReLU(y, narrow, 3, stride, 1)
			y = n.conv(y, 4*narrow, 1, 1, 1)
			x = n.then(ReLU(n.then(Add(y, shortcut))))
		}
		narrow *= 2
	}
	return n.classify(x)
}

// newMobileNet is MobileNet v1.
func newMobileNet(s Shape, _ int64) (Chain, error) {
	n := &network{}
	x := n.convReLU(image(s), 32, 3, 2, 1)
	for _, b := range mobileNetBlocks {
		for range b.times {
			x = n.convReLU(x, b.channels, 3, b.stride, b.channels)
			x = n.convReLU(x, b.filters, 1, 1, 1)
		}
	}
	return n.classify(x)
}

// newEncoder is an encoder layer of BERT.
func newEncoder(s Shape, _ int64) (Chain, error) {
	batch, heads := s.Get("batch"), s.Get("heads")
	width := 64 * heads
	n := &network{}
	x := &Tensor{Name: "X", Dims: []int64{batch * s.Get("seq"), width}}
	var split [3]*Tensor // queries, keys and values
	for i := range split {
		split[i] = n.then(SplitHeads(n.linear(x, width), batch, heads))
	}
	attention := weighted(weights(scores(split[0], split[1], false)), split[2])
	n.chain = append(n.chain, attention...)
	y := n.linear(n.then(MergeHeads(attention.Output())), width)
	x = n.then(layerNorm(n.then(Add(y, x))))
	y = n.linear(n.then(GELU(n.linear(x, 4*width))), width)
	n.then(layerNorm(n.then(Add(y, x))))
	return n.chain, n.err
}

// imageShapes are one image, and in full runs eight. It takes seconds to prepare a network, which
// quick runs do not have.
func imageShapes(mode schema.Mode) []Shape {
	if mode == schema.Quick {
		return nil
	}
	shapes := []Shape{dims(imageDims, 1, 224, 224)}
	if mode == schema.Full {
		shapes = append(shapes, dims(imageDims, 8, 224, 224))
	}
	return shapes
}

// encoderShapes are BERT-base at 128 tokens, in full runs at 384 too, and at a batch of eight.
func encoderShapes(mode schema.Mode) []Shape {
	if mode == schema.Quick {
		return nil
	}
	shapes := []Shape{dims(encoderDims, 1, 128, 12)}
	if mode == schema.Full {
		shapes = append(shapes, dims(encoderDims, 1, 384, 12), dims(encoderDims, 8, 128, 12))
	}
	return shapes
}

func init() {
	for _, p := range []Pattern{
		{Name: "MobileNet", Doc: "MobileNet v1 for ImageNet", Dims: imageDims, Shapes: imageShapes, Chain: newMobileNet},
		{Name: "ResNet50", Doc: "ResNet-50 for ImageNet", Dims: imageDims, Shapes: imageShapes, Chain: newResNet50},
		{Name: "BERT_Encoder", Doc: "an encoder layer of BERT, whose heads have 64 columns", Dims: encoderDims, Shapes: encoderShapes, Chain: newEncoder},
	} {
		p.Group = networkGroup
		register(p)
	}
}
