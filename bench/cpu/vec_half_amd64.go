package cpu

var bf16AVX512 = storedKernels[uint16, float32]{
	exp:            vecExpBF16AVX512,
	tanh:           vecTanhBF16AVX512,
	relu:           vecReluBF16AVX512,
	gelu:           vecGeluBF16AVX512,
	silu:           vecSiluBF16AVX512,
	scale:          vecScaleBF16AVX512,
	add:            vecAddBF16AVX512,
	mul:            vecMulBF16AVX512,
	sub:            vecSubBF16AVX512,
	div:            vecDivBF16AVX512,
	geluTanh:       vecGeluTanhBF16AVX512,
	sigmoid:        vecSigmoidBF16AVX512,
	addFar:         vecAddFarBF16AVX512,
	maxFar:         vecMaxFarBF16AVX512,
	affineRows:     vecAffineRowsBF16AVX512,
	rowSums:        vecRowSumsBF16AVX512,
	rowMaxes:       vecRowMaxesBF16AVX512,
	rowExpSums:     vecRowExpSumsBF16AVX512,
	rowDistance:    vecRowDistanceBF16AVX512,
	layerNorm:      vecLayerNormBF16AVX512,
	addLayerNorm:   vecAddLayerNormBF16AVX512,
	rmsNorm:        vecRMSNormBF16AVX512,
	layerBlock:     vecLayerNormBlockBF16AVX512,
	addLayerBlock:  vecAddLayerNormBlockBF16AVX512,
	rmsBlock:       vecRMSNormBlockBF16AVX512,
	dropout:        vecDropoutBF16AVX512,
	addGeluDropout: vecAddGeluDropoutBF16AVX512,
	softmaxRows:    vecSoftmaxBF16AVX512,
	colMax:         vecColMaxBF16AVX512,
	colSum:         vecColSumBF16AVX512,
}

var fp16AVX512 = storedKernels[uint16, float32]{
	exp:            vecExpFP16AVX512,
	tanh:           vecTanhFP16AVX512,
	relu:           vecReluFP16AVX512,
	gelu:           vecGeluFP16AVX512,
	silu:           vecSiluFP16AVX512,
	scale:          vecScaleFP16AVX512,
	add:            vecAddFP16AVX512,
	mul:            vecMulFP16AVX512,
	sub:            vecSubFP16AVX512,
	div:            vecDivFP16AVX512,
	geluTanh:       vecGeluTanhFP16AVX512,
	sigmoid:        vecSigmoidFP16AVX512,
	addFar:         vecAddFarFP16AVX512,
	maxFar:         vecMaxFarFP16AVX512,
	affineRows:     vecAffineRowsFP16AVX512,
	rowSums:        vecRowSumsFP16AVX512,
	rowMaxes:       vecRowMaxesFP16AVX512,
	rowExpSums:     vecRowExpSumsFP16AVX512,
	rowDistance:    vecRowDistanceFP16AVX512,
	layerNorm:      vecLayerNormFP16AVX512,
	addLayerNorm:   vecAddLayerNormFP16AVX512,
	rmsNorm:        vecRMSNormFP16AVX512,
	layerBlock:     vecLayerNormBlockFP16AVX512,
	addLayerBlock:  vecAddLayerNormBlockFP16AVX512,
	rmsBlock:       vecRMSNormBlockFP16AVX512,
	dropout:        vecDropoutFP16AVX512,
	addGeluDropout: vecAddGeluDropoutFP16AVX512,
	softmaxRows:    vecSoftmaxFP16AVX512,
	colMax:         vecColMaxFP16AVX512,
	colSum:         vecColSumFP16AVX512,
}

// The functions below do what storedKernels says.

//go:noescape
func vecExpBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecExpFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecTanhBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecTanhFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecReluBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecReluFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecGeluBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecGeluFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecSiluBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecSiluFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecScaleBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecScaleFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecAddBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecAddFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecMulBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecMulFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecSubBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecSubFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecDivBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecDivFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecGeluTanhBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecGeluTanhFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecSigmoidBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecSigmoidFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecAddFarBF16AVX512(dst, src *float32, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecAddFarFP16AVX512(dst, src *float32, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecMaxFarBF16AVX512(dst, src *float32, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecMaxFarFP16AVX512(dst, src *float32, y *uint16, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

//go:noescape
func vecAffineRowsBF16AVX512(dst, src *uint16, a, b *float32, ldd, lds, m, n int, nt nontemporal)

//go:noescape
func vecAffineRowsFP16AVX512(dst, src *uint16, a, b *float32, ldd, lds, m, n int, nt nontemporal)

//go:noescape
func vecRowSumsBF16AVX512(dst *float32, src *uint16, lds, m, n int)

//go:noescape
func vecRowSumsFP16AVX512(dst *float32, src *uint16, lds, m, n int)

//go:noescape
func vecRowMaxesBF16AVX512(dst *float32, src *uint16, lds, m, n int)

//go:noescape
func vecRowMaxesFP16AVX512(dst *float32, src *uint16, lds, m, n int)

//go:noescape
func vecRowExpSumsBF16AVX512(sums, largest *float32, src *uint16, lds, m, n int)

//go:noescape
func vecRowExpSumsFP16AVX512(sums, largest *float32, src *uint16, lds, m, n int)

//go:noescape
func vecRowDistanceBF16AVX512(src, y *uint16, n int, far bool) float32

//go:noescape
func vecRowDistanceFP16AVX512(src, y *uint16, n int, far bool) float32

//go:noescape
func vecLayerNormBF16AVX512(dst, src *uint16, gamma, beta *float32, ldd, lds, m, n int, eps float32, nt nontemporal)

//go:noescape
func vecLayerNormFP16AVX512(dst, src *uint16, gamma, beta *float32, ldd, lds, m, n int, eps float32, nt nontemporal)

//go:noescape
func vecAddLayerNormBF16AVX512(dst, src, y *uint16, gamma, beta, room *float32, ldd, lds, ldy, m, n int, eps float32, nt nontemporal)

//go:noescape
func vecAddLayerNormFP16AVX512(dst, src, y *uint16, gamma, beta, room *float32, ldd, lds, ldy, m, n int, eps float32, nt nontemporal)

//go:noescape
func vecRMSNormBF16AVX512(dst, src *uint16, gamma *float32, ldd, lds, m, n int, eps float32, nt nontemporal)

//go:noescape
func vecRMSNormFP16AVX512(dst, src *uint16, gamma *float32, ldd, lds, m, n int, eps float32, nt nontemporal)

//go:noescape
func vecLayerNormBlockBF16AVX512(dst, src, y, next, nextY *uint16, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

//go:noescape
func vecAddLayerNormBlockBF16AVX512(dst, src, y, next, nextY *uint16, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

//go:noescape
func vecLayerNormBlockFP16AVX512(dst, src, y, next, nextY *uint16, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

//go:noescape
func vecAddLayerNormBlockFP16AVX512(dst, src, y, next, nextY *uint16, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

//go:noescape
func vecRMSNormBlockBF16AVX512(dst, src, y, next, nextY *uint16, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

//go:noescape
func vecRMSNormBlockFP16AVX512(dst, src, y, next, nextY *uint16, gamma, beta *float32, n int, mean, scale, shift float32) (sum, squares float32)

//go:noescape
func vecDropoutBF16AVX512(dst, src *uint16, n int, scale float32, least, at uint32, nt nontemporal)

//go:noescape
func vecDropoutFP16AVX512(dst, src *uint16, n int, scale float32, least, at uint32, nt nontemporal)

//go:noescape
func vecAddGeluDropoutBF16AVX512(dst, src, y *uint16, n int, scale float32, least, at uint32, nt nontemporal)

//go:noescape
func vecAddGeluDropoutFP16AVX512(dst, src, y *uint16, n int, scale float32, least, at uint32, nt nontemporal)

//go:noescape
func vecSoftmaxBF16AVX512(dst, src, y *uint16, room *float32, ldd, lds, ldy, m, n int, scale float32, nt nontemporal)

//go:noescape
func vecSoftmaxFP16AVX512(dst, src, y *uint16, room *float32, ldd, lds, ldy, m, n int, scale float32, nt nontemporal)

//go:noescape
func vecColMaxBF16AVX512(dst *float32, src *uint16, ld, m, n int)

//go:noescape
func vecColMaxFP16AVX512(dst *float32, src *uint16, ld, m, n int)

//go:noescape
func vecColSumBF16AVX512(dst *float32, src *uint16, ld, m, n int)

//go:noescape
func vecColSumFP16AVX512(dst *float32, src *uint16, ld, m, n int)
