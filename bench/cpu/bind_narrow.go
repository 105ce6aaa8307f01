package cpu

import (
	"fmt"

	"hwcal/bench"
)

func init() {
	registerNarrow("gemm", bindNarrowGEMM)
	registerNarrow("peak_fma", bindDotPeak)
}

// bindNarrowGEMM multiplies by B as it comes, or packs it now if it is known before
// the run.
func bindNarrowGEMM(ws *workspace, c bench.Chain) (*kernel, error) {
	x, weights := c[0].In[0], c[0].In[1]
	m, k, n := int(x.Dims[0]), int(x.Dims[1]), int(weights.Dims[1])
	g, err := newNarrowGEMM(ws.unit, ws.caches, len(ws.workers), m, n, k)
	if err != nil {
		return nil, err
	}
	mem, err := ws.memory.alloc(g.scratchBytes())
	if err != nil {
		return nil, err
	}
	scratch, err := g.newScratch(mem)
	if err != nil {
		return nil, err
	}
	a := byteRows{ws.bytes(x), k * g.size}
	b := byteRows{ws.bytes(weights), n * g.size}
	y := byteRows{ws.bytes(c.Output()), n * accBytes}
	name := fmt.Sprintf("gemm_%dx%d_%s", g.mr, g.nr, ws.unit.name)
	var packed []byte
	if weights.Param {
		if packed, err = ws.memory.alloc(int64(g.packedBytes())); err != nil {
			return nil, err
		}
		packed, name = g.prepackB(packed, b, scratch[0].edge), name+"_packed"
	}
	return &kernel{
		name: name,
		body: func(w *worker) { g.run(w.id, scratch[w.id], a, b, packed, y) },
	}, nil
}
