package cpu

// peakKernelOf is the peak kernel of one family.
func peakKernelOf[T float](isa ISA) peakKernel[T] {
	var zero T
	switch any(zero).(type) {
	case float32:
		switch isa {
		case AVX512:
			return any(peakFrom("peak_fp32_16x16_avx512", 16*16, 1, peakFP32AVX512)).(peakKernel[T])
		case AVX2:
			return any(peakFrom("peak_fp32_12x8_avx2", 12*8, 1, peakFP32AVX2)).(peakKernel[T])
		}
		return portablePeak[T]()
	default:
		switch isa {
		case AVX512:
			return any(peakFrom("peak_fp64_16x8_avx512", 16*8, 1, peakFP64AVX512)).(peakKernel[T])
		case AVX2:
			return any(peakFrom("peak_fp64_12x4_avx2", 12*4, 1, peakFP64AVX2)).(peakKernel[T])
		}
		return portablePeak[T]()
	}
}

// The functions below stand for
//
//	for range iters {
//		for i := range accs {
//			acc[i] = acc[i]*half + one
//		}
//	}
//
// with one rounding a step.

// 12 vectors of 8.
//
//go:noescape
func peakFP32AVX2(iters int, acc *float32, half, one float32)

// 16 vectors of 16.
//
//go:noescape
func peakFP32AVX512(iters int, acc *float32, half, one float32)

// 12 vectors of 4.
//
//go:noescape
func peakFP64AVX2(iters int, acc *float64, half, one float64)

// 16 vectors of 8.
//
//go:noescape
func peakFP64AVX512(iters int, acc *float64, half, one float64)
