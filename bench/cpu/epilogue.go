package cpu

import (
	"math"
	"unsafe"
)

// epilogue works on a part of C that has just got its last product and is still in
// L1: m x n elements from c[0] with leading dimension ldc, which are the elements
// (i0.., j0..) of C. A worker calls it for the tiles that it owns, so it needs
// no lock; nil does nothing.
type epilogue[T float] func(c []T, ldc, i0, j0, m, n int)

// newBiasEpilogue adds the bias of each column and, if relu, cuts off below zero.
func newBiasEpilogue[T float](isa ISA, bias []T, relu bool) epilogue[T] {
	kernels := newGEMMKernels[T](isa)
	floor := T(math.Inf(-1))
	if relu {
		floor = 0
	}
	return func(c []T, ldc, _, j0, m, n int) {
		_ = c[(m-1)*ldc+n-1]
		w := n &^ (kernels.vl - 1)
		b := bias[j0:][:n]
		if w > 0 {
			kernels.biasCol(m, w, &c[0], ldc, &b[0], floor)
		}
		if w < n {
			biasColPortable(m, n-w, &c[w], ldc, &b[w], floor)
		}
	}
}

// biasColPortable writes c[i*ldc+j] = max(c[i*ldc+j] + bias[j], floor).
func biasColPortable[T float](rows, cols int, c *T, ldc int, bias *T, floor T) {
	cs, b := unsafe.Slice(c, (rows-1)*ldc+cols), unsafe.Slice(bias, cols)
	for i := range rows {
		row := cs[i*ldc:][:cols]
		for j := range row {
			row[j] = max(row[j]+b[j], floor)
		}
	}
}
