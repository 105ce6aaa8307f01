package cpu

// The functions below do what biasColPortable does, where cols
// is a positive multiple of the vector length.

//go:noescape
func sgemmBiasColAVX512(rows, cols int, c *float32, ldc int, bias *float32, floor float32)

//go:noescape
func dgemmBiasColAVX512(rows, cols int, c *float64, ldc int, bias *float64, floor float64)

//go:noescape
func sgemmBiasColAVX2(rows, cols int, c *float32, ldc int, bias *float32, floor float32)

//go:noescape
func dgemmBiasColAVX2(rows, cols int, c *float64, ldc int, bias *float64, floor float64)
