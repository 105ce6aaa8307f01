package cpu

import (
	"fmt"
	"math"

	"hwcal/bench"
)

func init() {
	register("bias", bindBias[float32], bindBias[float64])
	register("channel_bias", bindChannelBias[float32], bindChannelBias[float64])
	register("relu", bindReLU[float32], bindReLU[float64])
	register("gelu", bindGELU[float32], bindGELU[float64])
	register("add", bindAdd[float32], bindAdd[float64])
	register("scale", bindScale[float32], bindScale[float64])
	register("batchnorm", bindBatchNorm[float32], bindBatchNorm[float64])
}

// elementwise is an operation that each worker runs over its part.
func elementwise(ws *workspace, op string, body func(w *worker)) *kernel {
	return &kernel{name: fmt.Sprintf("vec_%s_%s", op, ws.isa), body: body, private: true}
}

// bindMap binds an operation of one input or two of the same dimensions, and
// constants.
func bindMap[T float](ws *workspace, op bench.Op, f mapKernel[T], a, b T) *kernel {
	src, dst := data[T](ws, op.In[0]), data[T](ws, op.Out)
	var second []T
	if len(op.In) > 1 {
		second = data[T](ws, op.In[1])
	}
	return elementwise(ws, op.Name, func(w *worker) {
		lo, hi := w.share(len(src), lineElems)
		var y []T
		if second != nil {
			y = second[lo:hi]
		}
		f.slice(dst[lo:hi], src[lo:hi], y, a, b)
	})
}

// lineElems is a number of elements that fills cache lines in every type.
const lineElems = 16

func bindReLU[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	return bindMap(ws, c[0], vecKernelsFor[T](ws.isa).relu, 0, 0), nil
}

func bindGELU[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	return bindMap(ws, c[0], vecKernelsFor[T](ws.isa).gelu, 0, 0), nil
}

func bindAdd[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	return bindMap(ws, c[0], vecKernelsFor[T](ws.isa).add, 0, 0), nil
}

func bindScale[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	s := c[0].Params.(bench.ScaleParams)
	return bindMap(ws, c[0], vecKernelsFor[T](ws.isa).scale, T(s.Factor), 0), nil
}

func bindBias[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	src, bias, dst := data[T](ws, op.In[0]), data[T](ws, op.In[1]), data[T](ws, op.Out)
	n := len(bias)
	add := vecKernelsFor[T](ws.isa).add
	return elementwise(ws, op.Name, func(w *worker) {
		lo, hi := w.share(len(src)/n, 1)
		if lo < hi {
			add.matrix(dst[lo*n:], n, src[lo*n:], n, bias, 0, hi-lo, n, 0, 0)
		}
	}), nil
}

// bindBatchNorm turns the statistics into a factor and a summand a channel.
func bindBatchNorm[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	gamma, beta := data[T](ws, op.In[1]), data[T](ws, op.In[2])
	mean, variance := data[T](ws, op.In[3]), data[T](ws, op.In[4])
	channels := len(gamma)
	factor, summand := make([]T, channels), make([]T, channels)
	for i := range factor {
		s := float64(gamma[i]) / math.Sqrt(float64(variance[i])+op.Params.(bench.BatchNormParams).Eps)
		factor[i], summand[i] = T(s), T(float64(beta[i])-float64(mean[i])*s)
	}
	affine := vecKernelsFor[T](ws.isa).affine
	return perChannel(ws, op, func(dst, src []T, channel int) {
		affine.slice(dst, src, nil, factor[channel], summand[channel])
	}), nil
}

// bindChannelBias adds a constant to each channel.
func bindChannelBias[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	bias := data[T](ws, c[0].In[1])
	add := vecKernelsFor[T](ws.isa).addScalar
	return perChannel(ws, c[0], func(dst, src []T, channel int) { add.slice(dst, src, nil, 0, bias[channel]) }), nil
}

// perChannel shares out the channels of all images.
func perChannel[T float](ws *workspace, op bench.Op, f func(dst, src []T, channel int)) *kernel {
	src, dst := data[T](ws, op.In[0]), data[T](ws, op.Out)
	channels, spatial := int(op.In[0].Dims[1]), int(op.In[0].Dims[2]*op.In[0].Dims[3])
	return elementwise(ws, op.Name, func(w *worker) {
		lo, hi := w.share(len(src)/spatial, 1)
		for i := lo; i < hi; i++ {
			at := i * spatial
			f(dst[at:at+spatial], src[at:at+spatial], i%channels)
		}
	})
}
