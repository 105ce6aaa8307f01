package cpu

import "hwcal/schema"

func halfScaleAssembly(d schema.DType, isa ISA) halfScale {
	switch {
	case isa != AVX512:
		return nil
	case d == schema.BF16:
		return scaleBF16AVX512
	}
	return scaleFP16AVX512
}

// The functions below do what halfScale says.

//go:noescape
func scaleBF16AVX512(dst, src *uint16, ldd, lds, m, n int, a float32)

//go:noescape
func scaleFP16AVX512(dst, src *uint16, ldd, lds, m, n int, a float32)
