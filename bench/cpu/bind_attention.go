package cpu

import (
	"fmt"
	"math"

	"hwcal/bench"
)

func init() {
	register("softmax", bindSoftmax[float32, float32], bindSoftmax[float64, float64])
	register("causal_softmax", bindCausalSoftmax[float32, float32], bindCausalSoftmax[float64, float64])
	for _, chain := range []string{"qk_t", "qk_t+scale", "qk_t+scale+softmax", "qk_t+scale+softmax+pv", "qk_t+scale+causal_softmax+pv", "pv"} {
		register(chain, bindAttention[float32], bindAttention[float64])
	}
}

func bindSoftmax[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	k, src, dst := storedKernelsFor[S, T](ws), data[S](ws, c[0].In[0]), data[S](ws, c.Output())
	n := widthOf(c.Output())
	return inRepeats(ws, c, 0, n, func(room *T, nt nontemporal, i, _, m int) {
		k.softmaxBy(room, nt, dst[i*n:], n, src[i*n:], n, nil, 0, m, n, 1)
	})
}

// bindCausalSoftmax is the softmax of what is seen of each row: of a panel of rows at once, in which what is not seen is -Inf.
func bindCausalSoftmax[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	rows, err := causalRows[T](ws, c.Output())
	if err != nil {
		return nil, err
	}
	rooms, err := roomsOf[T](ws, widthOf(c.Output()))
	if err != nil {
		return nil, err
	}
	k, dst, src, ld := storedKernelsFor[S, T](ws), data[S](ws, c.Output()), data[S](ws, c[0].In[0]), rows.sk
	hidden := make([]S, rows.pack.mr+lineElems)
	k.results(hidden, make([]T, len(hidden)), func(to []T) {
		for i := range to {
			to[i] = T(math.Inf(-1))
		}
	})
	return storing(ws, c, func(nt nontemporal) func(w *worker) {
		return func(w *worker) {
			eachPanel[S](rows, w, func(at, m, seen, n int) {
				for i := range m {
					copy(src[at+i*ld:][seen+i:n], hidden)
				}
				k.softmaxBy(rooms.of(w, nt), nt, dst[at:], ld, src[at:], ld, nil, 0, m, n, 1)
			})
		}
	}), nil
}

// bindCausalScale is bindScale of what is seen of scores.
func bindCausalScale[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	rows, err := causalRows[T](ws, c.Output())
	if err != nil {
		return nil, err
	}
	scale, factor, ld := storedKernelsFor[S, T](ws).scale, T(c[0].Params.(bench.ScaleParams).Factor), rows.sk
	dst, src := data[S](ws, c.Output()), data[S](ws, c[0].In[0])
	return storingFar(ws, c, func(nt nontemporal) func(w *worker) {
		return func(w *worker) {
			eachPanel[S](rows, w, func(at, m, _, n int) { scale(&dst[at], &src[at], nil, ld, ld, 0, m, n, factor, 0, nt) })
		}
	}), nil
}

// causalRows is the plan of operations on causal scores by themselves.
func causalRows[T float](ws *workspace, scores *bench.Tensor) (*causal[T], error) {
	d := scores.Dims
	a, err := newAttention[T](ws.isa, ws.caches, len(ws.workers), attentionShape{
		heads: int(d[0] * d[1]), sq: int(d[2]), sk: int(d[3]), d: 1, group: 1, causal: true,
	})
	if err != nil {
		return nil, err
	}
	return a.newCausal(), nil
}

// attentionShapeOf reads the dimensions off the first operand [B,H,Sq,.] and the second
// of qk_t or pv [B,G,Sk,D].
func attentionShapeOf(op bench.Op) attentionShape {
	q, k := op.In[0], op.In[1]
	return attentionShape{
		heads: int(q.Dims[0] * q.Dims[1]), sq: int(q.Dims[2]), sk: int(k.Dims[2]), d: int(k.Dims[3]),
		group: int(q.Dims[1] / k.Dims[1]), causal: q.Causal || op.Out.Causal,
	}
}

// bindAttention binds the products of attention by themselves, and what can be
// fused with the first.
func bindAttention[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	first, last := c[0], c[len(c)-1]
	s := attentionShapeOf(first)
	if s.sq == 1 && s.sk > 1 {
		x, err := newDecode[T](ws.isa, ws.caches, len(ws.workers), s)
		if err != nil {
			return nil, err
		}
		return bindDecode(ws, c, "gemv", x)
	}
	a, err := newAttention[T](ws.isa, ws.caches, len(ws.workers), s)
	if err != nil {
		return nil, err
	}
	if len(c) > 1 {
		a.scale = T(c[1].Params.(bench.ScaleParams).Factor)
	}
	size, err := a.scratchBytes()
	if err != nil {
		return nil, err
	}
	mem, err := ws.sharedScratch(size)
	if err != nil {
		return nil, err
	}
	x, y, out := data[T](ws, first.In[0]), data[T](ws, first.In[1]), data[T](ws, last.Out)
	var body func(w *worker)
	switch name := c.String(); {
	case name == "qk_t" && s.causal:
		body, err = a.newCausal().qkT(mem, x, y, out)
	case name == "pv" && s.causal:
		body, err = a.newCausal().pv(mem, x, y, out)
	case name == "qk_t":
		body, err = a.qkT(mem, x, y, out)
	case name == "pv":
		body, err = a.pv(mem, x, y, out)
	case name == "qk_t+scale":
		body, err = a.qkTScale(mem, x, y, out)
	case name == "qk_t+scale+softmax":
		body, err = a.qkTSoftmax(mem, x, y, out)
	default:
		body, err = a.full(mem, x, y, data[T](ws, last.In[1]), out)
	}
	return &kernel{name: fmt.Sprintf("gemm_%dx%d_%s", a.pack.mr, a.pack.nr, ws.isa), body: body}, err
}

// decoder is the plan of attention of one query to many keys, with tensors of type S.
type decoder[S inMemory] interface {
	scaleBy(factor float64)
	scratchBytes(workers int) int64
	qkT(mem []byte, workers int, q, k, scores []S) (func(w *worker), error)
	pv(mem []byte, workers int, p, v, o []S) (func(w *worker), error)
	full(mem []byte, workers int, q, k, v, o []S) (func(w *worker), error)
}

// bindDecode binds what a chain asks of such a plan.
func bindDecode[S inMemory](ws *workspace, c bench.Chain, name string, x decoder[S]) (*kernel, error) {
	first, last, workers := c[0], c[len(c)-1], len(ws.workers)
	if len(c) > 1 {
		x.scaleBy(c[1].Params.(bench.ScaleParams).Factor)
	}
	mem, err := ws.sharedScratch(x.scratchBytes(workers))
	if err != nil {
		return nil, err
	}
	in, second, out := data[S](ws, first.In[0]), data[S](ws, first.In[1]), data[S](ws, last.Out)
	var body func(w *worker)
	switch c.String() {
	case "qk_t":
		body, err = x.qkT(mem, workers, in, second, out)
	case "pv":
		body, err = x.pv(mem, workers, in, second, out)
	case "qk_t+scale+softmax+pv":
		body, err = x.full(mem, workers, in, second, data[S](ws, last.In[1]), out)
	default:
		err = fmt.Errorf("one query: %w", bench.ErrUnsupported)
	}
	return &kernel{name: fmt.Sprintf("%s_%s", name, vecISA(ws.isa, c.String())), body: body}, err
}
