package cpu

import (
	"fmt"

	"hwcal/bench"
	"hwcal/schema"
)

func init() {
	register("gemm_batched", bindBatched[float32], bindBatched[float64])
	registerNarrow("gemm_batched", bindNarrowBatched, bindNarrowBatched)
}

// bindBatched gives each worker whole products of the batch: they are too small
// to be shared.
func bindBatched[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	x, weights, out := c[0].In[0], c[0].In[1], c.Output()
	m, k, n := int(x.Dims[1]), int(x.Dims[2]), int(weights.Dims[2])
	b, err := newBatch[T](ws.isa, ws.caches, len(ws.workers), int(x.Dims[0]), m, n, k)
	if err != nil {
		return nil, err
	}
	mems, err := ws.rooms(b.scratchBytes())
	if err != nil {
		return nil, err
	}
	xs, wts, ys := data[T](ws, x), data[T](ws, weights), data[T](ws, out)
	body, err := b.kernel(mems, func(i int) (x, w, y matrix[T]) {
		return head(xs, i, m, k), head(wts, i, k, n), head(ys, i, m, n)
	}, nil)
	return &kernel{name: fmt.Sprintf("gemm_%dx%d_%s_batched", b.whole.mr, b.whole.nr, ws.isa), body: body, private: true}, err
}

// bindNarrowBatched does so in a type narrower than fp32. The products are sums, in fp32 or int32.
func bindNarrowBatched(ws *workspace, c bench.Chain) (*kernel, error) {
	x, weights, out := c[0].In[0], c[0].In[1], c.Output()
	batch, m, k, n := int(x.Dims[0]), int(x.Dims[1]), int(x.Dims[2]), int(weights.Dims[2])
	if !out.Sums {
		return nil, fmt.Errorf("products of a batch are not rounded: %w", bench.ErrUnsupported)
	}
	each := func(t *bench.Tensor) func(i int) byteRows {
		mem, size := ws.bytes(t), len(ws.bytes(t))/batch
		ld := size / int(t.Dims[1])
		return func(i int) byteRows { return byteRows{mem[i*size:][:size:size], ld} }
	}
	xs, wts, ys := each(x), each(weights), each(out)
	parts := partsOf(ws, batch, 1)
	products := func(name string, multiply func(worker int, a, b, c byteRows)) *kernel {
		return &kernel{name: name + "_batched", private: true, body: func(w *worker) {
			for i := parts[w.id].lo; i < parts[w.id].hi; i++ {
				multiply(w.id, xs(i), wts(i), ys(i))
			}
		}}
	}
	var packed *kernel
	var err error
	if ws.dtype != schema.INT8 && k*int(ws.dtype.Bytes()) <= stepBytes/2 {
		packed, err = bindWidenedBatched(ws, c)
	} else {
		packed, err = bindNarrowBlocks(ws, m, n, k, products)
	}
	if err != nil {
		return nil, err
	}
	u := ws.vectors()
	d := newNarrowDirect(u, ws.caches, 1, m, n, k)
	if d == nil {
		return packed, nil
	}
	rooms, err := ws.rooms(int64(d.roomBytes()))
	if err != nil {
		return nil, err
	}
	direct := products("gemm_direct_"+u.name, func(worker int, a, b, c byteRows) { d.run(0, rooms[worker], a, b, c) })
	return tried(ws, c, []*kernel{direct, packed}), nil
}

// bindNarrowBlocks computes the products from packed panels.
func bindNarrowBlocks(ws *workspace, m, n, k int, products func(name string, multiply func(worker int, a, b, c byteRows)) *kernel) (*kernel, error) {
	g, err := newNarrowBatch(ws.unit, ws.caches, m, n, k)
	if err != nil {
		return nil, err
	}
	scratch := make([]narrowScratch, len(ws.workers))
	for i := range scratch {
		mem, err := ws.memory.alloc(g.scratchBytes())
		if err != nil {
			return nil, err
		}
		s, err := g.newScratch(mem)
		if err != nil {
			return nil, err
		}
		scratch[i] = s[0]
	}
	multiply := func(worker int, a, b, c byteRows) { g.run(0, scratch[worker], a, b, nil, c, nil) }
	if g.oneBlock() {
		multiply = func(worker int, a, b, c byteRows) { g.multiplyBlock(scratch[worker], a, b, c) }
	}
	return products(fmt.Sprintf("gemm_%dx%d_%s", g.mr, g.nr, ws.unit.name), multiply), nil
}

// bindWidenedBatched multiplies numbers of 16 bits in fp32, in which their products are exact. Where
// half of a step of the unit would be zeros, it is no faster, and packing takes the longest.
func bindWidenedBatched(ws *workspace, c bench.Chain) (*kernel, error) {
	x, weights, out := c[0].In[0], c[0].In[1], c.Output()
	batch, m, k, n := int(x.Dims[0]), int(x.Dims[1]), int(x.Dims[2]), int(weights.Dims[2])
	g, err := newGEMM[float32](ws.isa, ws.caches, 1, m, n, k)
	if err != nil {
		return nil, err
	}
	type room struct {
		a, b    operand[float32]
		scratch *gemmScratch[float32]
	}
	rooms := make([]room, len(ws.workers))
	for i := range rooms {
		r := &rooms[i]
		wide, err := scratch[float32](ws, m*k+k*n)
		if err != nil {
			return nil, err
		}
		r.a, r.b = plain(head(wide, 0, m, k)), plain(head(wide[m*k:], 0, k, n))
		mem, err := ws.memory.alloc(g.scratchBytes())
		if err != nil {
			return nil, err
		}
		if r.scratch, err = g.newScratch(mem); err != nil {
			return nil, err
		}
	}
	half := halfKernelsFor(ws.dtype, ws.isa)
	xs, wts, ys := halves(ws, x), halves(ws, weights), as[float32](ws.bytes(out))
	parts := partsOf(ws, batch, 1)
	body := func(w *worker) {
		r := &rooms[w.id]
		for i := parts[w.id].lo; i < parts[w.id].hi; i++ {
			half.widenSlice(r.a.data, xs[i*m*k:][:m*k])
			half.widenSlice(r.b.data, wts[i*k*n:][:k*n])
			y := head(ys, i, m, n)
			g.serial(r.scratch, &r.a, &r.b, &y, nil)
		}
	}
	return &kernel{name: fmt.Sprintf("gemm_%dx%d_%s_widened_batched", g.mr, g.nr, ws.isa), body: body, private: true}, nil
}
