package cpu

import "hwcal/schema"

// halfScale writes dst[i*ldd+j] = a src[i*lds+j] over an m x n matrix of 16 bits, computed
// in fp32 and rounded to nearest, ties to even.
type halfScale func(dst, src *uint16, ldd, lds, m, n int, a float32)

func halfScaleFor(d schema.DType, isa ISA) halfScale {
	if f := halfScaleAssembly(d, isa); f != nil {
		return f
	}
	if d == schema.BF16 {
		return portableHalfScale(toBF16, bf16.float)
	}
	return portableHalfScale(toFP16, fp16.float)
}

func portableHalfScale[T ~uint16](from func(float64) T, to func(T) float64) halfScale {
	return func(dst, src *uint16, ldd, lds, m, n int, a float32) {
		convertRows(dst, src, ldd, lds, m, n, func(x uint16) uint16 {
			return uint16(from(float64(float32(to(T(x))) * a)))
		})
	}
}
