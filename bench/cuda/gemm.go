package cuda

import (
	"hwcal/bench"
	"hwcal/schema"
)

// tensorCores is the first capability whose instructions the kernels for products have.
var tensorCores = Capability{8, 0}

func init() {
	for _, chain := range []string{"gemm", "gemm_batched"} {
		register(chain, entry{provider: own, dtypes: products, least: tensorCores, bind: bindGemm})
	}
	for _, chain := range []string{"gemm+bias", "gemm+bias+relu", "gemm+bias+gelu", "gemm+bias+silu", "gemm+bias+add"} {
		register(chain, entry{provider: own, dtypes: floats, least: tensorCores, bind: bindGemm})
	}
	for _, chain := range []string{"gemm+bias+requantize", "gemm+bias+relu+requantize"} {
		register(chain, entry{provider: own, dtypes: []schema.DType{schema.INT8}, least: tensorCores, bind: bindGemm})
	}
}

// bindGemm is for a product and what is done to each of its elements.
func bindGemm(ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	x, w := op.In[0], op.In[1]
	e, err := ws.epilogueOf(op, nil, c[1:])
	if err != nil {
		return nil, err
	}
	return ws.multiply("gemm", "gemm", ws.gemmShapeOf(x, w), ws.pointer(x), ws.pointer(w), e)
}

// gemmShapeOf X[m,k] and W[k,n], or as many of both as a batch has.
func (ws *workspace) gemmShapeOf(x, w *bench.Tensor) gemmShape {
	p := gemmShape{batch: 1, operands: 1, byRows: ws.of(w).layout == transposed}
	if len(x.Dims) == 3 {
		p.batch = x.Dims[0]
	}
	xd, wd := x.Dims[len(x.Dims)-2:], w.Dims[len(w.Dims)-2:]
	p.m, p.k, p.n = xd[0], xd[1], wd[1]
	return p
}
