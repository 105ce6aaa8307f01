package cpu

// vecAssembly is the table of an instruction set, if it has one.
func vecAssembly[T float](isa ISA) (vecKernels[T], bool) {
	var zero T
	var k any
	switch any(zero).(type) {
	case float32:
		k = vecTablesF32[isa]
	case float64:
		k = vecTablesF64[isa]
	}
	table, _ := k.(*vecKernels[T])
	if table == nil {
		return vecKernels[T]{}, false
	}
	return *table, true
}

var vecTablesF32 = map[ISA]*vecKernels[float32]{
	AVX512: {
		exp:           vecExpF32AVX512,
		erf:           vecErfF32AVX512,
		tanh:          vecTanhF32AVX512,
		relu:          vecReluF32AVX512,
		gelu:          vecGeluF32AVX512,
		silu:          vecSiluF32AVX512,
		scale:         vecScaleF32AVX512,
		addScalar:     vecAddScalarF32AVX512,
		addScalarRelu: vecAddScalarReluF32AVX512,
		affine:        vecAffineF32AVX512,
		affineRelu:    vecAffineReluF32AVX512,
		add:           vecAddF32AVX512,
		addRelu:       vecAddReluF32AVX512,
		addGelu:       vecAddGeluF32AVX512,
		addSilu:       vecAddSiluF32AVX512,
		siluMul:       vecSiluMulF32AVX512,
		mul:           vecMulF32AVX512,
		affineRows:    vecAffineRowsF32AVX512,
		rowSum:        vecRowSumF32AVX512,
		addRowSum:     vecAddRowSumF32AVX512,
		rowSquares:    vecRowSquaresF32AVX512,
		normalize:     vecNormalizeF32AVX512,
		dropout:       vecDropoutF32AVX512,
		softmaxRows:   vecSoftmaxF32AVX512,
		colMax:        vecColMaxF32AVX512,
		colExpSum:     vecColExpSumF32AVX512,
		dots:          vecDotsF32AVX512,
		copyColumns:   vecCopyColumnsF32AVX512,
	},
	AVX2: {
		exp:           vecExpF32AVX2,
		erf:           vecErfF32AVX2,
		tanh:          vecTanhF32AVX2,
		relu:          vecReluF32AVX2,
		gelu:          vecGeluF32AVX2,
		silu:          vecSiluF32AVX2,
		scale:         vecScaleF32AVX2,
		addScalar:     vecAddScalarF32AVX2,
		addScalarRelu: vecAddScalarReluF32AVX2,
		affine:        vecAffineF32AVX2,
		affineRelu:    vecAffineReluF32AVX2,
		add:           vecAddF32AVX2,
		addRelu:       vecAddReluF32AVX2,
		addGelu:       vecAddGeluF32AVX2,
		addSilu:       vecAddSiluF32AVX2,
		siluMul:       vecSiluMulF32AVX2,
		mul:           vecMulF32AVX2,
		affineRows:    vecAffineRowsF32AVX2,
		rowSum:        vecRowSumF32AVX2,
		addRowSum:     vecAddRowSumF32AVX2,
		rowSquares:    vecRowSquaresF32AVX2,
		normalize:     vecNormalizeF32AVX2,
		dropout:       vecDropoutF32AVX2,
		softmaxRows:   vecSoftmaxF32AVX2,
		colMax:        vecColMaxF32AVX2,
		colExpSum:     vecColExpSumF32AVX2,
		dots:          vecDotsF32AVX2,
		copyColumns:   vecCopyColumnsF32AVX2,
	},
}

var vecTablesF64 = map[ISA]*vecKernels[float64]{
	AVX512: {
		exp:           vecExpF64AVX512,
		erf:           vecErfF64AVX512,
		tanh:          vecTanhF64AVX512,
		relu:          vecReluF64AVX512,
		gelu:          vecGeluF64AVX512,
		silu:          vecSiluF64AVX512,
		scale:         vecScaleF64AVX512,
		addScalar:     vecAddScalarF64AVX512,
		addScalarRelu: vecAddScalarReluF64AVX512,
		affine:        vecAffineF64AVX512,
		affineRelu:    vecAffineReluF64AVX512,
		add:           vecAddF64AVX512,
		addRelu:       vecAddReluF64AVX512,
		addGelu:       vecAddGeluF64AVX512,
		addSilu:       vecAddSiluF64AVX512,
		siluMul:       vecSiluMulF64AVX512,
		mul:           vecMulF64AVX512,
		affineRows:    vecAffineRowsF64AVX512,
		rowSum:        vecRowSumF64AVX512,
		addRowSum:     vecAddRowSumF64AVX512,
		rowSquares:    vecRowSquaresF64AVX512,
		normalize:     vecNormalizeF64AVX512,
		dropout:       vecDropoutF64AVX512,
		softmaxRows:   vecSoftmaxF64AVX512,
		colMax:        vecColMaxF64AVX512,
		colExpSum:     vecColExpSumF64AVX512,
		dots:          vecDotsF64AVX512,
		copyColumns:   vecCopyColumnsF64AVX512,
	},
	AVX2: {
		exp:           vecExpF64AVX2,
		erf:           vecErfF64AVX2,
		tanh:          vecTanhF64AVX2,
		relu:          vecReluF64AVX2,
		gelu:          vecGeluF64AVX2,
		silu:          vecSiluF64AVX2,
		scale:         vecScaleF64AVX2,
		addScalar:     vecAddScalarF64AVX2,
		addScalarRelu: vecAddScalarReluF64AVX2,
		affine:        vecAffineF64AVX2,
		affineRelu:    vecAffineReluF64AVX2,
		add:           vecAddF64AVX2,
		addRelu:       vecAddReluF64AVX2,
		addGelu:       vecAddGeluF64AVX2,
		addSilu:       vecAddSiluF64AVX2,
		siluMul:       vecSiluMulF64AVX2,
		mul:           vecMulF64AVX2,
		affineRows:    vecAffineRowsF64AVX2,
		rowSum:        vecRowSumF64AVX2,
		addRowSum:     vecAddRowSumF64AVX2,
		rowSquares:    vecRowSquaresF64AVX2,
		normalize:     vecNormalizeF64AVX2,
		dropout:       vecDropoutF64AVX2,
		softmaxRows:   vecSoftmaxF64AVX2,
		colMax:        vecColMaxF64AVX2,
		colExpSum:     vecColExpSumF64AVX2,
		dots:          vecDotsF64AVX2,
		copyColumns:   vecCopyColumnsF64AVX2,
	},
}
