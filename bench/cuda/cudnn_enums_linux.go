//go:build linux && (amd64 || arm64)

package cuda

import "time"

// The numbers of cudnn_graph.h that are passed; testdata/libcudnn.c compares them with it.

// Kinds of descriptors, cudnnBackendDescriptorType_t.
const (
	kindPointwise     = 0
	kindConvolution   = 1
	kindEngine        = 2
	kindConfig        = 3
	kindHeuristic     = 4
	kindPlan          = 5
	kindKnobChoice    = 7
	kindConvolutionOp = 10
	kindPointwiseOp   = 13
	kindGraph         = 15
	kindPack          = 16
	kindTensor        = 17
	kindMatmul        = 18
	kindMatmulOp      = 19
	kindReduction     = 21
	kindReductionOp   = 22
)

// Types of attributes, cudnnBackendAttributeType_t, with those of their values.
const (
	typeHandle        = 0  // uintptr
	typeDataType      = 1  // int32
	typeBoolean       = 2  // one byte
	typeInt64         = 3  // int64
	typeFloat         = 4  // float32
	typePointer       = 6  // a pointer
	typeConvolution   = 7  // int32, a cudnnConvolutionMode_t
	typeHeuristic     = 8  // int32, a cudnnBackendHeurMode_t
	typeKnob          = 9  // int32
	typeNumericalNote = 11 // int32
	typePointwise     = 14 // int32, a cudnnPointwiseMode_t
	typeDescriptor    = 15 // descriptor
	typeReduction     = 18 // int32, a cudnnReduceTensorOp_t
)

// Types of elements, cudnnDataType_t.
const (
	cudnnFloat   = 0
	cudnnHalf    = 2
	cudnnInt32   = 4
	cudnnBF16    = 9
	cudnnBoolean = 11
)

// Modes of pointwise operations, cudnnPointwiseMode_t, and of reductions, cudnnReduceTensorOp_t.
const (
	pointwiseAdd    = 0
	pointwiseMul    = 1
	pointwiseDiv    = 6
	pointwiseSub    = 9
	pointwiseExp    = 13
	pointwiseLog    = 15
	pointwiseReLU   = 100
	pointwiseGE     = 303
	pointwiseIndex  = 501
	pointwiseSelect = 601

	reduceAdd = 0
	reduceMax = 3
)

// Heuristics, cudnnBackendHeurMode_t: the accurate one, and engines that are there when it knows none.
const (
	heuristicA        = 3
	heuristicFallback = 2
)

// Names of attributes, cudnnBackendAttributeName_t: of each kind of descriptor, and of the operations
// that are made of them.
const (
	attrPointwiseMode = 0
	attrPointwiseType = 1
	attrPointwiseAxis = 9

	attrConvType         = 100
	attrConvMode         = 101
	attrConvDilations    = 102
	attrConvStrides      = 103
	attrConvPostPaddings = 104
	attrConvPrePaddings  = 105
	attrConvSpatialDims  = 106

	attrHeuristicMode    = 200
	attrHeuristicGraph   = 201
	attrHeuristicResults = 202
	attrHeuristicDevice  = 204

	attrConfigEngine = 300
	attrConfigKnobs  = 302

	attrPlanHandle    = 400
	attrPlanConfig    = 401
	attrPlanWorkspace = 402
	attrPlanDevice    = 407

	attrKnobType  = 600
	attrKnobValue = 601

	attrConvAlpha      = 700
	attrConvBeta       = 701
	attrConvDescriptor = 702
	attrConvW          = 703
	attrConvX          = 704
	attrConvY          = 705

	attrPointwiseDescriptor = 750
	attrPointwiseX          = 751
	attrPointwiseB          = 752
	attrPointwiseY          = 753
	attrPointwiseT          = 758

	attrGraphHandle = 800
	attrGraphOps    = 801

	attrTensorAlignment = 900
	attrTensorType      = 901
	attrTensorDims      = 902
	attrTensorStrides   = 903
	attrTensorID        = 906
	attrTensorVirtual   = 907
	attrTensorByValue   = 908

	attrPackIDs       = 1000
	attrPackPointers  = 1001
	attrPackWorkspace = 1003

	attrEngineIndex = 1301
	attrEngineNotes = 1303

	attrMatmulType       = 1500
	attrMatmulA          = 1520
	attrMatmulB          = 1521
	attrMatmulC          = 1522
	attrMatmulDescriptor = 1523

	attrReductionMode       = 1600
	attrReductionType       = 1601
	attrReductionX          = 1610
	attrReductionY          = 1611
	attrReductionDescriptor = 1612
)

// Numerical notes of engines, cudnnBackendNumericalNote_t: what they do beyond adding the products of
// what they are given in fp32.
const (
	noteTensorCore       = 0
	noteDownConvert      = 1
	noteReducedReduction = 2
	noteFFT              = 3
	noteWinograd         = 5
	noteWinograd13x13    = 8 // 6 and 7 are of smaller tiles
)

const (
	cudnnAlignment   = 16 // bytes, of all tensors
	crossCorrelation = 1  // CUDNN_CROSS_CORRELATION
	// Of offeredPlans engine configurations, the first triedPlans that can be built within trialTime are tried. Most
	// engines are compiled, which takes about a second.
	offeredPlans, triedPlans = 24, 5
	// searchTime is how long to look for the first: for a convolution with a residual in fp32 cuDNN takes 12 s to refuse all.
	searchTime = 2 * time.Second
	// More than any engine has.
	mostNotes, mostKnobs = 16, 64
)
