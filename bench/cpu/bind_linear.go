package cpu

import (
	"fmt"

	"hwcal/bench"
)

func init() {
	for _, then := range []string{"", "+bias", "+bias+relu", "+bias+gelu"} {
		register("gemm"+then, bindLinear[float32], bindLinear[float64])
	}
}

// bindLinear is a matrix multiplication whose epilogue, if the chain goes on,
// works on each tile while it is hot. Weights that are known before the run are
// packed here, once.
func bindLinear[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	x, weights, out := c[0].In[0], c[0].In[1], c.Output()
	m, k, n := int(x.Dims[0]), int(x.Dims[1]), int(weights.Dims[1])
	g, err := newGEMM[T](ws.isa, ws.caches, len(ws.workers), m, n, k)
	if err != nil {
		return nil, err
	}
	mem, err := ws.memory.alloc(g.scratchBytes())
	if err != nil {
		return nil, err
	}
	s, err := g.newScratch(mem)
	if err != nil {
		return nil, err
	}
	var epi epilogue[T]
	if len(c) > 1 {
		epi = linearEpilogue[T](ws, c[1:])
	}
	a := plain(matrix[T]{data: data[T](ws, x), rows: m, cols: k, ld: k})
	b := plain(matrix[T]{data: data[T](ws, weights), rows: k, cols: n, ld: n})
	y := matrix[T]{data: data[T](ws, out), rows: m, cols: n, ld: n}
	name := fmt.Sprintf("gemm_%dx%d_%s", g.mr, g.nr, ws.isa)
	if weights.Param {
		packed, err := scratch[T](ws, g.packedBLen())
		if err != nil {
			return nil, err
		}
		b, name = g.prepackB(packed, b.matrix), name+"_packed"
	}
	return &kernel{
		name: name,
		body: func(w *worker) { g.run(w, s, a, b, y, epi) },
	}, nil
}

// linearEpilogue is the bias and the activation behind it.
func linearEpilogue[T float](ws *workspace, then bench.Chain) epilogue[T] {
	bias := data[T](ws, then[0].In[1])
	if then[len(then)-1].Name == "gelu" {
		gelu := vecKernelsFor[T](ws.isa).addGelu
		return func(c []T, ldc, _, j0, m, n int) { gelu.tile(c, ldc, m, n, bias[j0:j0+n], 0, 0) }
	}
	return newBiasEpilogue(ws.isa, bias, then[len(then)-1].Name == "relu")
}
