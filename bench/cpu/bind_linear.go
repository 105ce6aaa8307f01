package cpu

import "hwcal/bench"

func init() {
	for _, then := range []string{"", "+bias", "+bias+relu", "+bias+gelu", "+bias+silu", "+bias+add"} {
		register("gemm"+then, bindLinear[float32], bindLinear[float64])
	}
	register("gemm+layernorm", bindLinearRows[float32], bindLinearRows[float64])
}

// bindLinear is a matrix multiplication whose epilogue, if the chain goes on,
// works on each tile while it is hot. Weights that are known before the run are
// packed here, once.
func bindLinear[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	x, y, weights := matrixOf[T](ws, c[0].In[0]), matrixOf[T](ws, c.Output()), c[0].In[1]
	l, err := newLinear[T](ws, y.rows, y.cols, x.cols)
	if err != nil {
		return nil, err
	}
	packed := ""
	if weights.Param {
		packed, err = "_packed", l.prepack(ws, weights)
	} else {
		err = l.take(ws, weights, plain(matrixOf[T](ws, weights)))
	}
	if err != nil {
		return nil, err
	}
	steps, err := newSteps[T](ws, c[1:])
	if err != nil {
		return nil, err
	}
	epi := epilogueOf(steps)
	return &kernel{name: l.name(ws) + packed, body: func(w *worker) { l.run(w, x, y, epi) }}, nil
}

// matrixOf views a tensor of two dimensions.
func matrixOf[T float](ws *workspace, t *bench.Tensor) matrix[T] {
	rows, cols := int(t.Dims[0]), int(t.Dims[1])
	return matrix[T]{data: data[T](ws, t), rows: rows, cols: cols, ld: cols}
}

// bindLinearRows ends with an operation on whole rows. No worker has whole rows of a
// matrix multiplication where there are few: so all multiply a block of rows, meet, and
// share out its rows, which are still in the caches.
func bindLinearRows[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	last := len(c) - 1
	x, y := matrixOf[T](ws, c[0].In[0]), matrixOf[T](ws, c.Output())
	rows := hotRows[T](ws, y.rows, y.cols)
	l, err := newLinear[T](ws, rows, y.cols, x.cols)
	if err != nil {
		return nil, err
	}
	if err := l.prepack(ws, c[0].In[1]); err != nil {
		return nil, err
	}
	steps, err := newSteps[T](ws, c[1:last])
	if err != nil {
		return nil, err
	}
	epi, norm := epilogueOf(steps), newLayerNorm[T, T](ws, c[last])
	return &kernel{name: l.name(ws) + "_rows", body: func(w *worker) {
		for i := 0; i < y.rows; i += rows {
			count := min(rows, y.rows-i)
			l.run(w, x.rowsOf(i, count), y.rowsOf(i, count), epi.from(i))
			w.barrier()
			lo, hi := w.share(count, 1)
			mine := y.data[(i+lo)*y.cols : (i+hi)*y.cols]
			norm.rows(mine, mine, cached)
		}
	}}, nil
}
