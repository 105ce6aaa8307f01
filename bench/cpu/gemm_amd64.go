package cpu

// newGEMMKernels picks the kernels of one family. The tile keeps all but four of
// the vector registers busy: 14x2 vectors of 32 registers, 6x2 of 16.
func newGEMMKernels[T float](isa ISA) gemmKernels[T] {
	var all any
	switch any(T(0)).(type) {
	case float32:
		switch isa {
		case AVX512:
			all = gemmKernels[float32]{14, 32, 16, withoutAhead(sgemmUkr14x32AVX512), sgemmUkr14x32AVX512, sgemmTransposeAVX512, 4, 16, sgemmCopyRowsAVX512, sgemmBiasColAVX512, sgemmBiasRowAVX512}
		case AVX2:
			all = gemmKernels[float32]{6, 16, 8, withoutAhead(sgemmUkr6x16AVX2), sgemmUkr6x16AVX2, sgemmTransposeAVX2, 4, 8, sgemmCopyRowsAVX2, sgemmBiasColAVX2, sgemmBiasRowAVX2}
		}
	case float64:
		switch isa {
		case AVX512:
			all = gemmKernels[float64]{14, 16, 8, withoutAhead(dgemmUkr14x16AVX512), dgemmUkr14x16AVX512, dgemmTransposeAVX512, 2, 8, dgemmCopyRowsAVX512, dgemmBiasColAVX512, dgemmBiasRowAVX512}
		case AVX2:
			all = gemmKernels[float64]{6, 8, 4, withoutAhead(dgemmUkr6x8AVX2), dgemmUkr6x8AVX2, dgemmTransposeAVX2, 2, 4, dgemmCopyRowsAVX2, dgemmBiasColAVX2, dgemmBiasRowAVX2}
		}
	}
	if all == nil {
		return portableGEMMKernels[T]()
	}
	return all.(gemmKernels[T])
}

// withoutAhead lets a micro-kernel fetch what is in L1 already.
func withoutAhead[T float](f func(rows, cols, k int, a, b, c *T, ldc int, add bool, ahead *T, ldAhead int)) func(rows, cols, k int, a, b, c *T, ldc int, add bool) {
	return func(rows, cols, k int, a, b, c *T, ldc int, add bool) {
		f(rows, cols, k, a, b, c, ldc, add, a, 0)
	}
}

// The micro-kernels do what tilePortable does, for as many rows as the first
// number of the name at most, and for the second number of columns or half of
// it. They broadcast A element by element and load B in vectors; besides A, B and C
// they fetch what tileAhead asks for.

//go:noescape
func sgemmUkr14x32AVX512(rows, cols, k int, a, b, c *float32, ldc int, add bool, ahead *float32, ldAhead int)

//go:noescape
func dgemmUkr14x16AVX512(rows, cols, k int, a, b, c *float64, ldc int, add bool, ahead *float64, ldAhead int)

//go:noescape
func sgemmUkr6x16AVX2(rows, cols, k int, a, b, c *float32, ldc int, add bool, ahead *float32, ldAhead int)

//go:noescape
func dgemmUkr6x8AVX2(rows, cols, k int, a, b, c *float64, ldc int, add bool, ahead *float64, ldAhead int)
