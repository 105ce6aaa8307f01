//go:build linux && (amd64 || arm64)

package external

import (
	"hwcal/bench"
	"hwcal/schema"
)

// bind plans the operation and brings its operands into the layouts of the plan.
func (b *binding) bind(op bench.Op, d schema.DType) {
	types := dnnlTypes[d]
	var others []int32 // arguments behind the first input, or behind the weights
	weights := false
	switch op.Name {
	case "gemm", "gemm_batched":
		b.planMatmul(op, d)
		weights = true
	case "conv2d":
		b.planConv(op, d)
		weights, others = true, []int32{dnnlArgBias}
	case "softmax":
		x := b.plain(op.Out.Dims, types.in)
		b.planned("softmax", b.softmax(&b.plan, b.engine, x, int32(len(op.Out.Dims)-1)))
	case "layernorm":
		x := b.plain(op.Out.Dims, types.in)
		b.planned("layer normalization", b.layerNorm(&b.plan, b.engine, x, float32(op.Params.(bench.LayerNormParams).Eps)))
		others = []int32{dnnlArgScale, dnnlArgShift}
	default:
		slope := float32(0) // of ReLU below 0; of the sigmoid in SiLU
		if op.Name == "silu" {
			slope = 1
		}
		b.planned(op.Name, b.eltwise(&b.plan, b.engine, b.algorithms[op.Name], b.plain(op.Out.Dims, types.in), slope))
	}
	b.input(dnnlArgSource, dnnlQuerySource, op.In[0].Dims, types.in, op.In[0])
	rest := op.In[1:]
	if weights {
		b.input(dnnlArgWeights, dnnlQueryWeights, weightDims(op), types.in, rest[0])
		rest = rest[1:]
	}
	for i, t := range rest {
		b.arg(others[i], b.memory(b.plain(t.Dims, types.in), b.Of(t)))
	}
	b.output(op.Out, stored(op, d))
	b.primitive = b.create(b.plan)
}

// stored is the type of the result, which may be sums.
func stored(op bench.Op, d schema.DType) int32 {
	if op.Out.Sums {
		return dnnlTypes[d].sum
	}
	return dnnlTypes[d].in
}

// planMatmul lets the library lay weights out that are known before the run.
func (b *binding) planMatmul(op bench.Op, d schema.DType) {
	types, layout := dnnlTypes[d], b.plain
	if op.In[1].Param {
		layout = b.any
	}
	x, w, y := b.plain(op.In[0].Dims, types.in), layout(op.In[1].Dims, types.in), b.plain(op.Out.Dims, stored(op, d))
	b.planned("matmul", b.matmul(&b.plan, b.engine, x, w, y))
}

// planConv lets the library lay everything out: what surrounds a convolution in a network has the
// layout of it.
func (b *binding) planConv(op bench.Op, d schema.DType) {
	types, p := dnnlTypes[d], op.Params.(bench.Conv2dParams)
	x, w, y := b.any(op.In[0].Dims, types.in), b.any(weightDims(op), types.in), b.any(op.Out.Dims, stored(op, d))
	var bias desc
	if len(op.In) > 2 {
		bias = b.plain(op.In[2].Dims, types.in)
	}
	b.planned("convolution", b.conv(&b.plan, b.engine, x, w, bias, y, [2]int64{p.Stride, p.Stride}, [2]int64{p.Pad, p.Pad}))
}

// weightDims are those of the weights, with the groups of a convolution as a dimension of their own.
func weightDims(op bench.Op) []int64 {
	w := op.In[1].Dims
	if p, ok := op.Params.(bench.Conv2dParams); ok && p.Groups > 1 {
		return append([]int64{p.Groups, w[0] / p.Groups}, w[1:]...)
	}
	return w
}
