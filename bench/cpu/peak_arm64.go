package cpu

// peakKernelOf is the peak kernel of one family.
func peakKernelOf[T float](isa ISA) peakKernel[T] {
	if isa != NEON {
		return portablePeak[T]()
	}
	var all any
	switch any(T(0)).(type) {
	case float32:
		all = peakFrom("peak_fp32_24x4_neon", 24*4, 2, peakFP32NEON)
	case float64:
		all = peakFrom("peak_fp64_24x2_neon", 24*2, 2, peakFP64NEON)
	}
	return all.(peakKernel[T])
}

// The functions below stand for
//
//	for range iters {
//		for i := range accs {
//			acc[i] = acc[i] + one*(one+one)
//			acc[i] = acc[i] - acc[i]*half
//		}
//	}
//
// with one rounding a statement: the instruction adds to what it multiplies.

// 24 vectors of 4.
//
//go:noescape
func peakFP32NEON(iters int, acc *float32, half, one float32)

// 24 vectors of 2.
//
//go:noescape
func peakFP64NEON(iters int, acc *float64, half, one float64)
