// Package elementary is what the generators of element-wise kernels share: polynomials for exp, erf,
// tanh and both forms of GELU, and the facts of the formats they were fitted for.
package elementary

import (
	"math"
	"slices"
)

// Format is a floating-point format with its polynomials.
type Format struct {
	Mantissa int // bits after the point
	Bias     int // of the exponent

	// ln(2) in two parts, of which the first has so few bits that its product
	// with an exponent is exact.
	Ln2Hi, Ln2Lo float64
	// The arguments beyond which exp is +Inf or 0.
	ExpMax, ExpMin float64
	// The argument at which tanh is 1 to all digits.
	TanhMax float64

	ExpQ, Exp2m1, Log, Erf, Gelu []float64
	ErfMax, geluFitted           float64

	// Of Float64 alone.
	Exp2up []float64

	// Of Float32 alone.
	Expm1                  []float64
	GeluRoot, GeluTanhRoot Root

	// Of Float32 alone, for lookups.
	ExpQEighths, ExpQSixteenths, Exp2m1Eighths, TanhStep []float64
	GeluTail, GeluTanhTail                               Pieces
	Exp2upParts                                          map[int][]float64 // by the number of powers
}

var Float32 = Format{
	Mantissa: 23, Bias: 127,
	Ln2Hi: 355.0 / 512, Ln2Lo: math.Ln2 - 355.0/512,
	ExpMax: 89, ExpMin: -104, TanhMax: 10,
	ExpQ: expQF32, Exp2m1: exp2m1F32, Log: logF32, Erf: erfF32, ErfMax: 4, Gelu: geluF32, geluFitted: 5.75,
	ExpQEighths: expQEighthsF32, ExpQSixteenths: expQSixteenthsF32, Exp2m1Eighths: exp2m1EighthsF32,
	Exp2upParts: map[int][]float64{16: exp2upSixteenthsF32, 32: exp2upThirtySecondsF32}, TanhStep: tanhStepF32,
	Expm1: expm1F32, GeluRoot: Root{geluRootF32, 2.844}, GeluTanhRoot: Root{geluTanhRootF32, 2.65},
	GeluTail: geluTail16F32, GeluTanhTail: geluTanhTail16F32,
}

var Float64 = Format{
	Mantissa: 52, Bias: 1023,
	Ln2Hi: 0x162e42fee0p-37, Ln2Lo: math.Ln2 - 0x162e42fee0p-37,
	ExpMax: 710, ExpMin: -746, TanhMax: 20,
	ExpQ: expQF64, Exp2m1: exp2m1F64, Exp2up: exp2upF64, Log: logF64, Erf: erfF64, ErfMax: 6, Gelu: geluF64, geluFitted: 8.5,
}

// LogLeast is the least m of x = 2^n m whose logarithm is n ln2 + ln m.
const LogLeast = 3. / 4

// TanhSteps is the number of steps in 1 between arguments whose tanh is looked up: at 31 steps it is 1 to all digits of
// Float32. What is between comes by tanh(a + b) = (tanh a + tanh b) / (1 + tanh a tanh b).
const TanhSteps = 27. / 8

// Pieces is a function of x >= 0 by pieces, of which the last is 0: see fit/pieces.go.
type Pieces struct {
	Width        float64
	Coefficients [][]float64
}

// Last is an x on the last piece.
func (p Pieces) Last() float64 { return p.Width * float64(len(p.Coefficients[0])-1) }

// Magic rounds to an integer when added, and leaves the biased exponent of 2^n
// in the lowest bits: (Magic + n) << Mantissa is 2^n for -Bias < n <= Bias, and 0
// for n = -Bias.
func (f Format) Magic() float64 { return math.Ldexp(1.5, f.Mantissa) + float64(f.Bias) }

// PartsMagic rounds to a multiple of 1/parts, a power of two, when added, and leaves the number of parts
// in the lowest bits, below as many zeros as shifting them into the exponent takes.
func (f Format) PartsMagic(parts int) float64 {
	return math.Ldexp(1.5, f.Mantissa) / float64(parts)
}

// SigmoidMax is where e^x and its inverse are still normal numbers.
func (f Format) SigmoidMax() float64 { return math.Floor(float64(f.Bias-1) * math.Ln2) }

// GateMin is where 2^n of e^-x is +Inf.
func (f Format) GateMin() float64 { return -math.Ceil(float64(f.Bias+1) * math.Ln2) }

// SiluMax is where 2^n of e^-x is 0.
func (f Format) SiluMax() float64 { return float64(f.Bias) * math.Ln2 }

// Flushed is the argument at which the exponent of gelu, continued beyond the
// fitted interval, reaches the bias: there 2^-G is 0 and so is the tail of gelu.
func (f Format) Flushed() float64 {
	return bisect(f.geluFitted, 2*f.geluFitted, func(x float64) bool { return polynomial(f.Gelu, x) < float64(f.Bias) })
}

// Root is the polynomial R of max(x, 0) - |x/2| R(|x/2|)^4, and where it was 0 before it was rounded.
type Root struct {
	Coefficients []float64
	zero         float64
}

// Below0 is where the root has fallen below 0, by more than its rounding errors.
func (r Root) Below0() float64 {
	const most = 1. / 1024
	return bisect(r.zero-1./16, r.zero+1./16, func(x float64) bool { return polynomial(r.Coefficients, x) > -most })
}

// polynomial is that of the coefficients, the lowest first.
func polynomial(c []float64, x float64) float64 {
	y := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		y = y*x + c[i]
	}
	return y
}

// GeluTanhExponent is that of e^-z = 2^(x (c1 + c3 x^2)), z = 2 sqrt(2/pi) (x + 0.044715 x^3).
func GeluTanhExponent() (c1, c3 float64) {
	c1 = -2 * math.Sqrt(2/math.Pi) * math.Log2E
	return c1, 0.044715 * c1
}

// GeluTanhMax is where 2^n of e^-z is 0.
func (f Format) GeluTanhMax() float64 {
	c1, c3 := GeluTanhExponent()
	return bisect(0, 100, func(x float64) bool { return x*(c1+c3*x*x) > -float64(f.Bias) })
}

// Negated are the coefficients of -p.
func Negated(c []float64) []float64 {
	c = slices.Clone(c)
	for i := range c {
		c[i] = -c[i]
	}
	return c
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
