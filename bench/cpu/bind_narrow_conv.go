package cpu

import (
	"fmt"
	"math"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

func init() {
	registerNarrow("conv2d", bindNarrowConv, bindNarrowConv)
	for _, then := range []string{"+relu", "+channel_bias", "+batchnorm", "+batchnorm+relu", "+batchnorm+add+relu"} {
		registerNarrow("conv2d"+then, bindNarrowConv, nil)
	}
	for _, then := range []string{"+channel_bias+channel_requantize", "+relu+channel_requantize"} {
		registerNarrow("conv2d"+then, nil, bindNarrowConv)
	}
	registerNarrow("channel_bias", bindChannelBias[uint16, float32], ofSums(bindSumChannelBias))
	registerNarrow("batchnorm", bindBatchNorm[uint16, float32], nil)
	registerNarrow("channel_requantize", nil, ofSums(bindChannelRequantize))
}

// bindNarrowConv packs the weights once, as inference does, with batch norm folded into
// them; what else follows works on the sums of each tile while it is hot.
func bindNarrowConv(ws *workspace, c bench.Chain) (*kernel, error) {
	s := convShapeOf(c[0])
	if s.depthwise() && ws.dtype != schema.INT8 {
		return bindHalfDepthwise(ws, c, s)
	}
	v, err := newNarrowConv(ws.unit, ws.caches, len(ws.workers), s)
	if err != nil {
		return nil, err
	}
	weights := func() []byte { return ws.bytes(c[0].In[1]) }
	var finished finishChannels
	switch {
	case ws.dtype != schema.INT8:
		var half halfChannels
		weights, half = halfChannelsOf(ws, c)
		finished = func(sums []byte, channel, at, m, n int) {
			half.finish(as[float32](sums), v.gemm.nr, channel, at, m, n)
		}
	case len(c) == 1 && !c.Output().Sums:
		return nil, fmt.Errorf("the sums of a convolution in int8 are no int8: %w", bench.ErrUnsupported)
	default:
		finished = finishSumChannels(ws, c, v.gemm.nr)
	}
	mem, err := ws.sharedScratch(v.scratchBytes())
	if err != nil {
		return nil, err
	}
	scratch, err := v.newScratch(mem)
	if err != nil {
		return nil, err
	}
	packed, err := ws.packedOnce(filterKey(c, filterBlocks(v.gemm.mc, v.gemm.kc)), int64(v.weightsBytes()), func(dst []byte) {
		v.packWeights(dst, weights())
	})
	if err != nil {
		return nil, err
	}
	ends := make([]finish, s.groups)
	for group := range ends {
		ends[group] = v.inImages(group, finished)
	}
	x := ws.bytes(c[0].In[0])
	kernels := []*kernel{{
		name: fmt.Sprintf("implicit_gemm_%dx%d_%s", v.gemm.mr, v.gemm.nr, ws.unit.name),
		body: func(w *worker) { v.run(w.id, &scratch[w.id], x, packed, ends) },
	}}
	pairs, err := bindPairConvs(ws, c, s)
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 {
		return kernels[0], nil
	}
	return triedConv(ws, c, append(kernels, pairs...)), nil
}

// rounded gives the nearest elements of another type.
func rounded(x []float32, e element.Element) []byte {
	mem := make([]byte, int64(len(x))*e.Bytes)
	for i, v := range x {
		e.Set(mem, int64(i), float64(v))
	}
	return mem
}

// finishSumChannels adds the bias to sums in int32, and requantizes them, if the chain
// does.
func finishSumChannels(ws *workspace, c bench.Chain, nr int) finishChannels {
	bias := make([]int32, c[0].Out.Dims[1])
	if len(c[0].In) > 2 {
		bias = sums(ws, c[0].In[2])
	}
	floor := float32(noFloor)
	for _, op := range c[1:] {
		switch op.Name {
		case "channel_bias":
			bias = sums(ws, op.In[1])
		case "relu":
			floor = 0
		}
	}
	k, pixels, last := sumKernelsFor(ws.isa), pixelsOf(c.Output()), c[len(c)-1]
	if len(c) == 1 {
		out := sums(ws, last.Out)
		return func(sums []byte, channel, at, m, n int) {
			tile, to := as[int32](sums), out[at:][:(m-1)*pixels+n]
			k.addFloorRows(&to[0], &tile[0], &bias[channel:][:m][0], pixels, nr, m, n, math.MinInt32)
		}
	}
	out, factors := as[int8](ws.bytes(last.Out)), requantizeFactors(ws, last)
	return func(sums []byte, channel, at, m, n int) {
		tile, to := as[int32](sums), out[at:][:(m-1)*pixels+n]
		k.requantizeRows(&to[0], &tile[0], &bias[channel:][:m][0], &factors[channel:][:m][0], pixels, nr, m, n, floor)
	}
}

func bindSumChannelBias(ws *workspace, c bench.Chain) (*kernel, error) {
	src, bias, dst := sums(ws, c[0].In[0]), sums(ws, c[0].In[1]), sums(ws, c.Output())
	add := sumKernelsFor(ws.isa).addFloorRows
	return inChannels(ws, c[0].Name+"_int32", c.Output(), func(at, channel, m, n int) {
		add(&dst[at], &src[at], &bias[channel], n, n, m, n, math.MinInt32)
	}), nil
}

func bindChannelRequantize(ws *workspace, c bench.Chain) (*kernel, error) {
	src, dst := sums(ws, c[0].In[0]), as[int8](ws.bytes(c.Output()))
	factors := requantizeFactors(ws, c[0])
	none := make([]int32, len(factors))
	requantize := sumKernelsFor(ws.isa).requantizeRows
	return inChannels(ws, nameOf(ws, c), c.Output(), func(at, channel, m, n int) {
		requantize(&dst[at], &src[at], &none[channel], &factors[channel], n, n, m, n, noFloor)
	}), nil
}
