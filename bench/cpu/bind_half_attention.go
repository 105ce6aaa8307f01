package cpu

import (
	"fmt"

	"hwcal/bench"
)

func init() {
	for _, chain := range []string{"qk_t", "qk_t+scale", "qk_t+scale+softmax", "qk_t+scale+softmax+pv", "qk_t+scale+causal_softmax+pv", "pv"} {
		registerNarrow(chain, bindHalfAttention, nil)
	}
}

// bindHalfAttention binds the products of attention by themselves, and what can be fused
// with the first.
func bindHalfAttention(ws *workspace, c bench.Chain) (*kernel, error) {
	first, last := c[0], c[len(c)-1]
	s := attentionShapeOf(first)
	if s.sq == 1 && s.sk > 1 {
		x, err := newNarrowDecode(ws.dtype, ws.isa, ws.caches, len(ws.workers), s)
		if err != nil {
			return nil, err
		}
		return bindDecode(ws, c, "gemv_"+string(ws.dtype), x)
	}
	x, err := newNarrowAttention(ws.unit, ws.isa, ws.caches, len(ws.workers), s)
	if err != nil {
		return nil, err
	}
	if len(c) > 1 {
		x.scale = float32(c[1].Params.(bench.ScaleParams).Factor)
	}
	name := c.String()
	if name == "qk_t+scale+softmax" {
		x.keys = x.sk
	}
	mem, err := ws.sharedScratch(x.scratchBytes())
	if err != nil {
		return nil, err
	}
	in, second, out := halves(ws, first.In[0]), halves(ws, first.In[1]), halves(ws, last.Out)
	var body func(w *worker)
	switch name {
	case "qk_t", "qk_t+scale":
		body, err = x.qkT(mem, in, second, out, len(c) > 1)
	case "pv":
		body, err = x.pv(mem, in, second, out)
	case "qk_t+scale+softmax":
		body, err = x.qkTSoftmax(mem, in, second, out)
	default:
		body, err = x.full(mem, in, second, halves(ws, last.In[1]), out)
	}
	return &kernel{name: fmt.Sprintf("gemm_%dx%d_%s", x.qkPlan.mr, x.qkPlan.nr, ws.unit.name), body: body}, err
}
