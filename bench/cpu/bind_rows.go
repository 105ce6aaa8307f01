package cpu

import (
	"unsafe"

	"hwcal/bench"
)

func init() {
	register("layernorm", bindLayerNorm[float32, float32], bindLayerNorm[float64, float64])
	register("add+layernorm", bindLayerNorm[float32, float32], bindLayerNorm[float64, float64])
	register("rmsnorm", bindRMSNorm[float32, float32], bindRMSNorm[float64, float64])
	register("mask+softmax", bindMaskedSoftmax[float32, float32], bindMaskedSoftmax[float64, float64])
}

// bindLayerNorm normalizes rows, or with a second input the sums of two.
func bindLayerNorm[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	norm := newLayerNorm[S, T](ws, c[len(c)-1])
	src, dst := data[S](ws, c[0].In[0]), data[S](ws, c.Output())
	n := widthOf(c.Output())
	if len(c) == 1 {
		return storing(ws, c, func(nt nontemporal) func(w *worker) {
			return inRows(ws, c, func(lo, hi int) { norm.rows(dst[lo*n:hi*n], src[lo*n:hi*n], nt) })
		}), nil
	}
	y := data[S](ws, c[0].In[1])
	return inRepeats(ws, c, len(y)/n, 2*n, func(room *T, nt nontemporal, i, j, m int) {
		norm.ofSum(room, dst[i*n:][:m*n], src[i*n:][:m*n], y[j*n:][:m*n], nt)
	})
}

// bindRMSNorm divides rows by the root of their mean square.
func bindRMSNorm[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	norm := newRMSNorm[S, T](ws, c[0])
	src, dst := data[S](ws, c[0].In[0]), data[S](ws, c.Output())
	n := widthOf(c.Output())
	return storing(ws, c, func(nt nontemporal) func(w *worker) {
		return inRows(ws, c, func(lo, hi int) { norm.rows(dst[lo*n:hi*n], src[lo*n:hi*n], nt) })
	}), nil
}

// inRows lets each worker run f over its rows [lo, hi) of the first input.
func inRows(ws *workspace, c bench.Chain, f func(lo, hi int)) func(w *worker) {
	x := c[0].In[0]
	parts := partsOf(ws, int(x.Elems())/widthOf(x), 1)
	return func(w *worker) {
		if p := parts[w.id]; p.lo < p.hi {
			f(p.lo, p.hi)
		}
	}
}

// bindMaskedSoftmax adds the mask in the first pass of the softmax over the row.
func bindMaskedSoftmax[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	k := storedKernelsFor[S, T](ws)
	src, mask, dst := data[S](ws, c[0].In[0]), data[S](ws, c[0].In[1]), data[S](ws, c.Output())
	n := widthOf(c.Output())
	rows, ldm := len(mask)/n, n
	if rows == 1 {
		rows, ldm = 0, 0 // for all of them, so that one call can have many
	}
	return inRepeats(ws, c, rows, n, func(room *T, nt nontemporal, i, j, m int) {
		k.softmaxBy(room, nt, dst[i*n:], n, src[i*n:], n, mask[j*ldm:], ldm, m, n, 1)
	})
}

// inRepeats lets each worker run f over its rows of the output, m of them from row i on. They are combined with
// those from row j on of a second matrix, whose `rows` rows repeat; 0 stands for as many as the output has. Where
// f needs it, room holds so many elements.
func inRepeats[T float](ws *workspace, c bench.Chain, rows, elems int, f func(room *T, nt nontemporal, i, j, m int)) (*kernel, error) {
	all := int(c.Output().Elems()) / widthOf(c.Output())
	if rows == 0 {
		rows = all
	}
	rooms, err := roomsOf[T](ws, elems)
	if err != nil {
		return nil, err
	}
	parts := partsOf(ws, all, 1)
	return storing(ws, c, func(nt nontemporal) func(w *worker) {
		return func(w *worker) {
			p := parts[w.id]
			for i, j := p.lo, p.lo%rows; i < p.hi; j = 0 {
				m := min(p.hi-i, rows-j)
				f(rooms.of(w, nt), nt, i, j, m)
				i += m
			}
		}
	}), nil
}

// rooms has a buffer for each worker, in which a row is computed before it is stored.
type rooms[T float] struct {
	blocks [][]T
	always bool // for halves, which are rounded but once
}

func roomsOf[T float](ws *workspace, elems int) (rooms[T], error) {
	blocks, err := blocksOf[T](ws, elems)
	return rooms[T]{blocks, ws.dtype.Bytes() < int64(unsafe.Sizeof(T(0)))}, err
}

// of is nil where a row can be computed in the place of its result.
func (r rooms[T]) of(w *worker, nt nontemporal) *T {
	if nt != cached || r.always {
		return &r.blocks[w.id][0]
	}
	return nil
}
