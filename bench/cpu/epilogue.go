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

// biasBy tells which elements of C share a bias.
type biasBy int

const (
	biasByCol biasBy = iota // linear: one of each output feature
	biasByRow               // convolution NCHW: one of each output channel
)

// newBiasEpilogue adds the bias and, if relu, cuts off below zero.
func newBiasEpilogue[T float](isa ISA, bias []T, by biasBy, relu bool) epilogue[T] {
	kernels := newGEMMKernels[T](isa)
	floor := T(math.Inf(-1))
	if relu {
		floor = 0
	}
	whole, rest := kernels.biasCol, biasColPortable[T]
	if by == biasByRow {
		whole, rest = kernels.biasRow, biasRowPortable[T]
	}
	return func(c []T, ldc, i0, j0, m, n int) {
		_ = c[(m-1)*ldc+n-1]
		w := n &^ (kernels.vl - 1)
		first, count := i0, m
		if by == biasByCol {
			first, count = j0, n
		}
		b := bias[first:][:count]
		if w > 0 {
			whole(m, w, &c[0], ldc, &b[0], floor)
		}
		if w < n {
			if by == biasByCol {
				b = b[w:]
			}
			rest(m, n-w, &c[w], ldc, &b[0], floor)
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

// biasRowPortable writes c[i*ldc+j] = max(c[i*ldc+j] + bias[i], floor).
func biasRowPortable[T float](rows, cols int, c *T, ldc int, bias *T, floor T) {
	cs, b := unsafe.Slice(c, (rows-1)*ldc+cols), unsafe.Slice(bias, rows)
	for i := range rows {
		row := cs[i*ldc:][:cols]
		for j := range row {
			row[j] = max(row[j]+b[i], floor)
		}
	}
}
