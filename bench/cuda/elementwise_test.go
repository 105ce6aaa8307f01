package cuda

import (
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

func matrix(name string, dims ...int64) *bench.Tensor { return &bench.Tensor{Name: name, Dims: dims} }

func param(name string, n int64) *bench.Tensor {
	return &bench.Tensor{Name: name, Dims: []int64{n}, Param: true}
}

// sums is a tensor of sums.
func sums(t *bench.Tensor) *bench.Tensor {
	t.Sums = true
	return t
}

// Rows that fill vectors and those that do not, more than a block takes, and less than one vector.
func TestElementwise(t *testing.T) { verifyElementwise(t, newEmulated(t, Capability{8, 0})) }

func verifyElementwise(t *testing.T, b *Backend) {
	dropout := bench.DropoutParams{P: 0.3, Seed: 5}
	for _, s := range [][2]int64{{1, 1}, {3, 7}, {5, 64}, {17, 1023}, {2, 4096}} {
		m, n := s[0], s[1]
		x := func() *bench.Tensor { return matrix("X", m, n) }
		bias := bench.Bias(x(), param("b", n))
		gelu := bench.GELU(bias.Out)
		verifyKernels(t, b, floats,
			bench.Chain{bench.ReLU(x())},
			bench.Chain{bench.GELU(x())},
			bench.Chain{bench.SiLU(x())},
			bench.Chain{bench.GELUTanh(x())},
			bench.Chain{bench.Sigmoid(x())},
			bench.Chain{bench.Tanh(x())},
			bench.Chain{bench.Exp(x())},
			bench.Chain{bench.Copy(x())},
			bench.Chain{bench.Set(x(), 3)},
			bench.Chain{bench.Sub(x(), matrix("Z", m, n))},
			bench.Chain{bench.Div(x(), &bench.Tensor{Name: "Z", Dims: []int64{m, n}, Fill: bench.Positive})},
			bench.Chain{bench.Scale(x(), 0.37)},
			bench.Chain{bench.Add(x(), matrix("Z", m, n))},
			bench.Chain{bench.Mul(x(), matrix("Z", m, n))},
			bench.Chain{bench.Mask(matrix("X", 3, m, n), &bench.Tensor{Name: "M", Dims: []int64{m, n}, Fill: bench.Masking})},
			bench.Chain{bench.Dropout(x(), dropout)},
			bench.Chain{bias, gelu, bench.Dropout(gelu.Out, dropout)},
		)
		scale := &bench.Tensor{Name: "scale", Dims: []int64{n}, Param: true, Factors: true, Fill: bench.Positive}
		verifyKernels(t, b, []schema.DType{schema.INT8},
			bench.Chain{bench.Bias(sums(x()), sums(param("b", n)))},
			bench.Chain{bench.ReLU(sums(x()))},
			bench.Chain{bench.Add(sums(x()), sums(x()))},
			bench.Chain{bench.Requantize(sums(x()), scale, 1.0/bench.Int8Unit)},
		)
	}
}

func TestImages(t *testing.T) { verifyImages(t, newEmulated(t, Capability{8, 0})) }

func verifyImages(t *testing.T, b *Backend) {
	for _, channels := range []int64{1, 5, 16} {
		x := func() *bench.Tensor { return matrix("X", 2, channels, 7, 9) }
		verifyKernels(t, b, floats,
			bench.Chain{bench.ChannelBias(x(), param("b", channels))},
			bench.Chain{bench.BatchNorm(x(), param("gamma", channels), param("beta", channels), param("mean", channels),
				&bench.Tensor{Name: "variance", Dims: []int64{channels}, Param: true, Fill: bench.Positive}, 1e-5)},
		)
		// The layout of images is that of a chain with an operation of channels.
		c := bench.Chain{bench.ChannelBias(sums(x()), sums(param("b", channels)))}
		scale := &bench.Tensor{Name: "scale", Dims: []int64{channels}, Param: true, Factors: true, Fill: bench.Positive}
		c = append(c, bench.ChannelRequantize(c.Output(), scale, 1.0/bench.Int8Unit))
		verifyUnfused(t, b, schema.INT8, c)
	}
}
