package bench

import "hwcal/schema"

// poolDims: windows of kernel_size x kernel_size over X[batch,channels,height,width].
var poolDims = []string{"batch", "channels", "height", "width", "kernel_size", "stride", "padding"}

// The pools of ResNet-50, behind its first convolution and before its classifier.
func init() {
	for _, p := range []Pattern{
		{
			Name: "max_pool", Doc: "the largest pixel of each window", Dims: poolDims,
			Shapes: func(schema.Mode) []Shape { return []Shape{dims(poolDims, 1, 64, 112, 112, 3, 2, 1)} },
			Chain: func(s Shape, _ int64) (Chain, error) {
				pool, err := MaxPool(convInput(s), PoolParams{s.Get("kernel_size"), s.Get("stride"), s.Get("padding")})
				return Chain{pool}, err
			},
		},
		{
			Name: "global_average_pool", Doc: "Y[batch,channels]: the mean of each channel", Dims: poolDims[:4],
			Shapes: func(schema.Mode) []Shape { return []Shape{dims(poolDims[:4], 1, 2048, 7, 7)} },
			Chain:  func(s Shape, _ int64) (Chain, error) { return Chain{GlobalAveragePool(convInput(s))}, nil },
		},
	} {
		p.Group = operationGroup
		register(p)
	}
}
