package cpu

// softmax writes the softmax of scale*src, or of scale*(src + y), for each of rows rows of
// n > 0 elements; scale is positive.
func (k *vecKernels[T]) softmax(dst []T, ldd int, src []T, lds int, y []T, ldy, rows, n int, scale T) {
	each := max(1, vecCall/n)
	for i := 0; i < rows; i += each {
		m := min(each, rows-i)
		to, from := dst[i*ldd:][:(m-1)*ldd+n], src[i*lds:][:(m-1)*lds+n]
		var with *T
		if y != nil {
			with = &y[i*ldy:][:(m-1)*ldy+n][0]
		}
		k.softmaxRows(&to[0], &from[0], with, ldd, lds, ldy, m, n, scale)
	}
}

// newSoftmax is the softmax over rows of n elements as a kernel of a team.
func newSoftmax[T float](isa ISA, dst, src []T, rows, n int) func(w *worker) {
	k := vecKernelsFor[T](isa)
	return func(w *worker) {
		lo, hi := w.share(rows, 1)
		k.softmax(dst[lo*n:], n, src[lo*n:], n, nil, 0, hi-lo, n, 1)
	}
}
