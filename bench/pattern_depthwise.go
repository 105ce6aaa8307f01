package bench

import "hwcal/schema"

// depthwiseDims: one filter of kernel_size x kernel_size for each channel of
// X[batch,channels,height,width], then out_channels filters of 1x1.
var depthwiseDims = []string{"batch", "channels", "height", "width", "out_channels", "kernel_size", "stride", "padding"}

// mobileNetBlocks are those of MobileNet v1 at 224x224, a depthwise and a pointwise convolution each,
// some of them several times.
var mobileNetBlocks = []struct {
	channels, side, filters, stride int64
	times                           int
}{
	{32, 112, 64, 1, 1}, {64, 112, 128, 2, 1}, {128, 56, 128, 1, 1}, {128, 56, 256, 2, 1}, {256, 28, 256, 1, 1},
	{256, 28, 512, 2, 1}, {512, 14, 512, 1, 5}, {512, 14, 1024, 2, 1}, {1024, 7, 1024, 1, 1},
}

// mobileNet are its blocks, each once.
func mobileNet(batch int64) []Shape {
	var shapes []Shape
	for _, b := range mobileNetBlocks {
		shapes = append(shapes, dims(depthwiseDims, batch, b.channels, b.side, b.side, b.filters, 3, b.stride, 1))
	}
	return shapes
}

// depthwiseShapes: of the blocks, a wide one at batch 4 and a small one at batch 1,
// which quick runs see alone.
func depthwiseShapes(mode schema.Mode) []Shape {
	small := dims(depthwiseDims, 1, 128, 28, 28, 128, 3, 1, 1)
	switch mode {
	case schema.Quick:
		return []Shape{small}
	case schema.Full:
		return append(mobileNet(1), mobileNet(4)...)
	}
	return []Shape{dims(depthwiseDims, 4, 128, 56, 56, 128, 3, 1, 1), small}
}

func depthwiseSweep() []Shape {
	var shapes []Shape
	for _, side := range sweepSides {
		shapes = append(shapes, dims(depthwiseDims, 1, 64, side, side, 64, 3, 1, 1))
	}
	return shapes
}

func init() {
	register(Pattern{
		Name: "Depthwise_Pointwise", Group: "conv",
		Doc:        "depthwise convolution, max(x, 0) and a 1x1 convolution of the result, fused by rows",
		Dims:       depthwiseDims,
		Shapes:     depthwiseShapes,
		Throughput: func(schema.Mode) []Shape { return []Shape{dims(depthwiseDims, 64, 128, 56, 56, 128, 3, 1, 1)} },
		Sweep:      depthwiseSweep(),
		Chain: func(s Shape, _ int64) (Chain, error) {
			channels := s.Get("channels")
			depthwise, err := conv2d(convInput(s), channels, s.Get("kernel_size"), true, Conv2dParams{s.Get("stride"), s.Get("padding"), channels})
			if err != nil {
				return nil, err
			}
			relu := ReLU(depthwise.Out)
			pointwise, err := conv2d(relu.Out, s.Get("out_channels"), 1, true, Conv2dParams{1, 0, 1})
			return Chain{depthwise, relu, pointwise}, err
		},
	})
}
