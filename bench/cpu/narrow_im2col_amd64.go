package cpu

// everySecondFor is there for AVX-512.
func everySecondFor(u unit) everySecondKernel {
	switch {
	case u.isa != AVX512 && u.isa != AMX:
		return nil
	case u.dtype.Bytes() == 1:
		return everySecondByteAVX512
	}
	return everySecondHalfAVX512
}

// The functions below do what everySecondKernel says.

//go:noescape
func everySecondByteAVX512(dst, src *byte, ldd, lds, m, n int)

//go:noescape
func everySecondHalfAVX512(dst, src *byte, ldd, lds, m, n int)
