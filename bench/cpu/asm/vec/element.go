package main

import "math"

// element is an element type with the facts of its format and its polynomials.
type element struct {
	name, goType string
	size         int    // in bytes
	mnemonic     string // last letter: S or D
	mantissa     int    // bits after the point
	bias         int    // of the exponent

	// ln(2) in two parts, of which the first has so few bits that its product
	// with an exponent is exact.
	ln2Hi, ln2Lo float64
	// The arguments beyond which exp is +Inf or 0.
	expMax, expMin float64
	// The argument at which tanh is 1 to all digits.
	tanhMax float64

	expQ, exp2m1, exp2up, erf, gelu []float64
	erfMax, geluFitted              float64

	// Of float32 alone, for lookups.
	expQEighths, exp2m1Eighths []float64
	geluTail, geluTanhTail     pieces
}

var float32s = element{
	name: "f32", goType: "float32", size: 4, mnemonic: "S", mantissa: 23, bias: 127,
	ln2Hi: 355.0 / 512, ln2Lo: math.Ln2 - 355.0/512,
	expMax: 89, expMin: -104, tanhMax: 10,
	expQ: expQF32, exp2m1: exp2m1F32, exp2up: exp2upF32, erf: erfF32, erfMax: 4, gelu: geluF32, geluFitted: 5.75,
	expQEighths: expQEighthsF32, exp2m1Eighths: exp2m1EighthsF32,
	geluTail: geluTailF32, geluTanhTail: geluTanhTailF32,
}

var float64s = element{
	name: "f64", goType: "float64", size: 8, mnemonic: "D", mantissa: 52, bias: 1023,
	ln2Hi: 0x162e42fee0p-37, ln2Lo: math.Ln2 - 0x162e42fee0p-37,
	expMax: 710, expMin: -746, tanhMax: 20,
	expQ: expQF64, exp2m1: exp2m1F64, exp2up: exp2upF64, erf: erfF64, erfMax: 6, gelu: geluF64, geluFitted: 8.5,
}

// magic rounds to an integer when added, and leaves the biased exponent of 2^n
// in the lowest bits: (magic + n) << mantissa is 2^n for -bias < n <= bias, and 0
// for n = -bias.
func (e element) magic() float64 {
	return math.Ldexp(1.5, e.mantissa) + float64(e.bias)
}

// flushed is the argument at which the exponent of gelu, continued beyond the
// fitted interval, reaches the bias: there 2^-G is 0 and so is the tail of gelu.
func (e element) flushed() float64 {
	return bisect(e.geluFitted, 2*e.geluFitted, func(x float64) bool {
		g := 0.0
		for i := len(e.gelu) - 1; i >= 0; i-- {
			g = g*x + e.gelu[i]
		}
		return g < float64(e.bias)
	})
}

// bisect is the largest number from lo to hi for which it holds, as it does below.
func bisect(lo, hi float64, holds func(x float64) bool) float64 {
	for range 60 {
		mid := (lo + hi) / 2
		if holds(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
