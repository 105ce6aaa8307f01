package cpu

import (
	"math"
	"unsafe"
)

// sumKernels are what is done to int32 sums of products of int8, over an m x n matrix.
type sumKernels struct {
	// addFloor writes dst[i*ldd+j] = max(src[i*lds+j] + row[j], floor).
	addFloor func(dst, src, row *int32, ldd, lds, m, n int, floor int32)

	// requantize writes dst[i*ldd+j] = (src[i*lds+j] + row[j]) * factors[j], multiplied
	// in fp32, rounded to nearest, ties to even, and limited to floor and 127.
	requantize func(dst *int8, src, row *int32, factors *float32, ldd, lds, m, n int, floor float32)

	// Those of the rows do the same with row[i] and factors[i].
	addFloorRows   func(dst, src, row *int32, ldd, lds, m, n int, floor int32)
	requantizeRows func(dst *int8, src, row *int32, factors *float32, ldd, lds, m, n int, floor float32)
}

// noFloor is the lowest element, which has an opposite.
const noFloor = -127

func sumKernelsFor(isa ISA) sumKernels {
	if k, ok := sumAssembly(isa); ok {
		return k
	}
	return sumKernels{addFloorPortable, requantizePortable, addFloorRowsPortable, requantizeRowsPortable}
}

func addFloorPortable(dst, src, row *int32, ldd, lds, m, n int, floor int32) {
	to, from, b := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n), unsafe.Slice(row, n)
	for i := range m {
		for j, x := range from[i*lds:][:n] {
			to[i*ldd+j] = max(x+b[j], floor)
		}
	}
}

func requantizePortable(dst *int8, src, row *int32, factors *float32, ldd, lds, m, n int, floor float32) {
	to, from := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n)
	b, f := unsafe.Slice(row, n), unsafe.Slice(factors, n)
	for i := range m {
		for j, x := range from[i*lds:][:n] {
			v := max(floor, min(float32(x+b[j])*f[j], 127))
			to[i*ldd+j] = int8(math.RoundToEven(float64(v)))
		}
	}
}

func addFloorRowsPortable(dst, src, row *int32, ldd, lds, m, n int, floor int32) {
	to, from := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n)
	for i, b := range unsafe.Slice(row, m) {
		for j, x := range from[i*lds:][:n] {
			to[i*ldd+j] = max(x+b, floor)
		}
	}
}

func requantizeRowsPortable(dst *int8, src, row *int32, factors *float32, ldd, lds, m, n int, floor float32) {
	to, from := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n)
	b, f := unsafe.Slice(row, m), unsafe.Slice(factors, m)
	for i := range m {
		for j, x := range from[i*lds:][:n] {
			v := max(floor, min(float32(x+b[i])*f[i], 127))
			to[i*ldd+j] = int8(math.RoundToEven(float64(v)))
		}
	}
}
