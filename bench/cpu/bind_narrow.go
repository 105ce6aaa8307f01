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
	l, err := newNarrowLinear(ws, m, n, k, weights.Param)
	if err != nil {
		return nil, err
	}
	a, name := byteRowsOf(ws, x), l.name()
	if l.weights = byteRowsOf(ws, weights); weights.Param {
		name += "_packed"
		err = l.prepack(ws, weights)
	}
	if err != nil {
		return nil, err
	}
	var y byteRows
	var end finish
	switch {
	case c.Output().Sums:
		y = byteRows{ws.bytes(c.Output()), n * accBytes}
	case ws.dtype != schema.INT8:
		end, err = finishHalf(ws, c, l.gemm.nr)
	case len(c) > 1:
		end = finishQuantized(ws, c, l.gemm.nr)
	default:
		err = fmt.Errorf("the sums of a product in int8 are no int8: %w", bench.ErrUnsupported)
	}
	if err != nil {
		return nil, err
	}
	blocks := &kernel{name: name, body: func(w *worker) { l.run(w, m, a, y, end) }}
	u := ws.vectors()
	d := newNarrowDirect(u, ws.caches, len(ws.workers), m, n, k)
	if d == nil || weights.Param || end != nil {
		return blocks, nil
	}
	rooms, err := ws.rooms(int64(d.roomBytes()))
	if err != nil {
		return nil, err
	}
	direct := &kernel{name: "gemm_direct_" + u.name, body: func(w *worker) { d.run(w.id, rooms[w.id], a, l.weights, y) }}
	return tried(ws, c, []*kernel{direct, blocks}), nil
}
