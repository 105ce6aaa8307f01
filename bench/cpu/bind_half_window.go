package cpu

import (
	"math"

	"hwcal/bench"
)

// bindHalfMaxPool is bindMaxPool in 16 bits.
func bindHalfMaxPool(ws *workspace, c bench.Chain) (*kernel, error) {
	v, err := newMaxPool[float32](ws, c[0])
	if err != nil {
		return nil, err
	}
	dst, round := halves(ws, c.Output()), halfKernelsFor(ws.dtype, ws.isa)
	return inHalfWindows(ws, nameOf(ws, c), &v.windows, c[0].In[0], func(_, at int, to, plane, buffer []float32, p0, p1 int) {
		v.rows(to, plane, buffer, p0, p1)
		round.roundSlice(dst[at:][:len(to)], to)
	})
}

// bindHalfDepthwise is bindDepthwise in 16 bits: sums, batch norm and what follows are in fp32.
func bindHalfDepthwise(ws *workspace, c bench.Chain, s convShape) (*kernel, error) {
	d, err := newDepthwise[float32](ws.isa, ws.caches, s)
	if err != nil {
		return nil, err
	}
	p, floor := convParameters[float32](ws, c), float32(math.Inf(-1))
	if p.relu {
		floor = 0
	}
	var residual []uint16
	if p.residual != nil {
		residual = halves(ws, p.residual)
	}
	half, dst, taps := halfKernelsFor(ws.dtype, ws.isa), halves(ws, c.Output()), len(d.offsets)
	weights := p.weights()
	none := make([]float32, 1) // as a bias, which is added behind the sums
	return inHalfWindows(ws, "depthwise_"+string(ws.dtype), &d.windows, c[0].In[0], func(i, at int, to, plane, buffer []float32, p0, p1 int) {
		channel, n := i%d.c, len(to)
		d.rows(to, plane, weights[channel*taps:][:taps], none, buffer, p0, p1, float32(math.Inf(-1)))
		half.finishRows(&dst[at:][:n][0], &to[0], &p.bias[channel], startOf(residual, at, n), n, n, n, 1, n, floor)
	})
}

// inHalfWindows widens whole planes of x for rows, which computes output rows [p0, p1) of plane i: to
// has room for them, and at is the index of the first in the output.
func inHalfWindows(ws *workspace, name string, v *windows[float32], x *bench.Tensor, rows func(i, at int, to, plane, buffer []float32, p0, p1 int)) (*kernel, error) {
	buffers, err := v.buffers(ws)
	if err != nil {
		return nil, err
	}
	in, q := v.h*v.w, v.q()
	planes, err := blocksOf[float32](ws, in)
	if err != nil {
		return nil, err
	}
	outs, err := blocksOf[float32](ws, v.block*q)
	if err != nil {
		return nil, err
	}
	src, half, parts := halves(ws, x), halfKernelsFor(ws.dtype, ws.isa), partsOf(ws, v.n*v.c, 1)
	return elementwise(ws, name, func(w *worker) {
		plane := planes[w.id]
		v.blocks(parts[w.id].lo, parts[w.id].hi, func(i, p0, p1 int) {
			if p0 == 0 {
				half.widenSlice(plane, src[i*in:][:in])
			}
			rows(i, (i*v.p()+p0)*q, outs[w.id][:(p1-p0)*q], plane, buffers[w.id], p0, p1)
		})
	}), nil
}
