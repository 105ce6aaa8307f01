package cpu

// softmax writes the softmax of scale*src, or of scale*(src + y), for each of rows rows of
// n > 0 elements; scale is positive.
func (k *vecKernels[T]) softmax(dst []T, ldd int, src []T, lds int, y []T, ldy, rows, n int, scale T) {
	k.softmaxBy(nil, dst, ldd, src, lds, y, ldy, rows, n, scale)
}

// softmaxBy is softmax that stores past the caches if there is room for a row.
func (k *vecKernels[T]) softmaxBy(room *T, dst []T, ldd int, src []T, lds int, y []T, ldy, rows, n int, scale T) {
	each := max(1, rowsCall/n)
	for i := 0; i < rows; i += each {
		m := min(each, rows-i)
		to, from := dst[i*ldd:][:(m-1)*ldd+n], src[i*lds:][:(m-1)*lds+n]
		var with *T
		if y != nil {
			with = &y[i*ldy:][:(m-1)*ldy+n][0]
		}
		k.softmaxRows(&to[0], &from[0], with, room, ldd, lds, ldy, m, n, scale)
	}
}

// newSoftmax is the softmax over rows of n elements as a kernel of a team. With rooms, one
// of n elements for each worker, it stores past the caches.
func newSoftmax[T float](isa ISA, dst, src []T, rows, n int, rooms [][]T) func(w *worker) {
	k := vecKernelsFor[T](isa)
	return func(w *worker) {
		var room *T
		if rooms != nil {
			room = &rooms[w.id][0]
		}
		lo, hi := w.share(rows, 1)
		k.softmaxBy(room, dst[lo*n:], n, src[lo*n:], n, nil, 0, hi-lo, n, 1)
	}
}
