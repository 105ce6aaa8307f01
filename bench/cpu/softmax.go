package cpu

// maxOf is the maximum of a row of any length.
func (k *vecKernels[T]) maxOf(src []T) T {
	largest := k.rowMax(&src[0], min(vecCall, len(src)))
	for at := vecCall; at < len(src); at += vecCall {
		largest = max(largest, k.rowMax(&src[at], min(vecCall, len(src)-at)))
	}
	return largest
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

// softmax writes the softmax of scale*src for each of rows rows of n > 0 elements;
// scale is positive. It passes over a row three times: the maximum; the
// exponentials of the distance to it, and their sum; the division.
func (k *vecKernels[T]) softmax(dst []T, ldd int, src []T, lds, rows, n int, scale T) {
	for i := range rows {
		from, to := src[i*lds:][:n], dst[i*ldd:][:n]
		sum := k.expSub(to, from, scale, k.maxOf(from)*scale)
		k.scale.slice(to, to, nil, 1/sum, 0)
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
