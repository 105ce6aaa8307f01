package cpu

// The functions below run the loops of those for F32, in fp64.

//go:noescape
func vecExpF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecExpF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecErfF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecErfF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecLogF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecLogF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecTanhF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecTanhF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecReluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecReluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecGeluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecGeluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecSiluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecSiluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecScaleF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecScaleF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAffineF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAffineF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAffineRowsF64AVX512(dst, src, a, b *float64, ldd, lds, m, n int, nt nontemporal)

//go:noescape
func vecAffineRowsF64AVX2(dst, src, a, b *float64, ldd, lds, m, n int, nt nontemporal)

//go:noescape
func vecAddF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAddF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAddReluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAddReluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAddGeluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAddGeluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAddSiluF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAddSiluF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecSiluMulF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecSiluMulF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecSiluMulPairsF64AVX512(dst, src *float64, ldd, lds, m, n int)

//go:noescape
func vecSiluMulPairsF64AVX2(dst, src *float64, ldd, lds, m, n int)

//go:noescape
func vecMulF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecMulF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecSoftmaxF64AVX512(dst, src, y, room *float64, ldd, lds, ldy, m, n int, scale float64, nt nontemporal)

//go:noescape
func vecSoftmaxF64AVX2(dst, src, y, room *float64, ldd, lds, ldy, m, n int, scale float64, nt nontemporal)

//go:noescape
func vecDropoutF64AVX512(dst, src *float64, n int, scale float64, least, at uint32, nt nontemporal)

//go:noescape
func vecDropoutF64AVX2(dst, src *float64, n int, scale float64, least, at uint32, nt nontemporal)

//go:noescape
func vecAddGeluDropoutF64AVX512(dst, src, y *float64, n int, scale float64, least, at uint32, nt nontemporal)

//go:noescape
func vecAddGeluDropoutF64AVX2(dst, src, y *float64, n int, scale float64, least, at uint32, nt nontemporal)

//go:noescape
func vecColMaxF64AVX512(dst, src *float64, ld, m, n int)

//go:noescape
func vecColMaxF64AVX2(dst, src *float64, ld, m, n int)

//go:noescape
func vecColExpSumF64AVX512(dst, src, shift, sum *float64, ld, m, n int, scale float64)

//go:noescape
func vecColExpSumF64AVX2(dst, src, shift, sum *float64, ld, m, n int, scale float64)

//go:noescape
func vecDotsF64AVX512(m, n, d int, q *float64, ldq int, k *float64, ldk int, s *float64, row, step, ahead int, far bool)

//go:noescape
func vecDotsF64AVX2(m, n, d int, q *float64, ldq int, k *float64, ldk int, s *float64, row, step, ahead int, far bool)

//go:noescape
func vecCopyColumnsF64AVX512(dst, src *float64, lds, m, n int)

//go:noescape
func vecCopyColumnsF64AVX2(dst, src *float64, lds, m, n int)

//go:noescape
func vecSubF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecSubF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecDivF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecDivF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecMaxF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecMaxF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecMaxFarF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecMaxFarF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAddFarF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecAddFarF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecGeluTanhF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecGeluTanhF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecSigmoidF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecSigmoidF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecCopyF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecCopyF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecSetF64AVX512(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecSetF64AVX2(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

//go:noescape
func vecGatherRowsF64AVX512(dst, src *float64, index *int32, ldd, lds, m, n, known int, nt nontemporal)

//go:noescape
func vecGatherRowsF64AVX2(dst, src *float64, index *int32, ldd, lds, m, n, known int, nt nontemporal)

//go:noescape
func vecRowDistanceF64AVX512(src, y *float64, n int, far bool) float64

//go:noescape
func vecRowDistanceF64AVX2(src, y *float64, n int, far bool) float64

//go:noescape
func vecColSumF64AVX512(dst, src *float64, ld, m, n int)

//go:noescape
func vecColSumF64AVX2(dst, src *float64, ld, m, n int)

//go:noescape
func vecTransposeF64AVX512(dst, src, next *float64, ldd, lds, m, n int, nt nontemporal)

//go:noescape
func vecTransposeF64AVX2(dst, src, next *float64, ldd, lds, m, n int, nt nontemporal)

//go:noescape
func vecRowSumsF64AVX512(dst, src *float64, lds, m, n int)

//go:noescape
func vecRowSumsF64AVX2(dst, src *float64, lds, m, n int)

//go:noescape
func vecRowMaxesF64AVX512(dst, src *float64, lds, m, n int)

//go:noescape
func vecRowMaxesF64AVX2(dst, src *float64, lds, m, n int)

//go:noescape
func vecRowExpSumsF64AVX512(sums, largest, src *float64, lds, m, n int)

//go:noescape
func vecRowExpSumsF64AVX2(sums, largest, src *float64, lds, m, n int)

//go:noescape
func vecLayerNormF64AVX512(dst, src, gamma, beta *float64, ldd, lds, m, n int, eps float64, nt nontemporal)

//go:noescape
func vecLayerNormF64AVX2(dst, src, gamma, beta *float64, ldd, lds, m, n int, eps float64, nt nontemporal)

//go:noescape
func vecAddLayerNormF64AVX512(dst, src, y, gamma, beta, room *float64, ldd, lds, ldy, m, n int, eps float64, nt nontemporal)

//go:noescape
func vecAddLayerNormF64AVX2(dst, src, y, gamma, beta, room *float64, ldd, lds, ldy, m, n int, eps float64, nt nontemporal)

//go:noescape
func vecLayerNormBlockF64AVX512(dst, src, y, next, nextY, gamma, beta *float64, n int, mean, scale, shift float64) (sum, squares float64)

//go:noescape
func vecAddLayerNormBlockF64AVX512(dst, src, y, next, nextY, gamma, beta *float64, n int, mean, scale, shift float64) (sum, squares float64)

//go:noescape
func vecLayerNormBlockF64AVX2(dst, src, y, next, nextY, gamma, beta *float64, n int, mean, scale, shift float64) (sum, squares float64)

//go:noescape
func vecAddLayerNormBlockF64AVX2(dst, src, y, next, nextY, gamma, beta *float64, n int, mean, scale, shift float64) (sum, squares float64)

//go:noescape
func vecLayerNormNearBlockF64AVX512(dst, src, y, next, nextY, gamma, beta *float64, n int, mean, scale, shift float64) (sum, squares float64)

//go:noescape
func vecLayerNormNearBlockF64AVX2(dst, src, y, next, nextY, gamma, beta *float64, n int, mean, scale, shift float64) (sum, squares float64)

//go:noescape
func vecRMSNormBlockF64AVX512(dst, src, y, next, nextY, gamma, beta *float64, n int, mean, scale, shift float64) (sum, squares float64)

//go:noescape
func vecRMSNormBlockF64AVX2(dst, src, y, next, nextY, gamma, beta *float64, n int, mean, scale, shift float64) (sum, squares float64)

//go:noescape
func vecRMSNormF64AVX512(dst, src, gamma *float64, ldd, lds, m, n int, eps float64, nt nontemporal)

//go:noescape
func vecRMSNormF64AVX2(dst, src, gamma *float64, ldd, lds, m, n int, eps float64, nt nontemporal)

//go:noescape
func vecMaxTapsF64AVX512(dst, src *float64, ldd, lds, m, n int, offsets *int, taps int)

//go:noescape
func vecMaxTapsF64AVX2(dst, src *float64, ldd, lds, m, n int, offsets *int, taps int)
