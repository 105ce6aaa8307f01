package cpu

// The map kernels run over the rows i < m and the columns j < n; these meet no second matrix. The
// loops below are those of the portable twins. With nt, rows that begin with a cache line are stored
// past the caches.

// vecExpF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = exp(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecExpF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecExpF32AVX2 is the same loop.
//
//go:noescape
func vecExpF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecErfF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = erf(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecErfF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecErfF32AVX2 is the same loop.
//
//go:noescape
func vecErfF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecLogF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = log(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecLogF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecLogF32AVX2 is the same loop.
//
//go:noescape
func vecLogF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecTanhF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = tanh(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecTanhF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecTanhF32AVX2 is the same loop.
//
//go:noescape
func vecTanhF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecReluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j], 0)
//		}
//	}
//
//go:noescape
func vecReluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecReluF32AVX2 is the same loop.
//
//go:noescape
func vecReluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

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
func vecGeluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecGeluF32AVX2 is the same loop.
//
//go:noescape
func vecGeluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecSiluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = silu(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecSiluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecSiluF32AVX2 is the same loop.
//
//go:noescape
func vecSiluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecScaleF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = a * src[i*lds+j]
//		}
//	}
//
//go:noescape
func vecScaleF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecScaleF32AVX2 is the same loop.
//
//go:noescape
func vecScaleF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecAffineF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = a*src[i*lds+j] + b
//		}
//	}
//
//go:noescape
func vecAffineF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecAffineF32AVX2 is the same loop.
//
//go:noescape
func vecAffineF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecGeluTanhF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = geluTanh(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecGeluTanhF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecGeluTanhF32AVX2 is the same loop.
//
//go:noescape
func vecGeluTanhF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecSigmoidF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = sigmoid(src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecSigmoidF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecSigmoidF32AVX2 is the same loop.
//
//go:noescape
func vecSigmoidF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecCopyF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j]
//		}
//	}
//
//go:noescape
func vecCopyF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecCopyF32AVX2 is the same loop.
//
//go:noescape
func vecCopyF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecSetF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = b
//		}
//	}
//
//go:noescape
func vecSetF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecSetF32AVX2 is the same loop.
//
//go:noescape
func vecSetF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)
