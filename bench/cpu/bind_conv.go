package cpu

import (
	"fmt"

	"hwcal/bench"
)

func init() {
	for _, then := range []string{"", "+relu", "+batchnorm", "+batchnorm+relu"} {
		register("conv2d"+then, bindConv[float32], bindConv[float64])
	}
}

// bindConv packs the weights once, as inference does, with batch norm folded into
// them; bias and ReLU work on each tile while it is hot.
func bindConv[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	x, w, p := op.In[0].Dims, op.In[1].Dims, op.Params.(bench.Conv2dParams)
	v, err := newConv[T](ws.isa, ws.caches, len(ws.workers), convShape{
		n: int(x[0]), c: int(x[1]), h: int(x[2]), w: int(x[3]),
		k: int(w[0]), r: int(w[2]), s: int(w[3]),
		stride: int(p.Stride), pad: int(p.Pad), groups: int(p.Groups),
	})
	if err != nil {
		return nil, err
	}
	mem, err := ws.memory.alloc(v.scratchBytes())
	if err != nil {
		return nil, err
	}
	s, err := v.newScratch(mem)
	if err != nil {
		return nil, err
	}
	weights, bias := data[T](ws, op.In[1]), data[T](ws, op.In[2])
	relu := c[len(c)-1].Name == "relu"
	if len(c) > 1 && c[1].Name == "batchnorm" {
		weights, bias = fold(ws, c[1], weights, bias)
	}
	packed, err := scratch[T](ws, v.weightsLen())
	if err != nil {
		return nil, err
	}
	v.packWeights(packed, weights)
	in, out := data[T](ws, op.In[0]), data[T](ws, c.Output())
	epi := newBiasEpilogue(ws.isa, bias, biasByRow, relu)
	return &kernel{
		name: fmt.Sprintf("implicit_gemm_%dx%d_%s", v.gemm.mr, v.gemm.nr, ws.isa),
		body: func(w *worker) { v.run(w, s, in, packed, out, epi) },
	}, nil
}

// fold gives weights and bias that contain the batch norm.
func fold[T float](ws *workspace, norm bench.Op, weights, bias []T) (w, b []T) {
	w, b = make([]T, len(weights)), make([]T, len(bias))
	foldBatchNorm(w, b, weights, bias,
		data[T](ws, norm.In[1]), data[T](ws, norm.In[2]), data[T](ws, norm.In[3]), data[T](ws, norm.In[4]),
		norm.Params.(bench.BatchNormParams).Eps)
	return w, b
}
