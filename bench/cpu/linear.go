package cpu

import (
	"fmt"
	"unsafe"

	"hwcal/bench"
)

// linear is a matrix multiplication by weights, ready to run on a block of rows.
type linear[T float] struct {
	gemm    *gemm[T]
	scratch *gemmScratch[T]
	weights operand[T]
}

// newLinear plans rows x n = (rows x k) (k x n), for blocks of that many rows or fewer.
func newLinear[T float](ws *workspace, rows, n, k int) (*linear[T], error) {
	g, err := newGEMM[T](ws.isa, ws.caches, len(ws.workers), rows, n, k)
	if err != nil {
		return nil, err
	}
	mem, err := ws.sharedScratch(g.scratchBytes())
	if err != nil {
		return nil, err
	}
	s, err := g.newScratch(mem)
	return &linear[T]{gemm: g, scratch: s}, err
}

// name of the micro-kernel.
func (l *linear[T]) name(ws *workspace) string {
	name := fmt.Sprintf("gemm_%dx%d_%s", l.gemm.mr, l.gemm.nr, ws.isa)
	if l.gemm.dotDepth > 0 {
		name = fmt.Sprintf("gemm_dots_%s", ws.isa)
	}
	if l.gemm.streams {
		name += "_streams"
	}
	return name
}

// prepack packs the weights before the run, as parameters are.
func (l *linear[T]) prepack(ws *workspace, weights *bench.Tensor) error {
	g := l.gemm
	key := packedKey{weights, fmt.Sprintf("panels of %d by %d", g.kc, g.nr)}
	packed, err := ws.packedOnce(key, int64(g.packedBLen())*int64(unsafe.Sizeof(T(0))), func(dst []byte) {
		g.prepackB(as[T](dst), matrixOf[T](ws, weights))
	})
	if err != nil {
		return err
	}
	return l.take(ws, weights, operand[T]{packed: as[T](packed)})
}

// take makes an operand of the tensor the weights.
func (l *linear[T]) take(ws *workspace, tensor *bench.Tensor, weights operand[T]) error {
	l.weights = weights
	return l.tryStreams(ws, tensor)
}

// run multiplies the rows of x, from row i0 of the whole matrix on. y and what the epilogue
// is told begin there.
func (l *linear[T]) run(w *worker, x, y matrix[T], epi epilogue[T]) {
	g := l.gemm
	if x.rows < g.m {
		fewer := *g
		fewer.m, fewer.shares = x.rows, nil // the shares are of g.m rows
		g = &fewer
	}
	g.run(w, l.scratch, plain(x), l.weights, y, epi)
}

// rowsOf are count rows of a matrix from row i on.
func (m matrix[T]) rowsOf(i, count int) matrix[T] {
	m.data, m.rows = m.data[i*m.ld:], count
	return m
}

// hotRows cuts m rows into blocks of which that many elements a row stay in the caches
// between the operations of a chain.
func hotRows[T float](ws *workspace, m, elems int) int {
	return rowsInL3(ws, m, elems*int(unsafe.Sizeof(T(0))), newGEMMKernels[T](ws.isa).mr)
}

// rowsInL3 cuts m rows into blocks, of whole panels and as equal as possible, of which
// that many bytes a row take a quarter of L3. Blocks for L2 lose more than they gain: the
// weights are read for each.
func rowsInL3(ws *workspace, m, bytes, mr int) int {
	fit := orElse(ws.caches.L3, typicalCaches.L3) / 4 / bytes
	return even(m, max(fit/mr*mr, mr*len(ws.workers)), mr)
}
