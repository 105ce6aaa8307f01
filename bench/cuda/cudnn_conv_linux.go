//go:build linux && (amd64 || arm64)

package cuda

import (
	"hwcal/bench"
	"hwcal/schema"
)

func init() {
	for _, chain := range []string{"conv2d", "conv2d+channel_bias", "conv2d+relu", "conv2d+batchnorm", "conv2d+batchnorm+relu", "conv2d+batchnorm+add+relu"} {
		register(chain, entry{provider: cuDNN, dtypes: []schema.DType{schema.FP32}, bind: byPlans(convolutionGraph)})
		register(chain, entry{provider: cuDNN, dtypes: []schema.DType{schema.TF32, schema.FP16, schema.BF16}, least: Capability{8, 0}, bind: byPlans(convolutionGraph)})
	}
}

// convolutionGraph is a convolution and what follows it. A batch norm is folded into the filters and
// the bias.
func convolutionGraph(ws *workspace, c bench.Chain) (*graph, error) {
	conv := c[0]
	var bias *bench.Tensor
	if len(conv.In) > 2 {
		bias = conv.In[2]
	}
	e, err := ws.epilogueOf(conv, bias, c[1:])
	if err != nil {
		return nil, err
	}
	w := *ws.of(conv.In[1])
	if e.by != nil {
		if w.address, err = ws.foldedFilters(&w, e.by); err != nil {
			return nil, err
		}
	}
	plus, err := ws.columns(e.plus, e.of, "added to sums")
	if err != nil {
		return nil, err
	}

	g := ws.graphOf()
	// What follows the convolution, in order: the mode, and what the result is combined with.
	type step struct {
		mode int32
		with []node
	}
	var steps []step
	if e.plus != nil {
		dims := []int64{1, conv.Out.Dims[1], 1, 1}
		steps = append(steps, step{pointwiseAdd, []node{g.tensor(cudnnFloat, dims, channelsLastStrides(dims), inMemory, plus)}})
	}
	if e.residual != nil {
		steps = append(steps, step{pointwiseAdd, []node{g.stored(ws.of(e.residual))}})
	}
	if e.activation == activations["relu"] {
		steps = append(steps, step{pointwiseReLU, nil})
	}
	result := func(last bool) node {
		if last {
			return g.stored(ws.of(e.out))
		}
		return g.between(cudnnFloat, conv.Out.Dims, channelsLastStrides(conv.Out.Dims))
	}
	y := result(len(steps) == 0)
	g.convolve(y, g.stored(ws.of(conv.In[0])), g.stored(&w), conv.Params.(bench.Conv2dParams))
	for i, s := range steps {
		next := result(i+1 == len(steps))
		g.pointwise(s.mode, cudnnFloat, next, append([]node{y}, s.with...))
		y = next
	}
	return g, nil
}

// foldedFilters are W[k,..] by[k], as W is kept.
func (ws *workspace) foldedFilters(w *tensor, by []float64) (Address, error) {
	return ws.packedOnce(packedKey{w.Tensor, "filters with a batch norm"}, func() ([]byte, error) {
		v, err := ws.values(w.Tensor)
		if err != nil {
			return nil, err
		}
		mem := make([]byte, w.bytes())
		each := len(v) / len(by)
		for i, x := range v {
			w.element.Set(mem, w.at(int64(i)), x*by[i/each])
		}
		return mem, nil
	})
}
