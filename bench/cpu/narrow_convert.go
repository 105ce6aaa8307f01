package cpu

import (
	"unsafe"

	"hwcal/schema"
)

// conversion goes between numbers of 16 bits and fp32, over an m x n matrix.
type conversion struct {
	// widen writes dst[i*ldd+j] = src[i*lds+j].
	widen func(dst *float32, src *uint16, ldd, lds, m, n int)
	// round does so too, and rounds to nearest, ties to even.
	round func(dst *uint16, src *float32, ldd, lds, m, n int)
}

// conversionOf is that of fp16 or bf16.
func conversionOf(d schema.DType, isa ISA) conversion {
	if c, ok := conversionAssembly(d, isa); ok {
		return c
	}
	if d == schema.BF16 {
		return portableConversion(toBF16, bf16.float)
	}
	return portableConversion(toFP16, fp16.float)
}

func portableConversion[T ~uint16](from func(float64) T, to func(T) float64) conversion {
	return conversion{
		widen: func(dst *float32, src *uint16, ldd, lds, m, n int) {
			convertRows(dst, src, ldd, lds, m, n, func(x uint16) float32 { return float32(to(T(x))) })
		},
		round: func(dst *uint16, src *float32, ldd, lds, m, n int) {
			convertRows(dst, src, ldd, lds, m, n, func(x float32) uint16 { return uint16(from(float64(x))) })
		},
	}
}

// convertRows writes dst[i*ldd+j] = f(src[i*lds+j]).
func convertRows[D, S any](dst *D, src *S, ldd, lds, m, n int, f func(S) D) {
	to, from := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n)
	for i := range m {
		for j, x := range from[i*lds:][:n] {
			to[i*ldd+j] = f(x)
		}
	}
}

// blockElems is the number of elements of a block in fp32 that stays in every L1, with
// as many of 16 bits before and behind.
const blockElems = 2048

// inBlocks computes in fp32 on a matrix of rows x cols numbers of 16 bits: f gets
// blocks of it, m x n from column j0 on, in block, which stays in L1.
func (c conversion) inBlocks(block []float32, dst, src []uint16, rows, cols int, f func(x []float32, j0, m, n int)) {
	if cols == 0 {
		return
	}
	width := min(cols, blockElems)
	height := blockElems / width
	for i := 0; i < rows; i += height {
		for j := 0; j < cols; j += width {
			m, n := min(height, rows-i), min(width, cols-j)
			x, at := block[:m*n], i*cols+j
			_, _ = src[at+(m-1)*cols+n-1], dst[at+(m-1)*cols+n-1]
			c.widen(&x[0], &src[at], n, cols, m, n)
			f(x, j, m, n)
			c.round(&dst[at], &x[0], cols, n, m, n)
		}
	}
}
