package cpu

import (
	"fmt"

	"hwcal/bench"
)

// step is a part of a chain of element-wise operations: it works on m x n elements
// that are the elements (i0.., j0..) of a tensor seen as rows. dst may be src.
type step[T float] func(dst []T, ldd int, src []T, lds, i0, j0, m, n int)

// newSteps cuts a chain into steps, of two operations where one kernel does both.
func newSteps[T float](ws *workspace, c bench.Chain) ([]step[T], error) {
	k := vecKernelsFor[T](ws.isa)
	var steps []step[T]
	for len(c) > 0 {
		count := min(2, len(c))
		s := newStep(ws, &k, c[:count])
		if s == nil {
			count = 1
			s = newStep(ws, &k, c[:1])
		}
		if s == nil {
			return nil, fmt.Errorf("cpu: %s is no element-wise operation: %w", c[0].Name, bench.ErrUnsupported)
		}
		steps = append(steps, s)
		c = c[count:]
	}
	return steps, nil
}

// newStep is the step of a whole chain, nil if no kernel does it at once.
func newStep[T float](ws *workspace, k *vecKernels[T], c bench.Chain) step[T] {
	width := widthOf(c.Output())
	m := newMapping(ws, k, c)
	switch {
	case m.kernel == nil:
		return nil
	case len(m.y) > 0:
		return with(m.kernel, m.y, width)
	}
	return alone(m.kernel, m.a, m.b)
}

// mapping is a kernel with what it meets besides its input: constants, and a second matrix, or
// rows of one that repeat.
type mapping[S inMemory, T float] struct {
	kernel mapKernel[S, T]
	y      []S
	a, b   T
}

// newMapping is that of a whole chain, without a kernel if none does it at once.
func newMapping[T float](ws *workspace, k *vecKernels[T], c bench.Chain) mapping[T, T] {
	switch c.String() {
	case "copy":
		return mapping[T, T]{kernel: k.copy}
	case "set":
		return mapping[T, T]{kernel: k.set, b: T(c[0].Params.(bench.SetParams).Value)}
	}
	if f := k.addAnd(c.String()); f != nil {
		return mapping[T, T]{kernel: f, y: data[T](ws, c[0].In[1])}
	}
	return newStoredMapping(ws, &k.storedKernels, c)
}

// newStoredMapping is that of one operation which halves have too.
func newStoredMapping[S inMemory, T float](ws *workspace, k *storedKernels[S, T], c bench.Chain) mapping[S, T] {
	if c.String() == "scale" {
		return mapping[S, T]{kernel: k.scale, a: T(c[0].Params.(bench.ScaleParams).Factor)}
	}
	if f := k.map2(c.String()); f != nil {
		return mapping[S, T]{kernel: f, y: data[S](ws, c[0].In[1])}
	}
	return mapping[S, T]{kernel: k.map1(c.String())}
}

// map1 is the kernel of a chain over one matrix, map2 of one that meets a second.
func (k *storedKernels[S, T]) map1(chain string) mapKernel[S, T] {
	switch chain {
	case "exp":
		return k.exp
	case "relu":
		return k.relu
	case "gelu":
		return k.gelu
	case "gelu_tanh":
		return k.geluTanh
	case "silu":
		return k.silu
	case "sigmoid":
		return k.sigmoid
	case "tanh":
		return k.tanh
	}
	return nil
}

func (k *storedKernels[S, T]) map2(chain string) mapKernel[S, T] {
	switch chain {
	case "bias", "add", "mask":
		return k.add
	case "sub":
		return k.sub
	case "mul":
		return k.mul
	case "div":
		return k.div
	}
	return nil
}

// addAnd is that of a sum with a second matrix and of what follows.
func (k *vecKernels[T]) addAnd(chain string) mapKernel[T, T] {
	switch chain {
	case "bias+relu", "add+relu":
		return k.addRelu
	case "bias+gelu":
		return k.addGelu
	case "bias+silu":
		return k.addSilu
	}
	return nil
}

// alone is the step of a kernel of one matrix and two constants.
func alone[T float](f mapKernel[T, T], a, b T) step[T] {
	return func(dst []T, ldd int, src []T, lds, _, _, m, n int) {
		if ldd == n && lds == n {
			m, n = 1, m*n // rows without a gap are one
		}
		f.matrix(dst, ldd, src, lds, nil, 0, m, n, a, b)
	}
}

// with is the step of a kernel that meets a second matrix of the given width, whose
// rows repeat where it has fewer: a bias has one.
func with[T float](f mapKernel[T, T], y []T, width int) step[T] {
	rows := len(y) / width
	if rows == 1 {
		return func(dst []T, ldd int, src []T, lds, _, j0, m, n int) {
			f.matrix(dst, ldd, src, lds, y[j0:], 0, m, n, 0, 0)
		}
	}
	return func(dst []T, ldd int, src []T, lds, i0, j0, m, n int) {
		for first := i0 % rows; m > 0; first = 0 {
			count, cols := min(m, rows-first), n
			m -= count
			at := first*width + j0
			if ldd == n && lds == n && width == n {
				count, cols = 1, count*n // rows without a gap are one
			}
			f.matrix(dst, ldd, src, lds, y[at:], width, count, cols, 0, 0)
			if m > 0 {
				dst, src = dst[(rows-first)*ldd:], src[(rows-first)*lds:]
			}
		}
	}
}
