package cpu

import (
	"fmt"

	"hwcal/bench"
)

func init() { register("gemm_batched", bindBatched[float32], bindBatched[float64]) }

// bindBatched gives each worker whole products of the batch: they are too small
// to be shared.
func bindBatched[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	x, weights, out := c[0].In[0], c[0].In[1], c.Output()
	m, k, n := int(x.Dims[1]), int(x.Dims[2]), int(weights.Dims[2])
	b, err := newBatch[T](ws.isa, ws.caches, len(ws.workers), int(x.Dims[0]), m, n, k)
	if err != nil {
		return nil, err
	}
	mems := make([][]byte, len(ws.workers))
	for i := range mems {
		if mems[i], err = ws.memory.alloc(b.scratchBytes()); err != nil {
			return nil, err
		}
	}
	xs, wts, ys := data[T](ws, x), data[T](ws, weights), data[T](ws, out)
	body, err := b.kernel(mems, func(i int) (x, w, y matrix[T]) {
		return head(xs, i, m, k), head(wts, i, k, n), head(ys, i, m, n)
	}, nil)
	return &kernel{name: fmt.Sprintf("gemm_%dx%d_%s_batched", b.whole.mr, b.whole.nr, ws.isa), body: body, private: true}, err
}
