package cpu

import "hwcal/bench"

// Chains around matrix multiplications in bf16 and fp16 that need more than the sums of
// a tile. Blocks of rows stay in the caches between, as they do in fp32.

func init() {
	registerNarrow("gemm+layernorm", bindHalfLinearRows, nil)
	registerNarrow("gemm+bias+gelu+gemm", bindHalfMLP, nil)
	registerNarrow("gemm+silu+gemm+mul", bindHalfSwiGLU, nil)
}

// bindHalfLinearRows normalises whole rows of sums, which stay in fp32. All workers
// multiply a block of rows, meet, and share out its rows.
func bindHalfLinearRows(ws *workspace, c bench.Chain) (*kernel, error) {
	x, y := c[0].In[0], c.Output()
	m, n, k := int(y.Dims[0]), int(y.Dims[1]), int(x.Dims[1])
	rows := rowsInL3(ws, m, n*accBytes, ws.unit.gemm.mr)
	l, err := newNarrowLinear(ws, rows, n, k, true)
	if err != nil {
		return nil, err
	}
	if err := l.prepack(ws, c[0].In[1]); err != nil {
		return nil, err
	}
	mem, err := ws.memory.alloc(int64(rows * n * accBytes))
	if err != nil {
		return nil, err
	}
	sums := as[float32](mem)
	norm, half := newLayerNorm[float32, float32](ws, c[1]), halfKernelsFor(ws.dtype, ws.isa)
	a, block, out := byteRowsOf(ws, x), byteRows{mem, n * accBytes}, halves(ws, y)
	most := max(1, blockElems/n) // rows that stay in L1 until they are rounded
	return &kernel{name: l.name() + "_rows", body: func(w *worker) {
		for i := 0; i < m; i += rows {
			if i > 0 {
				w.barrier() // the block before has been read
			}
			count := min(rows, m-i)
			l.run(w, count, a.from(i), block, nil)
			w.barrier()
			for lo, hi := w.share(count, 1); lo < hi; lo += most {
				mine := sums[lo*n : min(lo+most, hi)*n]
				norm.rows(mine, mine, cached)
				half.roundSlice(out[(i+lo)*n:][:len(mine)], mine)
			}
		}
	}}, nil
}

// bindHalfMLP is two matrix multiplications. A block of rows of the hidden layer, in 16
// bits as the second one takes it, stays in the caches between them.
func bindHalfMLP(ws *workspace, c bench.Chain) (*kernel, error) {
	last := len(c) - 1
	x, first, second := c[0].In[0], c[0].In[1], c[last].In[1]
	m, width := int(x.Dims[0]), int(first.Dims[1])
	rows := rowsInL3(ws, m, width*int(ws.dtype.Bytes()), ws.unit.gemm.mr)
	up, err := newNarrowLinear(ws, rows, width, int(first.Dims[0]), true)
	if err != nil {
		return nil, err
	}
	down, err := newNarrowLinear(ws, rows, int(second.Dims[1]), width, true)
	if err != nil {
		return nil, err
	}
	if err := up.prepack(ws, first); err != nil {
		return nil, err
	}
	if err := down.prepack(ws, second); err != nil {
		return nil, err
	}
	mem, err := ws.memory.alloc(int64(rows*width) * ws.dtype.Bytes())
	if err != nil {
		return nil, err
	}
	// It begins with row 0 for each block: neither bias nor GELU asks for the row.
	hide, err := finishHalfIn(ws, c[:last], up.gemm.nr, as[uint16](mem))
	if err != nil {
		return nil, err
	}
	end, err := finishHalf(ws, c[last:], down.gemm.nr)
	if err != nil {
		return nil, err
	}
	a, hidden := byteRowsOf(ws, x), byteRows{mem, width * int(ws.dtype.Bytes())}
	return &kernel{name: up.name() + "_rows", body: func(w *worker) {
		for i := 0; i < m; i += rows {
			if i > 0 {
				w.barrier() // the block before has been read
			}
			count := min(rows, m-i)
			up.run(w, count, a.from(i), byteRows{}, hide)
			w.barrier()
			down.run(w, count, hidden, byteRows{}, end.from(i))
		}
	}}, nil
}

// bindHalfSwiGLU is silu(X Wg) * (X Wu) as one multiplication by both weights, of which
// each tile holds the sums of the same columns of Y. No sum leaves L1.
func bindHalfSwiGLU(ws *workspace, c bench.Chain) (*kernel, error) {
	x, y := c[0].In[0], c.Output()
	m, n, k := int(y.Dims[0]), int(y.Dims[1]), int(x.Dims[1])
	l, err := newNarrowLinear(ws, m, 2*n, k, true)
	if err != nil {
		return nil, err
	}
	if err := l.prepackPairs(ws, byteRowsOf(ws, c[0].In[1]), byteRowsOf(ws, c[2].In[1])); err != nil {
		return nil, err
	}
	join, half := vecKernelsFor[float32](ws.isa).siluMul, halfKernelsFor(ws.dtype, ws.isa)
	a, out, nr := byteRowsOf(ws, x), halves(ws, y), l.gemm.nr
	end := func(sums []byte, i0, j0, m, both int) {
		tile, cols := as[float32](sums), both/2
		to := out[i0*n+j0/2:][:(m-1)*n+cols]
		join.matrix(tile, nr, tile, nr, tile[cols:], nr, m, cols, 0, 0)
		half.round(&to[0], &tile[0], n, nr, m, cols)
	}
	return &kernel{name: l.name() + "_pairs", body: func(w *worker) { l.run(w, m, a, byteRows{}, end) }}, nil
}
