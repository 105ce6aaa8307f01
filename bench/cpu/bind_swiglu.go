package cpu

import (
	"unsafe"

	"hwcal/bench"
)

func init() { register("gemm+silu+gemm+mul", bindSwiGLU[float32], bindSwiGLU[float64]) }

// bindSwiGLU is silu(X Wg) * (X Wu) as one multiplication by both weights. Half of the
// columns of a micro-panel are Wg's and half Wu's, so that each tile holds the gates and
// the values of the same columns of Y, and its epilogue joins them.
func bindSwiGLU[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	x, y := matrixOf[T](ws, c[0].In[0]), matrixOf[T](ws, c.Output())
	rows := hotRows[T](ws, x.rows, 2*y.cols)
	l, err := newLinear[T](ws, rows, 2*y.cols, x.cols)
	if err != nil {
		return nil, err
	}
	if err := l.prepackPairs(ws, c[0].In[1], c[2].In[1]); err != nil {
		return nil, err
	}
	block, err := scratch[T](ws, rows*2*y.cols)
	if err != nil {
		return nil, err
	}
	sums := matrix[T]{data: block, rows: rows, cols: 2 * y.cols, ld: 2 * y.cols}
	vec, nr := vecKernelsFor[T](ws.isa), l.gemm.nr
	return &kernel{name: l.name(ws) + "_pairs", body: func(w *worker) {
		for i := 0; i < x.rows; i += rows {
			if i > 0 {
				w.barrier() // the packed rows of the block before have been read
			}
			s := sums.rowsOf(0, min(rows, x.rows-i))
			l.run(w, x.rowsOf(i, s.rows), s, func(c []T, ldc, i0, j0, m, n int) {
				joinPairs(&vec, nr, y.data[(i+i0)*y.ld+j0/2:], y.ld, c, ldc, m, n)
			})
		}
	}}, nil
}

// joinPairs writes silu(gate) value of m rows of n sums, of which each micro-panel has as many gates as values. Where it is
// two vectors, one call joins all whole ones.
func joinPairs[T float](vec *vecKernels[T], nr int, dst []T, ldd int, sums []T, lds, m, n int) {
	whole := 0
	if vec.siluMulPairs != nil {
		whole = n / nr * nr
	}
	if whole > 0 {
		_, _ = dst[(m-1)*ldd+whole/2-1], sums[(m-1)*lds+whole-1]
		vec.siluMulPairs(&dst[0], &sums[0], ldd, lds, m, whole/2)
	}
	for j := whole; j < n; j += nr {
		half := min(nr, n-j) / 2
		vec.siluMul.matrix(dst[j/2:], ldd, sums[j:], lds, sums[j+half:], lds, m, half, 0, 0)
	}
}

// prepackPairs packs two matrices of weights so that half of each micro-panel is of
// either.
func (l *linear[T]) prepackPairs(ws *workspace, gate, up *bench.Tensor) error {
	g, a, b := l.gemm, matrixOf[T](ws, gate), matrixOf[T](ws, up)
	mem, err := ws.forWorkers(int64(g.packedBLen()) * int64(unsafe.Sizeof(T(0))))
	if err != nil {
		return err
	}
	packed := as[T](mem)
	both := matrix[T]{data: make([]T, g.kc*g.n), rows: g.kc, cols: g.n, ld: g.n}
	for pc := 0; pc < g.k; pc += g.kc {
		kc := min(g.kc, g.k-pc)
		for p := range kc {
			row := both.data[p*g.n:]
			for j := 0; j < a.cols; j += g.nr / 2 {
				half := min(g.nr/2, a.cols-j)
				copy(row[2*j:][:half], a.data[(pc+p)*a.ld+j:])
				copy(row[2*j+half:][:half], b.data[(pc+p)*b.ld+j:])
			}
		}
		g.packB(packed[g.packedCols()*pc:], both, 0, kc, 0, g.n)
	}
	return l.take(ws, gate, operand[T]{packed: packed})
}
