package cpu

import "hwcal/bench"

func init() { register("gemm+bias+gelu+gemm", bindMLP[float32], bindMLP[float64]) }

// bindMLP is two matrix multiplications by weights that are known before the run. A
// block of rows of the hidden layer stays in the caches between them.
func bindMLP[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	last := len(c) - 1
	x, y := matrixOf[T](ws, c[0].In[0]), matrixOf[T](ws, c.Output())
	width := widthOf(c[0].Out) // of the hidden layer
	rows := hotRows[T](ws, x.rows, width)
	up, err := newLinear[T](ws, rows, width, x.cols)
	if err != nil {
		return nil, err
	}
	down, err := newLinear[T](ws, rows, y.cols, width)
	if err != nil {
		return nil, err
	}
	if err := up.prepack(ws, c[0].In[1]); err != nil {
		return nil, err
	}
	if err := down.prepack(ws, c[last].In[1]); err != nil {
		return nil, err
	}
	block, err := scratch[T](ws, rows*width)
	if err != nil {
		return nil, err
	}
	hidden := matrix[T]{data: block, rows: rows, cols: width, ld: width}
	steps, err := newSteps[T](ws, c[1:last])
	if err != nil {
		return nil, err
	}
	epi := epilogueOf(steps)
	return &kernel{name: up.name(ws) + "_rows", body: func(w *worker) {
		for i := 0; i < x.rows; i += rows {
			if i > 0 {
				w.barrier() // the block before has been read
			}
			h := hidden.rowsOf(0, min(rows, x.rows-i))
			up.run(w, x.rowsOf(i, h.rows), h, epi.from(i))
			w.barrier()
			down.run(w, h, y.rowsOf(i, h.rows), nil)
		}
	}}, nil
}
