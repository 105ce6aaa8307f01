package cpu

import (
	"math"

	"hwcal/bench"
)

func init() {
	register("max_pool", bindMaxPool[float32], bindMaxPool[float64])
	register("global_average_pool", bindReduceRows[float32, float32](bench.ReduceMean), bindReduceRows[float64, float64](bench.ReduceMean))
	registerNarrow("max_pool", bindHalfMaxPool, nil)
	registerNarrow("global_average_pool", bindReduceRows[uint16, float32](bench.ReduceMean), nil)
}

// maxPool is the plan of the largest pixel of each window.
type maxPool[T float] struct {
	windows[T]
	largest func(dst, src *T, ldd, lds, m, n int, offsets *int, taps int)
}

func newMaxPool[T float](ws *workspace, op bench.Op) (*maxPool[T], error) {
	x, p := op.In[0].Dims, op.Params.(bench.PoolParams)
	s := convShape{
		n: int(x[0]), c: int(x[1]), h: int(x[2]), w: int(x[3]), k: int(x[1]), groups: int(x[1]),
		r: int(p.Size), s: int(p.Size), stride: int(p.Stride), pad: int(p.Pad),
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return &maxPool[T]{newWindows(ws.isa, ws.caches, s, T(math.Inf(-1))), vecKernelsFor[T](ws.isa).maxTaps}, nil
}

// rows computes the output rows [p0, p1) of a plane.
func (v *maxPool[T]) rows(dst, plane, buffer []T, p0, p1 int) {
	v.load(buffer, plane, p0, p1)
	v.largest(&dst[0], &buffer[0], v.q(), v.stride*v.pitch(), p1-p0, v.q(), &v.offsets[0], len(v.offsets))
}

// bindMaxPool gives each worker whole planes.
func bindMaxPool[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	v, err := newMaxPool[T](ws, c[0])
	if err != nil {
		return nil, err
	}
	buffers, err := v.buffers(ws)
	if err != nil {
		return nil, err
	}
	src, dst := data[T](ws, c[0].In[0]), data[T](ws, c.Output())
	in, q, parts := v.h*v.w, v.q(), partsOf(ws, v.n*v.c, 1)
	return elementwise(ws, c.String(), func(w *worker) {
		v.blocks(parts[w.id].lo, parts[w.id].hi, func(i, p0, p1 int) {
			v.rows(dst[(i*v.p()+p0)*q:][:(p1-p0)*q], src[i*in:][:in], buffers[w.id], p0, p1)
		})
	}), nil
}
