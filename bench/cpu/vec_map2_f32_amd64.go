package cpu

// These map kernels meet a second matrix, y.

// vecAddF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] + y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecAddF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecAddF32AVX2 is the same loop.
//
//go:noescape
func vecAddF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecAddReluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j]+y[i*ldy+j], 0)
//		}
//	}
//
//go:noescape
func vecAddReluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecAddReluF32AVX2 is the same loop.
//
//go:noescape
func vecAddReluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecAddGeluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = gelu(src[i*lds+j] + y[i*ldy+j])
//		}
//	}
//
//go:noescape
func vecAddGeluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecAddGeluF32AVX2 is the same loop.
//
//go:noescape
func vecAddGeluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecAddSiluF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = silu(src[i*lds+j] + y[i*ldy+j])
//		}
//	}
//
//go:noescape
func vecAddSiluF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecAddSiluF32AVX2 is the same loop.
//
//go:noescape
func vecAddSiluF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecSiluMulF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = silu(src[i*lds+j]) * y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecSiluMulF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecSiluMulF32AVX2 is the same loop.
//
//go:noescape
func vecSiluMulF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecSiluMulPairsF32AVX512, of rows in which 16 of x and 16 of y take turns:
//
//	for i := range m {
//		for j := range n {
//			at := i*lds + j/16*32 + j%16
//			dst[i*ldd+j] = silu(src[at]) * src[at+16]
//		}
//	}
//
//go:noescape
func vecSiluMulPairsF32AVX512(dst, src *float32, ldd, lds, m, n int)

// vecSiluMulPairsF32AVX2 is the same loop, of 8.
//
//go:noescape
func vecSiluMulPairsF32AVX2(dst, src *float32, ldd, lds, m, n int)

// vecMulF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] * y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecMulF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecMulF32AVX2 is the same loop.
//
//go:noescape
func vecMulF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecSubF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] - y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecSubF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecSubF32AVX2 is the same loop.
//
//go:noescape
func vecSubF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecDivF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] / y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecDivF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecDivF32AVX2 is the same loop.
//
//go:noescape
func vecDivF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecMaxF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j], y[i*ldy+j])
//		}
//	}
//
//go:noescape
func vecMaxF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecMaxF32AVX2 is the same loop.
//
//go:noescape
func vecMaxF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecMaxFarF32AVX512, of a y from beyond L2:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = max(src[i*lds+j], y[i*ldy+j])
//		}
//	}
//
//go:noescape
func vecMaxFarF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecMaxFarF32AVX2 is the same loop.
//
//go:noescape
func vecMaxFarF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecAddFarF32AVX512, likewise:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] + y[i*ldy+j]
//		}
//	}
//
//go:noescape
func vecAddFarF32AVX512(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// vecAddFarF32AVX2 is the same loop.
//
//go:noescape
func vecAddFarF32AVX2(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)
