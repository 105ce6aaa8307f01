package cpu

var neonMapsF64 = neonMaps[float64]{
	relu:     vecReluF64NEON,
	scale:    vecScaleF64NEON,
	affine:   vecAffineF64NEON,
	set:      vecSetF64NEON,
	add:      vecAddF64NEON,
	addRelu:  vecAddReluF64NEON,
	sub:      vecSubF64NEON,
	mul:      vecMulF64NEON,
	div:      vecDivF64NEON,
	max:      vecMaxF64NEON,
	exp:      vecExpF64NEON,
	erf:      vecErfF64NEON,
	tanh:     vecTanhF64NEON,
	gelu:     vecGeluF64NEON,
	geluTanh: vecGeluTanhF64NEON,
	silu:     vecSiluF64NEON,
	sigmoid:  vecSigmoidF64NEON,
	addGelu:  vecAddGeluF64NEON,
	addSilu:  vecAddSiluF64NEON,
	siluMul:  vecSiluMulF64NEON,
}

var neonRowsF64 = neonRows[float64]{
	sum:        vecSumF64NEON,
	largest:    vecLargestF64NEON,
	distance:   vecDistanceF64NEON,
	deviations: vecDeviationsF64NEON,
	expSum:     vecExpSumF64NEON,
	exps:       vecExpsF64NEON,
	normalize:  vecNormalizeF64NEON,
	scaleMul:   vecScaleMulF64NEON,
}

// The functions below are maps, of what their comment says.

// max(x, 0), NaN for NaN
//
//go:noescape
func vecReluF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// a x
//
//go:noescape
func vecScaleF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// a x + b
//
//go:noescape
func vecAffineF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// b
//
//go:noescape
func vecSetF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// x + y
//
//go:noescape
func vecAddF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// max(x + y, 0)
//
//go:noescape
func vecAddReluF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// x - y
//
//go:noescape
func vecSubF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// x y
//
//go:noescape
func vecMulF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// x / y
//
//go:noescape
func vecDivF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// max(x, y)
//
//go:noescape
func vecMaxF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// e^x
//
//go:noescape
func vecExpF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// erf(x)
//
//go:noescape
func vecErfF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// tanh(x)
//
//go:noescape
func vecTanhF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// x/2 (1 + erf(x/sqrt 2))
//
//go:noescape
func vecGeluF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//
//go:noescape
func vecGeluTanhF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// x / (1 + e^-x)
//
//go:noescape
func vecSiluF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// 1 / (1 + e^-x)
//
//go:noescape
func vecSigmoidF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// gelu(x + y)
//
//go:noescape
func vecAddGeluF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// silu(x + y)
//
//go:noescape
func vecAddSiluF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// silu(x) y
//
//go:noescape
func vecSiluMulF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt nontemporal)

// Those below are of rows, see neonRows.

//go:noescape
func vecSumF64NEON(src *float64, n int) (sum float64)

//go:noescape
func vecLargestF64NEON(src *float64, n int) (largest float64)

//go:noescape
func vecDistanceF64NEON(src, y *float64, n int) (sum float64)

//go:noescape
func vecDeviationsF64NEON(src *float64, n int, c float64) (sum, squares float64)

//go:noescape
func vecExpSumF64NEON(src *float64, n int, scale, largest float64) (sum float64)

//go:noescape
func vecExpsF64NEON(dst, src *float64, n int, scale, largest float64) (sum float64)

//go:noescape
func vecNormalizeF64NEON(dst, src, gamma, beta *float64, n int, mean, scale float64)

//go:noescape
func vecScaleMulF64NEON(dst, src, gamma *float64, n int, scale float64)
