package cpu

// softmax writes the softmax of scale*src for each of rows rows of n > 0 elements;
// scale is positive.
func (k *vecKernels[T]) softmax(dst []T, ldd int, src []T, lds, rows, n int, scale T) {
	each := max(1, vecCall/n)
	for i := 0; i < rows; i += each {
		m := min(each, rows-i)
		to, from := dst[i*ldd:][:(m-1)*ldd+n], src[i*lds:][:(m-1)*lds+n]
		k.softmaxRows(&to[0], &from[0], ldd, lds, m, n, scale)
	}
}

// newSoftmax is the softmax over rows of n elements as a kernel of a team.
func newSoftmax[T float](isa ISA, dst, src []T, rows, n int) func(w *worker) {
	k := vecKernelsFor[T](isa)
	return func(w *worker) {
		lo, hi := w.share(rows, 1)
		k.softmax(dst[lo*n:], n, src[lo*n:], n, hi-lo, n, 1)
	}
}

// expSub writes dst[j] = e^(scale src[j] - max) and returns the sum.
func (k *vecKernels[T]) expSub(dst, src []T, scale, max T) T {
	var sum T
	for at := 0; at < len(src); at += vecCall {
		n := min(vecCall, len(src)-at)
		sum += k.expSum(&dst[at : at+n][0], &src[at], n, scale, max)
	}
	return sum
}
