package cpu

// The functions below do what transposePortable does for 16 bytes worth of rows
// (4 of float32, 2 of float64) and for k a multiple of the vector length.

//go:noescape
func sgemmTransposeAVX512(dst *float32, ldd int, src *float32, lds, k int)

//go:noescape
func dgemmTransposeAVX512(dst *float64, ldd int, src *float64, lds, k int)

//go:noescape
func sgemmTransposeAVX2(dst *float32, ldd int, src *float32, lds, k int)

//go:noescape
func dgemmTransposeAVX2(dst *float64, ldd int, src *float64, lds, k int)

// The functions below do what copyRowsPortable does with nr two vectors.

//go:noescape
func sgemmCopyRowsAVX512(dst, src *float32, lds, k int)

//go:noescape
func dgemmCopyRowsAVX512(dst, src *float64, lds, k int)

//go:noescape
func sgemmCopyRowsAVX2(dst, src *float32, lds, k int)

//go:noescape
func dgemmCopyRowsAVX2(dst, src *float64, lds, k int)
