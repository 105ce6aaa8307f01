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

// vecSoftmaxF32AVX512, with max over the row, of src or, if y is not nil, of src + y:
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
func vecSoftmaxF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, scale float32)

// vecSoftmaxF32AVX2 is the same loop.
//
//go:noescape
func vecSoftmaxF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, scale float32)

// vecRowSumF32AVX512:
//
//	sum := 0
//	for j := range n {
//		sum += src[j]
//	}
//
//go:noescape
func vecRowSumF32AVX512(src *float32, n int) float32

// vecRowSumF32AVX2 is the same loop.
//
//go:noescape
func vecRowSumF32AVX2(src *float32, n int) float32

// vecAddRowSumF32AVX512:
//
//	sum := 0
//	for j := range n {
//		dst[j] = src[j] + y[j]
//		sum += dst[j]
//	}
//
//go:noescape
func vecAddRowSumF32AVX512(dst, src, y *float32, n int) float32

// vecAddRowSumF32AVX2 is the same loop.
//
//go:noescape
func vecAddRowSumF32AVX2(dst, src, y *float32, n int) float32

// vecRowSquaresF32AVX512:
//
//	sum := 0
//	for j := range n {
//		sum += (src[j] - mean) * (src[j] - mean)
//	}
//
//go:noescape
func vecRowSquaresF32AVX512(src *float32, n int, mean float32) float32

// vecRowSquaresF32AVX2 is the same loop.
//
//go:noescape
func vecRowSquaresF32AVX2(src *float32, n int, mean float32) float32

// vecNormalizeF32AVX512:
//
//	for j := range n {
//		dst[j] = (src[j]-mean)*scale*gamma[j] + beta[j]
//	}
//
//go:noescape
func vecNormalizeF32AVX512(dst, src, gamma, beta *float32, n int, mean, scale float32)

// vecNormalizeF32AVX2 is the same loop.
//
//go:noescape
func vecNormalizeF32AVX2(dst, src, gamma, beta *float32, n int, mean, scale float32)

// vecDropoutF32AVX512:
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
func vecDropoutF32AVX512(dst, src *float32, n int, scale float32, least, at uint32)

// vecDropoutF32AVX2 is the same loop.
//
//go:noescape
func vecDropoutF32AVX2(dst, src *float32, n int, scale float32, least, at uint32)

// vecColMaxF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[j] = max(dst[j], src[i*ld+j])
//		}
//	}
//
//go:noescape
func vecColMaxF32AVX512(dst, src *float32, ld, m, n int)

// vecColMaxF32AVX2 is the same loop.
//
//go:noescape
func vecColMaxF32AVX2(dst, src *float32, ld, m, n int)

// vecColExpSumF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ld+j] = exp(src[i*ld+j]*scale + shift[j])
//			sum[j] += dst[i*ld+j]
//		}
//	}
//
//go:noescape
func vecColExpSumF32AVX512(dst, src, shift, sum *float32, ld, m, n int, scale float32)

// vecColExpSumF32AVX2 is the same loop.
//
//go:noescape
func vecColExpSumF32AVX2(dst, src, shift, sum *float32, ld, m, n int, scale float32)

// vecDotsF32AVX512, for n a multiple of 4:
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
func vecDotsF32AVX512(m, n, d int, q *float32, ldq int, k *float32, ldk int, s *float32, row, step int)

// vecDotsF32AVX2 is the same loop.
//
//go:noescape
func vecDotsF32AVX2(m, n, d int, q *float32, ldq int, k *float32, ldk int, s *float32, row, step int)

// vecCopyColumnsF32AVX512, for n up to two vectors:
//
//	for i := range m {
//		for j := range n {
//			dst[i*n+j] = src[i*lds+j]
//		}
//	}
//
//go:noescape
func vecCopyColumnsF32AVX512(dst, src *float32, lds, m, n int)

// vecCopyColumnsF32AVX2 is the same loop.
//
//go:noescape
func vecCopyColumnsF32AVX2(dst, src *float32, lds, m, n int)
