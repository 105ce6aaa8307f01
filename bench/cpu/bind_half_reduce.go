package cpu

import "hwcal/bench"

// What makes few numbers of many in bf16 or fp16 adds them up in fp32, a block in L1 after
// the other.

func init() {
	for _, r := range []bench.Reduction{bench.ReduceSum, bench.ReduceMax, bench.ReduceMean} {
		registerNarrow("reduce_"+string(r)+"_rows", bindHalfReduceRows(r), nil)
		registerNarrow("reduce_"+string(r)+"_cols", bindHalfReduceCols(r), nil)
	}
	registerNarrow("mse", bindHalfMSE, nil)
	registerNarrow("cross_entropy", bindHalfCrossEntropy, nil)
}

func bindHalfReduceRows(r bench.Reduction) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		reduce := rowReduction[float32](ws.isa, r, int(c[0].In[0].Elems()/c.Output().Elems()))
		return perHalfRow(ws, c, func(_ *worker, dst, rows []float32, _ int) { reduce(dst, rows) })
	}
}

func bindHalfCrossEntropy(ws *workspace, c bench.Chain) (*kernel, error) {
	labels := as[int32](ws.bytes(c[0].In[1]))
	rooms, err := blocksOf[float32](ws, lossRows)
	if err != nil {
		return nil, err
	}
	k := vecKernelsFor[float32](ws.isa)
	return perHalfRow(ws, c, func(w *worker, dst, rows []float32, first int) {
		k.losses(dst, rows, labels[first:], rooms[w.id])
	})
}

// perHalfRow lets f take rows of the first input, or planes of images, from some row on, to one
// number each in fp32.
func perHalfRow(ws *workspace, c bench.Chain, f func(w *worker, dst, rows []float32, first int)) (*kernel, error) {
	n := int(c[0].In[0].Elems() / c.Output().Elems())
	most := max(1, blockElems/n)
	rows, err := blocksOf[float32](ws, most*n)
	if err != nil {
		return nil, err
	}
	results, err := blocksOf[float32](ws, most)
	if err != nil {
		return nil, err
	}
	half := halfKernelsFor(ws.dtype, ws.isa)
	src, dst := halves(ws, c[0].In[0]), halves(ws, c.Output())
	parts := partsOf(ws, len(dst), 1)
	return elementwise(ws, nameOf(ws, c), func(w *worker) {
		for i, hi := parts[w.id].lo, parts[w.id].hi; i < hi; i += most {
			m := min(most, hi-i)
			block, to := rows[w.id][:m*n], results[w.id][:m]
			half.widenSlice(block, src[i*n:][:m*n])
			f(w, to, block, i)
			half.roundSlice(dst[i:][:m], to)
		}
	}), nil
}

func bindHalfReduceCols(r bench.Reduction) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		src, dst := halves(ws, c[0].In[0]), halves(ws, c.Output())
		n := widthOf(c[0].In[0])
		reduction, err := newColReduction[float32](ws, r, len(src)/n, n, false)
		if err != nil {
			return nil, err
		}
		most := max(1, blockElems/n)
		blocks, err := blocksOf[float32](ws, most*n)
		if err != nil {
			return nil, err
		}
		half := halfKernelsFor(ws.dtype, ws.isa)
		parts := partsOf(ws, len(src)/n, 1)
		return elementwise(ws, nameOf(ws, c), func(w *worker) {
			p := parts[w.id]
			reduction.begin(w)
			for i := p.lo; i < p.hi; i += most {
				block := blocks[w.id][:min(most, p.hi-i)*n]
				half.widenSlice(block, src[i*n:][:len(block)])
				reduction.take(w, block)
			}
			w.barrier()
			columns := reduction.columns[w.id]
			to := reduction.partial[0][columns.lo:columns.hi]
			reduction.end(columns, to)
			half.roundSlice(dst[columns.lo:columns.hi], to)
		}), nil
	}
}

func bindHalfMSE(ws *workspace, c bench.Chain) (*kernel, error) {
	x, target, dst := halves(ws, c[0].In[0]), halves(ws, c[0].In[1]), halves(ws, c.Output())
	blocks, err := blocksOf[float32](ws, 2*blockElems)
	if err != nil {
		return nil, err
	}
	k, half := vecKernelsFor[float32](ws.isa), halfKernelsFor(ws.dtype, ws.isa)
	result := make([]float32, 1)
	return meanOf(ws, c, nameOf(ws, c), func(w *worker, p span) float64 {
		from, to, sum := blocks[w.id][:blockElems], blocks[w.id][blockElems:], 0.0
		for lo := p.lo; lo < p.hi; lo += blockElems {
			n := min(blockElems, p.hi-lo)
			half.widenSlice(from, x[lo:][:n])
			half.widenSlice(to, target[lo:][:n])
			sum += float64(k.rowDistance(&from[0], &to[0], n))
		}
		return sum
	}, func(mean float64) {
		result[0] = float32(mean)
		half.roundSlice(dst, result)
	})
}
