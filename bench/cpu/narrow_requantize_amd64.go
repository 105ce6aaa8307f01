package cpu

func sumAssembly(isa ISA) (sumKernels, bool) {
	switch isa {
	case AVX512:
		return sumKernels{addFloorAVX512, requantizeAVX512, addFloorRowsAVX512, requantizeRowsAVX512}, true
	case AVX2:
		return sumKernels{addFloorAVX2, requantizeAVX2, addFloorRowsAVX2, requantizeRowsAVX2}, true
	}
	return sumKernels{}, false
}

// The functions below do what sumKernels says.

//go:noescape
func addFloorAVX512(dst, src, row *int32, ldd, lds, m, n int, floor int32)

//go:noescape
func addFloorAVX2(dst, src, row *int32, ldd, lds, m, n int, floor int32)

//go:noescape
func requantizeAVX512(dst *int8, src, row *int32, factors *float32, ldd, lds, m, n int, floor float32)

//go:noescape
func requantizeAVX2(dst *int8, src, row *int32, factors *float32, ldd, lds, m, n int, floor float32)

//go:noescape
func addFloorRowsAVX512(dst, src, row *int32, ldd, lds, m, n int, floor int32)

//go:noescape
func addFloorRowsAVX2(dst, src, row *int32, ldd, lds, m, n int, floor int32)

//go:noescape
func requantizeRowsAVX512(dst *int8, src, row *int32, factors *float32, ldd, lds, m, n int, floor float32)

//go:noescape
func requantizeRowsAVX2(dst *int8, src, row *int32, factors *float32, ldd, lds, m, n int, floor float32)
