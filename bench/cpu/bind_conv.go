package cpu

import (
	"fmt"
	"slices"
	"unsafe"

	"hwcal/bench"
)

func init() {
	for _, then := range []string{"", "+relu", "+channel_bias", "+batchnorm", "+batchnorm+relu", "+batchnorm+add+relu"} {
		register("conv2d"+then, bindConv[float32], bindConv[float64])
	}
	register("conv2d+relu+conv2d", bindSeparable[float32], bindSeparable[float64])
}

func convShapeOf(op bench.Op) convShape {
	x, w, p := op.In[0].Dims, op.In[1].Dims, op.Params.(bench.Conv2dParams)
	return convShape{
		n: int(x[0]), c: int(x[1]), h: int(x[2]), w: int(x[3]),
		k: int(w[0]), r: int(w[2]), s: int(w[3]),
		stride: int(p.Stride), pad: int(p.Pad), groups: int(p.Groups),
	}
}

// bindConv prepares the weights once, as inference does, with batch norm folded into
// them; what else follows is an epilogue. Where two plans may be the faster, both are tried, on the convolution that is bound
// first.
func bindConv[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	weights, epi := withEpilogue[T](ws, c)
	s := convShapeOf(c[0])
	in, out := data[T](ws, c[0].In[0]), data[T](ws, c.Output())
	if s.depthwise() {
		return bindDepthwise(ws, s, in, kept(ws, weights()), out, epi)
	}
	plans, err := newConvPlans(newConvUnit[T](ws.isa), ws.caches, len(ws.workers), s)
	if err != nil {
		return nil, err
	}
	var kernels []*kernel
	for _, v := range plans {
		scr, err := newConvScratch(v, ws.sharedScratch)
		if err != nil {
			return nil, err
		}
		packed, err := packFilters(ws, c, v, weights)
		if err != nil {
			return nil, err
		}
		kernels = append(kernels, &kernel{
			name: fmt.Sprintf("%s_%s", v.name(), ws.isa),
			body: func(w *worker) { v.run(w.id, scr, in, packed, out, s.p()*s.q(), epi) },
		})
	}
	if len(kernels) == 1 {
		return kernels[0], nil
	}
	return triedConv(ws, c, kernels), nil
}

// packFilters packs the weights of a convolution, with which the chain begins, before the
// run.
func packFilters[T float](ws *workspace, c bench.Chain, v convPlan[T], weights func() []T) ([]T, error) {
	bytes := int64(v.weightsLen()) * int64(unsafe.Sizeof(T(0)))
	mem, err := ws.packedOnce(filterKey(c, v.layout()), bytes, func(dst []byte) {
		v.packWeights(as[T](dst), weights())
	})
	return as[T](mem), err
}

// filterKey is that of the filters of a convolution in a layout.
func filterKey(c bench.Chain, layout string) packedKey {
	folded := slices.Contains(c.Names(), "batchnorm")
	return packedKey{c[0].In[1], fmt.Sprintf("filters in %s, folded: %t", layout, folded)}
}

// withEpilogue gives the weights of a convolution, and what is done to its sums.
func withEpilogue[T float](ws *workspace, c bench.Chain) (weights func() []T, epi convEpilogue[T]) {
	p := convParameters[T](ws, c)
	var residual []T
	if p.residual != nil {
		residual = data[T](ws, p.residual)
	}
	return p.weights, newConvEpilogue(ws.isa, p.bias, residual, p.relu)
}

// convLayer is a convolution and what is behind it. Its weights are made when they are asked for:
// who packs them does so once for many kernels.
type convLayer[T float] struct {
	weights  func() []T
	bias     []T
	folded   bool // batch norm into them
	residual *bench.Tensor
	relu     bool
}

func convParameters[T float](ws *workspace, c bench.Chain) convLayer[T] {
	plain := func() []T { return data[T](ws, c[0].In[1]) }
	p := convLayer[T]{weights: plain, bias: make([]T, c[0].In[1].Dims[0])}
	if len(c[0].In) > 2 {
		copy(p.bias, data[T](ws, c[0].In[2]))
	}
	for _, op := range c[1:] {
		switch op.Name {
		case "channel_bias":
			for i, b := range data[T](ws, op.In[1]) {
				p.bias[i] += b
			}
		case "batchnorm":
			norm := batchNormOf[T](ws, op)
			p.bias, p.folded = norm.foldBias(p.bias), true
			p.weights = func() []T { return norm.foldWeights(plain()) }
		case "add":
			p.residual = op.In[1]
		case "relu":
			p.relu = true
		}
	}
	p.bias = kept(ws, p.bias)
	return p
}

func bindDepthwise[T float](ws *workspace, s convShape, in, weights, out []T, epi convEpilogue[T]) (*kernel, error) {
	d, err := newDepthwise[T](ws.isa, ws.caches, s)
	if err != nil {
		return nil, err
	}
	buffers := make([][]T, len(ws.workers))
	if d.planes == nil {
		if buffers, err = d.buffers(ws); err != nil {
			return nil, err
		}
	}
	return &kernel{
		name: fmt.Sprintf("depthwise_%s", vecISA(ws.isa, "depthwise")),
		body: func(w *worker) { d.run(w, buffers[w.id], in, weights, out, epi) },
	}, nil
}

// bindSeparable binds a depthwise convolution and the 1x1 convolution behind it.
func bindSeparable[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	alone, err := separableIn[T](ws, c, 1)
	if err != nil || len(ws.workers) == 1 {
		return alone, err
	}
	shared, err := separableIn[T](ws, c, len(ws.workers))
	if err != nil {
		return nil, err
	}
	shared.name += "_shared"
	return tried(ws, c, []*kernel{alone, shared}), nil
}

// separableIn binds it for teams of so many workers.
func separableIn[T float](ws *workspace, c bench.Chain, team int) (*kernel, error) {
	s, then := convShapeOf(c[0]), convShapeOf(c[2])
	if !s.depthwise() || !then.plain() || then.groups != 1 {
		return nil, fmt.Errorf("cpu: %s of %+v and %+v: %w", c, s, then, bench.ErrUnsupported)
	}
	v, err := newSeparable[T](ws.isa, ws.caches, len(ws.workers), team, s, then.k)
	if err != nil {
		return nil, err
	}
	scratches, err := v.newScratch(ws.memory.alloc, len(ws.workers))
	if err != nil {
		return nil, err
	}
	filters, first := withEpilogue[T](ws, c[:2])
	weights, second := withEpilogue[T](ws, c[2:])
	packed, err := packFilters(ws, c[2:], v.second, weights)
	if err != nil {
		return nil, err
	}
	in, taps, out := data[T](ws, c[0].In[0]), filters(), data[T](ws, c.Output())
	return &kernel{
		name: fmt.Sprintf("depthwise_%s_%s", v.second.name(), ws.isa),
		body: func(w *worker) { v.run(w, scratches[w.id], in, taps, packed, out, first, second) },
	}, nil
}
