package cpu

var neonMapsF32 = neonMaps[float32]{
	relu:     vecReluF32NEON,
	scale:    vecScaleF32NEON,
	affine:   vecAffineF32NEON,
	set:      vecSetF32NEON,
	add:      vecAddF32NEON,
	addRelu:  vecAddReluF32NEON,
	sub:      vecSubF32NEON,
	mul:      vecMulF32NEON,
	div:      vecDivF32NEON,
	max:      vecMaxF32NEON,
	exp:      vecExpF32NEON,
	erf:      vecErfF32NEON,
	tanh:     vecTanhF32NEON,
	gelu:     vecGeluF32NEON,
	geluTanh: vecGeluTanhF32NEON,
	silu:     vecSiluF32NEON,
	sigmoid:  vecSigmoidF32NEON,
	addGelu:  vecAddGeluF32NEON,
	addSilu:  vecAddSiluF32NEON,
	siluMul:  vecSiluMulF32NEON,
}

var neonRowsF32 = neonRows[float32]{
	sum:        vecSumF32NEON,
	largest:    vecLargestF32NEON,
	distance:   vecDistanceF32NEON,
	deviations: vecDeviationsF32NEON,
	expSum:     vecExpSumF32NEON,
	exps:       vecExpsF32NEON,
	normalize:  vecNormalizeF32NEON,
	scaleMul:   vecScaleMulF32NEON,
}

// The functions below are maps, of what their comment says.

// max(x, 0), NaN for NaN
//
//go:noescape
func vecReluF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// a x
//
//go:noescape
func vecScaleF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// a x + b
//
//go:noescape
func vecAffineF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// b
//
//go:noescape
func vecSetF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// x + y
//
//go:noescape
func vecAddF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// max(x + y, 0)
//
//go:noescape
func vecAddReluF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// x - y
//
//go:noescape
func vecSubF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// x y
//
//go:noescape
func vecMulF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// x / y
//
//go:noescape
func vecDivF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// max(x, y)
//
//go:noescape
func vecMaxF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// e^x
//
//go:noescape
func vecExpF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// erf(x)
//
//go:noescape
func vecErfF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// tanh(x)
//
//go:noescape
func vecTanhF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// x/2 (1 + erf(x/sqrt 2))
//
//go:noescape
func vecGeluF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//
//go:noescape
func vecGeluTanhF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// x / (1 + e^-x)
//
//go:noescape
func vecSiluF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// 1 / (1 + e^-x)
//
//go:noescape
func vecSigmoidF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// gelu(x + y)
//
//go:noescape
func vecAddGeluF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// silu(x + y)
//
//go:noescape
func vecAddSiluF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// silu(x) y
//
//go:noescape
func vecSiluMulF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt nontemporal)

// Those below are of rows, see neonRows.

//go:noescape
func vecSumF32NEON(src *float32, n int) (sum float32)

//go:noescape
func vecLargestF32NEON(src *float32, n int) (largest float32)

//go:noescape
func vecDistanceF32NEON(src, y *float32, n int) (sum float32)

//go:noescape
func vecDeviationsF32NEON(src *float32, n int, c float32) (sum, squares float32)

//go:noescape
func vecExpSumF32NEON(src *float32, n int, scale, largest float32) (sum float32)

//go:noescape
func vecExpsF32NEON(dst, src *float32, n int, scale, largest float32) (sum float32)

//go:noescape
func vecNormalizeF32NEON(dst, src, gamma, beta *float32, n int, mean, scale float32)

//go:noescape
func vecScaleMulF32NEON(dst, src, gamma *float32, n int, scale float32)
