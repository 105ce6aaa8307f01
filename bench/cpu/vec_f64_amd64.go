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

// vecSiluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = silu(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecSiluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecSiluF64AVX2 is the same loop.
//
//go:noescape
func vecSiluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

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

// vecAffineRowsF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = a[i]*src[i*lds+j] + b[i]
//		}
//	}
//
//go:noescape
func vecAffineRowsF64AVX512(dst, src, a, b *float64, ldd, lds, m, n int)

// vecAffineRowsF64AVX2 is the same loop.
//
//go:noescape
func vecAffineRowsF64AVX2(dst, src, a, b *float64, ldd, lds, m, n int)

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

// vecAddSiluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = silu(src[i*lds+j] + y[i*ldy+j])
//		}
//	}
//
//go:noescape
func vecAddSiluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecAddSiluF64AVX2 is the same loop.
//
//go:noescape
func vecAddSiluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecSiluMulF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = silu(src[i*lds+j]) * y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecSiluMulF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

// vecSiluMulF64AVX2 is the same loop.
//
//go:noescape
func vecSiluMulF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64)

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

// vecSoftmaxF64AVX512, with max over the row, of src or, if y is not nil, of src + y:
//
//	for i := range m {
//		sum := 0
//		for j := range n {
//			dst[i*ldd+j] = exp(scale*(src[i*lds+j]+y[i*ldy+j]) - scale*max)
//			sum += dst[i*ldd+j]
//		}
//		for j := range n {
//			dst[i*ldd+j] /= sum
//		}
//	}
//
//go:noescape
func vecSoftmaxF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, scale float64)

// vecSoftmaxF64AVX2 is the same loop.
//
//go:noescape
func vecSoftmaxF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, scale float64)

// vecRowSumF64AVX512:
//
//	sum := 0
//	for j := range n {
//		sum += src[j]
//	}
//
//go:noescape
func vecRowSumF64AVX512(src *float64, n int) float64

// vecRowSumF64AVX2 is the same loop.
//
//go:noescape
func vecRowSumF64AVX2(src *float64, n int) float64

// vecAddRowSumF64AVX512:
//
//	sum := 0
//	for j := range n {
//		dst[j] = src[j] + y[j]
//		sum += dst[j]
//	}
//
//go:noescape
func vecAddRowSumF64AVX512(dst, src, y *float64, n int) float64

// vecAddRowSumF64AVX2 is the same loop.
//
//go:noescape
func vecAddRowSumF64AVX2(dst, src, y *float64, n int) float64

// vecRowSquaresF64AVX512:
//
//	sum := 0
//	for j := range n {
//		sum += (src[j] - mean) * (src[j] - mean)
//	}
//
//go:noescape
func vecRowSquaresF64AVX512(src *float64, n int, mean float64) float64

// vecRowSquaresF64AVX2 is the same loop.
//
//go:noescape
func vecRowSquaresF64AVX2(src *float64, n int, mean float64) float64

// vecNormalizeF64AVX512:
//
//	for j := range n {
//		dst[j] = (src[j]-mean)*scale*gamma[j] + beta[j]
//	}
//
//go:noescape
func vecNormalizeF64AVX512(dst, src, gamma, beta *float64, n int, mean, scale float64)

// vecNormalizeF64AVX2 is the same loop.
//
//go:noescape
func vecNormalizeF64AVX2(dst, src, gamma, beta *float64, n int, mean, scale float64)

// vecDropoutF64AVX512:
//
//	for j := range n {
//		if at += weyl; mix(at) >= least {
//			dst[j] = scale * src[j]
//		} else {
//			dst[j] = 0
//		}
//	}
//
//go:noescape
func vecDropoutF64AVX512(dst, src *float64, n int, scale float64, least, at uint32)

// vecDropoutF64AVX2 is the same loop.
//
//go:noescape
func vecDropoutF64AVX2(dst, src *float64, n int, scale float64, least, at uint32)

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

// vecDotsF64AVX512, for n a multiple of 4:
//
//	for i := range m {
//		for j := range n {
//			s[i*row+j/4*step+j%4] = 0
//			for p := range d {
//				s[i*row+j/4*step+j%4] += q[i*ldq+p] * k[j*ldk+p]
//			}
//		}
//	}
//
//go:noescape
func vecDotsF64AVX512(m, n, d int, q *float64, ldq int, k *float64, ldk int, s *float64, row, step int)

// vecDotsF64AVX2 is the same loop.
//
//go:noescape
func vecDotsF64AVX2(m, n, d int, q *float64, ldq int, k *float64, ldk int, s *float64, row, step int)

// vecCopyColumnsF64AVX512, for n up to two vectors:
//
//	for i := range m {
//		for j := range n {
//			dst[i*n+j] = src[i*lds+j]
//		}
//	}
//
//go:noescape
func vecCopyColumnsF64AVX512(dst, src *float64, lds, m, n int)

// vecCopyColumnsF64AVX2 is the same loop.
//
//go:noescape
func vecCopyColumnsF64AVX2(dst, src *float64, lds, m, n int)
