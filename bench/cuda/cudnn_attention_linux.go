//go:build linux && (amd64 || arm64)

package cuda

import (
	"math"

	"hwcal/bench"
	"hwcal/schema"
)

func init() {
	for _, chain := range []string{"qk_t+scale+softmax+pv", "qk_t+scale+causal_softmax+pv"} {
		register(chain, entry{provider: cuDNN, dtypes: []schema.DType{schema.FP16, schema.BF16}, least: Capability{8, 0}, bind: byPlans(attentionGraph)})
	}
}

// attentionGraph describes attention operation by operation, in the form that the library knows
// to compute by an online softmax: scores and weights are tensors that are nowhere stored.
func attentionGraph(ws *workspace, c bench.Chain) (*graph, error) {
	q, k, v := ws.of(c[0].In[0]), ws.of(c[0].In[1]), ws.of(c[len(c)-1].In[1])
	batch, heads, sq, sk := q.Dims[0], q.Dims[1], q.Dims[2], k.Dims[2]
	g := ws.graphOf()
	square := []int64{batch, heads, sq, sk}
	column := []int64{batch, heads, sq, 1}
	of := func(dataType int32, dims []int64) node { return g.between(dataType, dims, rowMajorStrides(dims)) }

	// K^T is K with two dimensions exchanged. Heads that share K and V have fewer of them.
	transposed := []int64{batch, k.Dims[1], k.Dims[3], sk}
	keys := g.tensor(cudnnTypeOf(k, ws.dtype), transposed,
		[]int64{k.Dims[1] * sk * k.Dims[3], sk * k.Dims[3], 1, k.Dims[3]}, inMemory, k.address)
	products := of(cudnnFloat, square)
	g.matmul(products, g.stored(q), keys)
	scores := of(cudnnFloat, square)
	g.pointwise(pointwiseMul, cudnnFloat, scores, []node{products, g.float(c[1].Params.(bench.ScaleParams).Factor)})
	if c[0].Out.Causal {
		scores = g.causal(scores, sq, sk, of)
	}

	largest, below, exponential := of(cudnnFloat, column), of(cudnnFloat, square), of(cudnnFloat, square)
	g.reduce(reduceMax, largest, scores)
	g.pointwise(pointwiseSub, cudnnFloat, below, []node{scores, largest})
	g.pointwise(pointwiseExp, cudnnFloat, exponential, []node{below})
	total, weights := of(cudnnFloat, column), of(cudnnTypeOf(q, ws.dtype), square)
	g.reduce(reduceAdd, total, exponential)
	// The logarithm of the sum, which training needs, is a part of the form even where nobody reads it.
	logarithm, statistics := of(cudnnFloat, column), of(cudnnFloat, column)
	g.pointwise(pointwiseLog, cudnnFloat, logarithm, []node{total})
	g.pointwise(pointwiseAdd, cudnnFloat, statistics, []node{largest, logarithm})
	g.pointwise(pointwiseDiv, cudnnFloat, weights, []node{exponential, total})
	g.matmul(g.stored(ws.of(c.Output())), weights, g.stored(v))
	return g, nil
}

// causal makes scores of keys that a query does not see lowest: query i sees those up to i + sk - sq.
func (g *graph) causal(scores node, sq, sk int64, of func(dataType int32, dims []int64) node) node {
	row, col := of(cudnnInt32, scores.dims), of(cudnnInt32, scores.dims)
	g.pointwise(pointwiseIndex, cudnnFloat, row, []node{scores}, axis(2))
	g.pointwise(pointwiseIndex, cudnnFloat, col, []node{scores}, axis(3))
	if sq != sk {
		up, moved := of(cudnnInt32, scores.dims), of(cudnnInt32, scores.dims)
		g.pointwise(pointwiseAdd, cudnnInt32, up, []node{row, g.integer(sk)})
		g.pointwise(pointwiseSub, cudnnInt32, moved, []node{up, g.integer(sq)})
		row = moved
	}
	seen, masked := of(cudnnBoolean, scores.dims), of(cudnnFloat, scores.dims)
	g.pointwise(pointwiseGE, cudnnBoolean, seen, []node{row, col})
	lowest := math.Inf(-1)
	if g.library.number < 91000 {
		lowest = -math.MaxFloat32 // which older versions take for it
	}
	g.pointwise(pointwiseSelect, cudnnFloat, masked, []node{scores, g.float(lowest), seen})
	return masked
}
