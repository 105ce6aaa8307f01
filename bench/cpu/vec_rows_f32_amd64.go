package cpu

// Reductions and what is done to whole rows or columns. The loops below are those of the
// portable twins, but for the layer norm, of which they read each row once less, and for the
// blocks of norms, which have none.

// vecSoftmaxF32AVX512, with max over the row, of src or, if y is not nil, of src + y. If
// room for a row is not nil, what becomes dst is kept there before, and with nt dst is stored past the caches:
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
func vecSoftmaxF32AVX512(dst, src, y, room *float32, ldd, lds, ldy, m, n int, scale float32, nt nontemporal)

// vecSoftmaxF32AVX2 is the same loop.
//
//go:noescape
func vecSoftmaxF32AVX2(dst, src, y, room *float32, ldd, lds, ldy, m, n int, scale float32, nt nontemporal)

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
func vecDropoutF32AVX512(dst, src *float32, n int, scale float32, least, at uint32, nt nontemporal)

// vecDropoutF32AVX2 is the same loop.
//
//go:noescape
func vecDropoutF32AVX2(dst, src *float32, n int, scale float32, least, at uint32, nt nontemporal)

// vecAddGeluDropoutF32AVX512:
//
//	for j := range n {
//		if at += weyl; mix(at) >= least {
//			dst[j] = scale * gelu(src[j]+y[j])
//		} else {
//			dst[j] = 0
//		}
//	}
//
//go:noescape
func vecAddGeluDropoutF32AVX512(dst, src, y *float32, n int, scale float32, least, at uint32, nt nontemporal)

// vecAddGeluDropoutF32AVX2 is the same loop.
//
//go:noescape
func vecAddGeluDropoutF32AVX2(dst, src, y *float32, n int, scale float32, least, at uint32, nt nontemporal)

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
func vecDotsF32AVX512(m, n, d int, q *float32, ldq int, k *float32, ldk int, s *float32, row, step, ahead int, far bool)

// vecDotsF32AVX2 is the same loop.
//
//go:noescape
func vecDotsF32AVX2(m, n, d int, q *float32, ldq int, k *float32, ldk int, s *float32, row, step, ahead int, far bool)

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

// vecRowDistanceF32AVX512:
//
//	sum := 0
//	for j := range n {
//		sum += (src[j] - y[j]) * (src[j] - y[j])
//	}
//
//go:noescape
func vecRowDistanceF32AVX512(src, y *float32, n int, far bool) float32

// vecRowDistanceF32AVX2 is the same loop.
//
//go:noescape
func vecRowDistanceF32AVX2(src, y *float32, n int, far bool) float32

// vecColSumF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[j] += src[i*ld+j]
//		}
//	}
//
//go:noescape
func vecColSumF32AVX512(dst, src *float32, ld, m, n int)

// vecColSumF32AVX2 is the same loop.
//
//go:noescape
func vecColSumF32AVX2(dst, src *float32, ld, m, n int)

// vecTransposeF32AVX512, for m and n multiples of the lanes of a vector, with the block at
// next fetched meanwhile:
//
//	for i := range m {
//		for j := range n {
//			dst[j*ldd+i] = src[i*lds+j]
//		}
//	}
//
//go:noescape
func vecTransposeF32AVX512(dst, src, next *float32, ldd, lds, m, n int, nt nontemporal)

// vecTransposeF32AVX2 is the same loop.
//
//go:noescape
func vecTransposeF32AVX2(dst, src, next *float32, ldd, lds, m, n int, nt nontemporal)

// vecRowSumsF32AVX512:
//
//	for i := range m {
//		dst[i] = 0
//		for j := range n {
//			dst[i] += src[i*lds+j]
//		}
//	}
//
//go:noescape
func vecRowSumsF32AVX512(dst, src *float32, lds, m, n int)

// vecRowSumsF32AVX2 is the same loop.
//
//go:noescape
func vecRowSumsF32AVX2(dst, src *float32, lds, m, n int)

// vecRowMaxesF32AVX512:
//
//	for i := range m {
//		dst[i] = src[i*lds]
//		for j := range n {
//			dst[i] = max(dst[i], src[i*lds+j])
//		}
//	}
//
//go:noescape
func vecRowMaxesF32AVX512(dst, src *float32, lds, m, n int)

// vecRowMaxesF32AVX2 is the same loop.
//
//go:noescape
func vecRowMaxesF32AVX2(dst, src *float32, lds, m, n int)

// vecRowExpSumsF32AVX512:
//
//	for i := range m {
//		largest[i] = max(src[i*lds:][:n]...)
//		sums[i] = 0
//		for j := range n {
//			sums[i] += exp(src[i*lds+j] - largest[i])
//		}
//	}
//
//go:noescape
func vecRowExpSumsF32AVX512(sums, largest, src *float32, lds, m, n int)

// vecRowExpSumsF32AVX2 is the same loop.
//
//go:noescape
func vecRowExpSumsF32AVX2(sums, largest, src *float32, lds, m, n int)

// vecLayerNormF32AVX512:
//
//	for i := range m {
//		x, c := src[i*lds:][:n], a mean of some
//		sum, squares := 0, 0
//		for j := range n {
//			sum, squares = sum+(x[j]-c), squares+(x[j]-c)*(x[j]-c)
//		}
//		mean, variance := c+sum/n, (squares-sum*sum/n)/n
//		for j := range n {
//			dst[i*ldd+j] = (x[j]-mean)/sqrt(variance+eps)*gamma[j] + beta[j]
//		}
//	}
//
//go:noescape
func vecLayerNormF32AVX512(dst, src, gamma, beta *float32, ldd, lds, m, n int, eps float32, nt nontemporal)

// vecLayerNormF32AVX2 is the same loop.
//
//go:noescape
func vecLayerNormF32AVX2(dst, src, gamma, beta *float32, ldd, lds, m, n int, eps float32, nt nontemporal)

// vecAddLayerNormF32AVX512 is the same of src + y, which is kept in the room for two rows if it is not nil.
//
//go:noescape
func vecAddLayerNormF32AVX512(dst, src, y, gamma, beta, room *float32, ldd, lds, ldy, m, n int, eps float32, nt nontemporal)

// vecAddLayerNormF32AVX2 is the same loop.
//
//go:noescape
func vecAddLayerNormF32AVX2(dst, src, y, gamma, beta, room *float32, ldd, lds, ldy, m, n int, eps float32, nt nontemporal)

// vecRMSNormF32AVX512:
//
//	for i := range m {
//		squares := 0
//		for j := range n {
//			squares += src[i*lds+j] * src[i*lds+j]
//		}
//		scale := 1 / sqrt(squares/n+eps)
//		for j := range n {
//			dst[i*ldd+j] = src[i*lds+j] * scale * gamma[j]
//		}
//	}
//
//go:noescape
func vecRMSNormF32AVX512(dst, src, gamma *float32, ldd, lds, m, n int, eps float32, nt nontemporal)

// vecRMSNormF32AVX2 is the same loop.
//
//go:noescape
func vecRMSNormF32AVX2(dst, src, gamma *float32, ldd, lds, m, n int, eps float32, nt nontemporal)

// vecLayerNormBlockF32AVX512, where src or next may be nil, and dst begins a line:
//
//	for j := range n {
//		dst[j] = (src[j]-mean)*scale*gamma[j] + beta[j]
//		sum, squares = sum+(next[j]-shift), squares+(next[j]-shift)*(next[j]-shift)
//	}
//
//go:noescape
func vecLayerNormBlockF32AVX512(dst, src, y, next, nextY, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

// vecAddLayerNormBlockF32AVX512 is the same of src + y and next + nextY.
//
//go:noescape
func vecAddLayerNormBlockF32AVX512(dst, src, y, next, nextY, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

// vecLayerNormBlockF32AVX2 is the same loop.
//
//go:noescape
func vecLayerNormBlockF32AVX2(dst, src, y, next, nextY, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

// vecAddLayerNormBlockF32AVX2 likewise.
//
//go:noescape
func vecAddLayerNormBlockF32AVX2(dst, src, y, next, nextY, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

// vecLayerNormNearBlockF32AVX512 is that of vecLayerNormBlockF32AVX512, stored in the caches.
//
//go:noescape
func vecLayerNormNearBlockF32AVX512(dst, src, y, next, nextY, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

// vecLayerNormNearBlockF32AVX2 is the same loop.
//
//go:noescape
func vecLayerNormNearBlockF32AVX2(dst, src, y, next, nextY, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

// vecRMSNormBlockF32AVX512 likewise, without beta, mean, shift and the sum:
//
//	for j := range n {
//		dst[j] = src[j] * scale * gamma[j]
//		squares += next[j] * next[j]
//	}
//
//go:noescape
func vecRMSNormBlockF32AVX512(dst, src, y, next, nextY, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

// vecRMSNormBlockF32AVX2 is the same loop.
//
//go:noescape
func vecRMSNormBlockF32AVX2(dst, src, y, next, nextY, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

// vecAffineRowsF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = a[i]*src[i*lds+j] + b[i]
//		}
//	}
//
//go:noescape
func vecAffineRowsF32AVX512(dst, src, a, b *float32, ldd, lds, m, n int, nt nontemporal)

// vecAffineRowsF32AVX2 is the same loop.
//
//go:noescape
func vecAffineRowsF32AVX2(dst, src, a, b *float32, ldd, lds, m, n int, nt nontemporal)

// vecGatherRowsF32AVX512:
//
//	for i := range m {
//		for j := range n {
//			dst[i*ldd+j] = src[int(index[i])*lds+j]
//		}
//	}
//
//go:noescape
func vecGatherRowsF32AVX512(dst, src *float32, index *int32, ldd, lds, m, n, known int, nt nontemporal)

// vecGatherRowsF32AVX2 is the same loop.
//
//go:noescape
func vecGatherRowsF32AVX2(dst, src *float32, index *int32, ldd, lds, m, n, known int, nt nontemporal)

// vecTransposeHalvesF32AVX512 is that of numbers of 16 bits.
//
//go:noescape
func vecTransposeHalvesF32AVX512(dst, src, next *uint16, ldd, lds, m, n int, nt nontemporal)

// vecTransposeHalvesF32AVX2 is the same loop.
//
//go:noescape
func vecTransposeHalvesF32AVX2(dst, src, next *uint16, ldd, lds, m, n int, nt nontemporal)

// vecMaxTapsF32AVX512, for n elements of each row, and whole vectors of src:
//
//	for i := range m {
//		for j := range n {
//			for t := range taps {
//				dst[i*ldd+j] = max(dst[i*ldd+j], src[i*lds+offsets[t]+j])
//			}
//		}
//	}
//
// with dst as -Inf before.
//
//go:noescape
func vecMaxTapsF32AVX512(dst, src *float32, ldd, lds, m, n int, offsets *int, taps int)

// vecMaxTapsF32AVX2 is the same loop.
//
//go:noescape
func vecMaxTapsF32AVX2(dst, src *float32, ldd, lds, m, n int, offsets *int, taps int)
