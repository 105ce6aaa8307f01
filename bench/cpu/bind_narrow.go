package cpu

import (
	"fmt"

	"hwcal/bench"
	"hwcal/schema"
)

func init() {
	registerNarrow("peak_fma", bindDotPeak, bindDotPeak)
	registerNarrow("gemm", bindNarrowGEMM, bindNarrowGEMM)
	for _, then := range []string{"+bias", "+bias+relu", "+bias+gelu", "+bias+silu", "+bias+add"} {
		registerNarrow("gemm"+then, bindNarrowGEMM, nil)
	}
	for _, then := range []string{"+bias+requantize", "+bias+relu+requantize"} {
		registerNarrow("gemm"+then, nil, bindNarrowGEMM)
	}
}

// bindNarrowGEMM multiplies by B as it comes, or packs it now if it is known before
// the run. What follows in the chain works on the sums of each tile while it is hot.
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
	var y byteRows
	var end finish
	switch {
	case c.Output().Sums:
		y = byteRows{ws.bytes(c.Output()), n * accBytes}
	case ws.dtype != schema.INT8:
		end, err = finishHalf(ws, c, g.nr)
	case len(c) > 1:
		end = finishQuantized(ws, c, g.nr)
	default:
		err = fmt.Errorf("the sums of a product in int8 are no int8: %w", bench.ErrUnsupported)
	}
	if err != nil {
		return nil, err
	}
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
		body: func(w *worker) { g.run(w.id, scratch[w.id], a, b, packed, y, end) },
	}, nil
}
