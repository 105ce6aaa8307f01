package cpu

import (
	"fmt"

	"hwcal/bench"
)

func init() {
	register("softmax", bindSoftmax[float32], bindSoftmax[float64])
	register("causal_softmax", bindCausalSoftmax[float32], bindCausalSoftmax[float64])
	for _, chain := range []string{"qk_t", "qk_t+scale", "qk_t+scale+softmax", "qk_t+scale+softmax+pv", "qk_t+scale+causal_softmax+pv", "pv"} {
		register(chain, bindAttention[float32], bindAttention[float64])
	}
}

func bindSoftmax[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	src, dst := data[T](ws, op.In[0]), data[T](ws, op.Out)
	n := int(op.In[0].Dims[len(op.In[0].Dims)-1])
	rooms, err := blocksOf[T](ws, n)
	if err != nil {
		return nil, err
	}
	return storing(ws, c, func(nt bool) func(w *worker) {
		if !nt {
			return newSoftmax(ws.isa, dst, src, len(src)/n, n, nil)
		}
		return newSoftmax(ws.isa, dst, src, len(src)/n, n, rooms)
	}), nil
}

func bindCausalSoftmax[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	a, err := causalRows[T](ws, op.Out)
	if err != nil {
		return nil, err
	}
	return elementwise(ws, op.Name, a.softmax(data[T](ws, op.Out), data[T](ws, op.In[0]))), nil
}

// bindCausalScale is bindScale of what is seen of scores.
func bindCausalScale[T float](ws *workspace, op bench.Op) (*kernel, error) {
	a, err := causalRows[T](ws, op.Out)
	if err != nil {
		return nil, err
	}
	factor := T(op.Params.(bench.ScaleParams).Factor)
	return elementwise(ws, op.Name, a.scaled(data[T](ws, op.Out), data[T](ws, op.In[0]), factor)), nil
}

// causalRows is the plan of operations on causal scores by themselves.
func causalRows[T float](ws *workspace, scores *bench.Tensor) (*causal[T], error) {
	d := scores.Dims
	a, err := newAttention[T](ws.isa, ws.caches, len(ws.workers), attentionShape{
		heads: int(d[0] * d[1]), sq: int(d[2]), sk: int(d[3]), d: 1, group: 1, causal: true,
	})
	if err != nil {
		return nil, err
	}
	return a.newCausal(), nil
}

// attentionShapeOf reads the dimensions off the first operand [B,H,Sq,.] and the second
// of qk_t or pv [B,G,Sk,D].
func attentionShapeOf(op bench.Op) attentionShape {
	q, k := op.In[0], op.In[1]
	return attentionShape{
		heads: int(q.Dims[0] * q.Dims[1]), sq: int(q.Dims[2]), sk: int(k.Dims[2]), d: int(k.Dims[3]),
		group: int(q.Dims[1] / k.Dims[1]), causal: q.Causal || op.Out.Causal,
	}
}

// bindAttention binds the products of attention by themselves, and what can be
// fused with the first.
func bindAttention[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	first, last := c[0], c[len(c)-1]
	s := attentionShapeOf(first)
	if s.sq == 1 && s.sk > 1 {
		return bindDecode[T](ws, c, s)
	}
	a, err := newAttention[T](ws.isa, ws.caches, len(ws.workers), s)
	if err != nil {
		return nil, err
	}
	if len(c) > 1 {
		a.scale = T(c[1].Params.(bench.ScaleParams).Factor)
	}
	size, err := a.scratchBytes()
	if err != nil {
		return nil, err
	}
	mem, err := ws.sharedScratch(size)
	if err != nil {
		return nil, err
	}
	x, y, out := data[T](ws, first.In[0]), data[T](ws, first.In[1]), data[T](ws, last.Out)
	var body func(w *worker)
	switch name := c.String(); {
	case name == "qk_t" && s.causal:
		body, err = a.newCausal().qkT(mem, x, y, out)
	case name == "pv" && s.causal:
		body, err = a.newCausal().pv(mem, x, y, out)
	case name == "qk_t":
		body, err = a.qkT(mem, x, y, out)
	case name == "pv":
		body, err = a.pv(mem, x, y, out)
	case name == "qk_t+scale":
		body, err = a.qkTScale(mem, x, y, out)
	case name == "qk_t+scale+softmax":
		body, err = a.qkTSoftmax(mem, x, y, out)
	default:
		body, err = a.full(mem, x, y, data[T](ws, last.In[1]), out)
	}
	return &kernel{name: fmt.Sprintf("gemm_%dx%d_%s", a.pack.mr, a.pack.nr, ws.isa), body: body}, err
}

// bindDecode binds the attention of one query to many keys.
func bindDecode[T float](ws *workspace, c bench.Chain, s attentionShape) (*kernel, error) {
	first, last, workers := c[0], c[len(c)-1], len(ws.workers)
	x, err := newDecode[T](ws.isa, ws.caches, workers, s)
	if err != nil {
		return nil, err
	}
	if len(c) > 1 {
		x.scale = T(c[1].Params.(bench.ScaleParams).Factor)
	}
	mem, err := ws.sharedScratch(x.scratchBytes(workers))
	if err != nil {
		return nil, err
	}
	in, second, out := data[T](ws, first.In[0]), data[T](ws, first.In[1]), data[T](ws, last.Out)
	var body func(w *worker)
	switch c.String() {
	case "qk_t":
		body, err = x.qkT(mem, workers, in, second, out)
	case "pv":
		body, err = x.pv(mem, workers, in, second, out)
	case "qk_t+scale+softmax+pv":
		body, err = x.full(mem, workers, in, second, data[T](ws, last.In[1]), out)
	default:
		err = fmt.Errorf("one query: %w", bench.ErrUnsupported)
	}
	return &kernel{name: fmt.Sprintf("gemv_%s", vecISA(ws.isa, c.String())), body: body}, err
}
