package cpu

// The map kernels run over the rows i < m and the columns j < n. The loops below
// are those of the portable twins.

// vecExpF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = exp(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecExpF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecExpF64AVX2 is the same loop.
//
//go:noescape
func vecExpF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecErfF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = erf(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecErfF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecErfF64AVX2 is the same loop.
//
//go:noescape
func vecErfF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecTanhF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = tanh(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecTanhF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecTanhF64AVX2 is the same loop.
//
//go:noescape
func vecTanhF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecReluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j], 0)
//		}
//	}
//
//go:noescape
func vecReluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecReluF64AVX2 is the same loop.
//
//go:noescape
func vecReluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecGeluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			x := src[i*lds+j]
//			dst[i*ldd+j] = x / 2 * (1 + erf(x/sqrt2))
//		}
//	}
//
//go:noescape
func vecGeluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecGeluF64AVX2 is the same loop.
//
//go:noescape
func vecGeluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecScaleF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = a * src[i*lds+j]
//		}
//	}
//
//go:noescape
func vecScaleF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecScaleF64AVX2 is the same loop.
//
//go:noescape
func vecScaleF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAddScalarF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] + b
//		}
//	}
//
//go:noescape
func vecAddScalarF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAddScalarF64AVX2 is the same loop.
//
//go:noescape
func vecAddScalarF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAddScalarReluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j]+b, 0)
//		}
//	}
//
//go:noescape
func vecAddScalarReluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAddScalarReluF64AVX2 is the same loop.
//
//go:noescape
func vecAddScalarReluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAffineF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = a*src[i*lds+j] + b
//		}
//	}
//
//go:noescape
func vecAffineF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAffineF64AVX2 is the same loop.
//
//go:noescape
func vecAffineF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAffineReluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(a*src[i*lds+j]+b, 0)
//		}
//	}
//
//go:noescape
func vecAffineReluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAffineReluF64AVX2 is the same loop.
//
//go:noescape
func vecAffineReluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAddF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] + y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecAddF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAddF64AVX2 is the same loop.
//
//go:noescape
func vecAddF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAddReluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j]+y[i*ldy+j], 0)
//		}
//	}
//
//go:noescape
func vecAddReluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAddReluF64AVX2 is the same loop.
//
//go:noescape
func vecAddReluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAddGeluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = gelu(src[i*lds+j] + y[i*ldy+j])
//		}
//	}
//
//go:noescape
func vecAddGeluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAddGeluF64AVX2 is the same loop.
//
//go:noescape
func vecAddGeluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecMulF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] * y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecMulF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecMulF64AVX2 is the same loop.
//
//go:noescape
func vecMulF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecRowMaxF64AVX512:
//
//	largest := -inf
//	for j := range n {
//		largest = max(largest, src[j])
//	}
//
//go:noescape
func vecRowMaxF64AVX512(src *float64, n int) float64

// vecRowMaxF64AVX2 is the same loop.
//
//go:noescape
func vecRowMaxF64AVX2(src *float64, n int) float64

// vecExpSumF64AVX512:
//
//	for j := range n {
//		dst[j] = exp(src[j]*scale - max)
//		sum += dst[j]
//	}
//
//go:noescape
func vecExpSumF64AVX512(dst, src *float64, n int, scale, max float64) float64

// vecExpSumF64AVX2 is the same loop.
//
//go:noescape
func vecExpSumF64AVX2(dst, src *float64, n int, scale, max float64) float64

// vecColMaxF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[j] = max(dst[j], src[i*ld+j])
//		}
//	}
//
//go:noescape
func vecColMaxF64AVX512(dst, src *float64, ld, m, n int)

// vecColMaxF64AVX2 is the same loop.
//
//go:noescape
func vecColMaxF64AVX2(dst, src *float64, ld, m, n int)

// vecColExpSumF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ld+j] = exp(src[i*ld+j]*scale + shift[j])
//			sum[j] += dst[i*ld+j]
//		}
//	}
//
//go:noescape
func vecColExpSumF64AVX512(dst, src, shift, sum *float64, ld, m, n int, scale float64)

// vecColExpSumF64AVX2 is the same loop.
//
//go:noescape
func vecColExpSumF64AVX2(dst, src, shift, sum *float64, ld, m, n int, scale float64)
