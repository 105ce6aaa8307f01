package cpu

// softmax writes the softmax of scale*src, or of scale*(src + y), for each of rows rows of
// n > 0 elements; scale is positive.
func (k *vecKernels[T]) softmax(dst []T, ldd int, src []T, lds int, y []T, ldy, rows, n int, scale T) {
	k.softmaxBy(nil, cached, dst, ldd, src, lds, y, ldy, rows, n, scale)
}

// softmaxBy is softmax with room for a row, which halves need, and nt.
func (k *storedKernels[S, T]) softmaxBy(room *T, nt nontemporal, dst []S, ldd int, src []S, lds int, y []S, ldy, rows, n int, scale T) {
	each := max(1, rowsCall/n)
	for i := 0; i < rows; i += each {
		m := min(each, rows-i)
		to, from := dst[i*ldd:][:(m-1)*ldd+n], src[i*lds:][:(m-1)*lds+n]
		var with *S
		if y != nil {
			with = &y[i*ldy:][:(m-1)*ldy+n][0]
		}
		k.softmaxRows(&to[0], &from[0], with, room, ldd, lds, ldy, m, n, scale, nt)
	}
}
