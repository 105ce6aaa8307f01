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
func vecExpF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecExpF64AVX2 is the same loop.
//
//go:noescape
func vecExpF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecErfF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = erf(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecErfF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecErfF64AVX2 is the same loop.
//
//go:noescape
func vecErfF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecTanhF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = tanh(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecTanhF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecTanhF64AVX2 is the same loop.
//
//go:noescape
func vecTanhF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecReluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j], 0)
//		}
//	}
//
//go:noescape
func vecReluF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecReluF64AVX2 is the same loop.
//
//go:noescape
func vecReluF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

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
func vecGeluF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecGeluF64AVX2 is the same loop.
//
//go:noescape
func vecGeluF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecScaleF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = a * src[i*lds+j]
//		}
//	}
//
//go:noescape
func vecScaleF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecScaleF64AVX2 is the same loop.
//
//go:noescape
func vecScaleF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAddScalarF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] + b
//		}
//	}
//
//go:noescape
func vecAddScalarF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAddScalarF64AVX2 is the same loop.
//
//go:noescape
func vecAddScalarF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAddScalarReluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j]+b, 0)
//		}
//	}
//
//go:noescape
func vecAddScalarReluF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAddScalarReluF64AVX2 is the same loop.
//
//go:noescape
func vecAddScalarReluF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAffineF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = a*src[i*lds+j] + b
//		}
//	}
//
//go:noescape
func vecAffineF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAffineF64AVX2 is the same loop.
//
//go:noescape
func vecAffineF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAffineReluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(a*src[i*lds+j]+b, 0)
//		}
//	}
//
//go:noescape
func vecAffineReluF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAffineReluF64AVX2 is the same loop.
//
//go:noescape
func vecAffineReluF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAddRowF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] + row[j]
//		}
//	}
//
//go:noescape
func vecAddRowF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAddRowF64AVX2 is the same loop.
//
//go:noescape
func vecAddRowF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAddRowReluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j]+row[j], 0)
//		}
//	}
//
//go:noescape
func vecAddRowReluF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAddRowReluF64AVX2 is the same loop.
//
//go:noescape
func vecAddRowReluF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAddRowGeluF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = gelu(src[i*lds+j] + row[j])
//		}
//	}
//
//go:noescape
func vecAddRowGeluF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecAddRowGeluF64AVX2 is the same loop.
//
//go:noescape
func vecAddRowGeluF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecMulRowF64AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] * row[j]
//		}
//	}
//
//go:noescape
func vecMulRowF64AVX512(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecMulRowF64AVX2 is the same loop.
//
//go:noescape
func vecMulRowF64AVX2(dst, src, row *float64, ldd, lds, m, n int, a, b float64)

// vecSoftmaxF64AVX512, with max over the row:
//
//	for i := range m {
//		sum := 0
//		for j := range n {
//			dst[i*ldd+j] = exp(scale*src[i*lds+j] - scale*max)
//			sum += dst[i*ldd+j]
//		}
//		for j := range n {
//			dst[i*ldd+j] /= sum
//		}
//	}
//
//go:noescape
func vecSoftmaxF64AVX512(dst, src *float64, ldd, lds, m, n int, scale float64)

// vecSoftmaxF64AVX2 is the same loop.
//
//go:noescape
func vecSoftmaxF64AVX2(dst, src *float64, ldd, lds, m, n int, scale float64)

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
