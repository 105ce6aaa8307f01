package cpu

import "hwcal/bench"

func init() {
	for _, chain := range []string{"layernorm", "add+layernorm", "mask+softmax"} {
		register(chain, bindRows[float32], bindRows[float64])
	}
}

// bindRows is an operation on whole rows. A sum before it takes place in its first pass
// over the row.
func bindRows[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	norm := newRowKernel[T](ws, c[len(c)-1])
	src, dst := data[T](ws, c[0].In[0]), data[T](ws, c.Output())
	width := widthOf(c.Output())
	parts := partsOf(ws, len(src)/width, 1)
	if len(c) == 1 {
		return elementwise(ws, c.String(), func(w *worker) {
			for i := parts[w.id].lo; i < parts[w.id].hi; i++ {
				norm(dst[i*width:][:width], src[i*width:][:width], nil)
			}
		}), nil
	}
	second := data[T](ws, c[0].In[1]) // its rows repeat where it has fewer
	rows := len(second) / width
	return elementwise(ws, c.String(), func(w *worker) {
		j := parts[w.id].lo % rows
		for i := parts[w.id].lo; i < parts[w.id].hi; i++ {
			norm(dst[i*width:][:width], src[i*width:][:width], second[j*width:][:width])
			if j++; j == rows {
				j = 0
			}
		}
	}), nil
}

// rowKernel is an operation on a row, src or src + y; dst may be src.
type rowKernel[T float] func(dst, src, y []T)

func newRowKernel[T float](ws *workspace, op bench.Op) rowKernel[T] {
	k := vecKernelsFor[T](ws.isa)
	if op.Name == "softmax" {
		return k.maskedSoftmax
	}
	l := layerNorm[T]{&k, data[T](ws, op.In[1]), data[T](ws, op.In[2]), op.Params.(bench.LayerNormParams).Eps}
	return l.row
}

// firstPass reduces a row, or dst = src + y.
type firstPass[T float] struct {
	plain func(src *T, n int) T
	add   func(dst, src, y *T, n int) T
	join  func(a, b T) T
}

func (f firstPass[T]) row(dst, src, y []T) (result T) {
	for at := 0; at < len(src); at += vecCall {
		n := min(vecCall, len(src)-at)
		var part T
		if y == nil {
			part = f.plain(&src[at], n)
		} else {
			part = f.add(&dst[at], &src[at], &y[at], n)
		}
		if at > 0 {
			part = f.join(result, part)
		}
		result = part
	}
	return result
}

// maskedSoftmax is the softmax of src + y.
func (k *vecKernels[T]) maskedSoftmax(dst, src, y []T) {
	largest := firstPass[T]{add: k.addRowMax, join: func(a, b T) T { return max(a, b) }}.row(dst, src, y)
	sum := k.expSub(dst, dst, 1, largest)
	k.scale.slice(dst, dst, nil, 1/sum, 0)
}
