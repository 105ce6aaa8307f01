package cpu

// The map kernels run over the rows i < m and the columns j < n. The loops below
// are those of the portable twins.

// vecExpF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = exp(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecExpF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecExpF32AVX2 is the same loop.
//
//go:noescape
func vecExpF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecErfF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = erf(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecErfF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecErfF32AVX2 is the same loop.
//
//go:noescape
func vecErfF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecTanhF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = tanh(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecTanhF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecTanhF32AVX2 is the same loop.
//
//go:noescape
func vecTanhF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecReluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j], 0)
//		}
//	}
//
//go:noescape
func vecReluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecReluF32AVX2 is the same loop.
//
//go:noescape
func vecReluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecGeluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			x := src[i*lds+j]
//			dst[i*ldd+j] = x / 2 * (1 + erf(x/sqrt2))
//		}
//	}
//
//go:noescape
func vecGeluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecGeluF32AVX2 is the same loop.
//
//go:noescape
func vecGeluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecSiluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = silu(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecSiluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecSiluF32AVX2 is the same loop.
//
//go:noescape
func vecSiluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecScaleF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = a * src[i*lds+j]
//		}
//	}
//
//go:noescape
func vecScaleF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecScaleF32AVX2 is the same loop.
//
//go:noescape
func vecScaleF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAddScalarF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] + b
//		}
//	}
//
//go:noescape
func vecAddScalarF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAddScalarF32AVX2 is the same loop.
//
//go:noescape
func vecAddScalarF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAddScalarReluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j]+b, 0)
//		}
//	}
//
//go:noescape
func vecAddScalarReluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAddScalarReluF32AVX2 is the same loop.
//
//go:noescape
func vecAddScalarReluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAffineF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = a*src[i*lds+j] + b
//		}
//	}
//
//go:noescape
func vecAffineF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAffineF32AVX2 is the same loop.
//
//go:noescape
func vecAffineF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAffineReluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(a*src[i*lds+j]+b, 0)
//		}
//	}
//
//go:noescape
func vecAffineReluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAffineReluF32AVX2 is the same loop.
//
//go:noescape
func vecAffineReluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAffineRowsF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = a[i]*src[i*lds+j] + b[i]
//		}
//	}
//
//go:noescape
func vecAffineRowsF32AVX512(dst, src, a, b *float32, ldd, lds, m, n int)

// vecAffineRowsF32AVX2 is the same loop.
//
//go:noescape
func vecAffineRowsF32AVX2(dst, src, a, b *float32, ldd, lds, m, n int)

// vecAddF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] + y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecAddF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAddF32AVX2 is the same loop.
//
//go:noescape
func vecAddF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAddReluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j]+y[i*ldy+j], 0)
//		}
//	}
//
//go:noescape
func vecAddReluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAddReluF32AVX2 is the same loop.
//
//go:noescape
func vecAddReluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAddGeluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = gelu(src[i*lds+j] + y[i*ldy+j])
//		}
//	}
//
//go:noescape
func vecAddGeluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAddGeluF32AVX2 is the same loop.
//
//go:noescape
func vecAddGeluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAddSiluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = silu(src[i*lds+j] + y[i*ldy+j])
//		}
//	}
//
//go:noescape
func vecAddSiluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecAddSiluF32AVX2 is the same loop.
//
//go:noescape
func vecAddSiluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecSiluMulF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = silu(src[i*lds+j]) * y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecSiluMulF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecSiluMulF32AVX2 is the same loop.
//
//go:noescape
func vecSiluMulF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecMulF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] * y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecMulF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)

// vecMulF32AVX2 is the same loop.
//
//go:noescape
func vecMulF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32)
