package cpu

import (
	"fmt"

	"hwcal/bench"
)

func init() {
	register("softmax", bindSoftmax[float32], bindSoftmax[float64])
	for _, chain := range []string{"qk_t", "qk_t+scale", "qk_t+scale+softmax", "qk_t+scale+softmax+pv", "pv"} {
		register(chain, bindAttention[float32], bindAttention[float64])
	}
}

func bindSoftmax[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	src, dst := data[T](ws, op.In[0]), data[T](ws, op.Out)
	n := int(op.In[0].Dims[len(op.In[0].Dims)-1])
	return elementwise(ws, op.Name, newSoftmax(ws.isa, dst, src, len(src)/n, n)), nil
}

// bindAttention binds the products of attention by themselves, and what can be
// fused with the first.
func bindAttention[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	first, last := c[0], c[len(c)-1]
	// The dimensions follow from the first operand [B,H,Sq,.], the output
	// [B,H,Sq,.] and the second operand of the first or the last operation.
	q, second := first.In[0].Dims, first.In[1].Dims
	s := attentionShape{heads: int(q[0] * q[1]), sq: int(q[2]), sk: int(second[2]), d: int(second[3])}
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
	mem, err := ws.memory.alloc(size)
	if err != nil {
		return nil, err
	}
	x, y, out := data[T](ws, first.In[0]), data[T](ws, first.In[1]), data[T](ws, last.Out)
	var body func(w *worker)
	switch c.String() {
	case "qk_t":
		body, err = a.qkT(mem, x, y, out)
	case "qk_t+scale":
		body, err = a.qkTScale(mem, x, y, out)
	case "qk_t+scale+softmax":
		body, err = a.qkTSoftmax(mem, x, y, out)
	case "qk_t+scale+softmax+pv":
		body, err = a.full(mem, x, y, data[T](ws, last.In[1]), out)
	case "pv":
		body, err = a.pv(mem, x, y, out)
	}
	return &kernel{name: fmt.Sprintf("gemm_%dx%d_%s", a.pack.mr, a.pack.nr, ws.isa), body: body}, err
}
