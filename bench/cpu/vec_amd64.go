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
		scale:         vecScaleF32AVX512,
		addScalar:     vecAddScalarF32AVX512,
		addScalarRelu: vecAddScalarReluF32AVX512,
		affine:        vecAffineF32AVX512,
		affineRelu:    vecAffineReluF32AVX512,
		addRow:        vecAddRowF32AVX512,
		addRowRelu:    vecAddRowReluF32AVX512,
		addRowGelu:    vecAddRowGeluF32AVX512,
		mulRow:        vecMulRowF32AVX512,
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
		scale:         vecScaleF32AVX2,
		addScalar:     vecAddScalarF32AVX2,
		addScalarRelu: vecAddScalarReluF32AVX2,
		affine:        vecAffineF32AVX2,
		affineRelu:    vecAffineReluF32AVX2,
		addRow:        vecAddRowF32AVX2,
		addRowRelu:    vecAddRowReluF32AVX2,
		addRowGelu:    vecAddRowGeluF32AVX2,
		mulRow:        vecMulRowF32AVX2,
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
		scale:         vecScaleF64AVX512,
		addScalar:     vecAddScalarF64AVX512,
		addScalarRelu: vecAddScalarReluF64AVX512,
		affine:        vecAffineF64AVX512,
		affineRelu:    vecAffineReluF64AVX512,
		addRow:        vecAddRowF64AVX512,
		addRowRelu:    vecAddRowReluF64AVX512,
		addRowGelu:    vecAddRowGeluF64AVX512,
		mulRow:        vecMulRowF64AVX512,
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
		scale:         vecScaleF64AVX2,
		addScalar:     vecAddScalarF64AVX2,
		addScalarRelu: vecAddScalarReluF64AVX2,
		affine:        vecAffineF64AVX2,
		affineRelu:    vecAffineReluF64AVX2,
		addRow:        vecAddRowF64AVX2,
		addRowRelu:    vecAddRowReluF64AVX2,
		addRowGelu:    vecAddRowGeluF64AVX2,
		mulRow:        vecMulRowF64AVX2,
		softmaxRows:   vecSoftmaxF64AVX2,
		colMax:        vecColMaxF64AVX2,
		colExpSum:     vecColExpSumF64AVX2,
		dots:          vecDotsF64AVX2,
		copyColumns:   vecCopyColumnsF64AVX2,
	},
}
