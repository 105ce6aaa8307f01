//go:build linux && amd64 && cgo

package emulate

import (
	"math"
	"math/big"
)

// roundTo rounds x to a multiple of 2^exponent, ties to even.
func roundTo(x *big.Float, exponent int) float64 {
	scaled := new(big.Float).SetMantExp(x, -exponent)
	whole, _ := scaled.Int(nil)
	rest, _ := new(big.Float).Sub(scaled, new(big.Float).SetInt(whole)).Float64()
	n := whole.Int64()
	if r := math.Abs(rest); r > 0.5 || r == 0.5 && n%2 != 0 {
		n += int64(x.Sign())
	}
	return math.Ldexp(float64(n), exponent)
}

// exactFMA is a*b + c without rounding; ok is false if that is not a number.
func exactFMA(a, b, c float64) (x *big.Float, ok bool) {
	if y := a*b + c; math.IsNaN(y) || math.IsInf(y, 0) {
		return nil, false
	}
	x = new(big.Float).SetPrec(1000)
	x.Mul(big.NewFloat(a).SetPrec(500), big.NewFloat(b).SetPrec(500))
	return x.Add(x, big.NewFloat(c)), true
}

// flush makes denormal numbers zero.
func flush(x float32) float32 {
	if math.Abs(float64(x)) < 0x1p-126 {
		return float32(math.Copysign(0, float64(x)))
	}
	return x
}

// flushedFMA is a*b + c, with one rounding and without denormal numbers.
func flushedFMA(a, b, c float32) float32 {
	a, b, c = flush(a), flush(b), flush(c)
	x, ok := exactFMA(float64(a), float64(b), float64(c))
	if !ok {
		return float32(float64(a)*float64(b) + float64(c))
	}
	x.SetPrec(24) // the smallest exponent does not limit this rounding
	f, _ := x.Float32()
	if min := big.NewFloat(0x1p-126); new(big.Float).Abs(x).Cmp(min) < 0 {
		f = float32(math.Copysign(0, float64(f)))
	}
	return f
}

func fromBF16(x uint16) float32 { return math.Float32frombits(uint32(x) << 16) }

// toBF16 finds the nearer of the two BF16 numbers around x.
func toBF16(x float32) uint16 {
	bits := math.Float32bits(flush(x))
	down, up := uint16(bits>>16), uint16(bits>>16)+1
	if x != x {
		return down | 0x40
	}
	switch below := bits & 0xFFFF; {
	case below > 0x8000, below == 0x8000 && up%2 == 0:
		return up
	}
	return down
}

func fromFP16(x uint16) float64 {
	sign := 1 - 2*float64(x>>15)
	exponent, fraction := int(x>>10&31), float64(x&1023)
	switch exponent {
	case 0:
		return math.Copysign(fraction*0x1p-24, sign)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// toFP16 rounds to the nearest half, of a number that is not zero.
func toFP16(x *big.Float) uint16 {
	exponent := max(x.MantExp(nil)-11, -24)
	magnitude := math.Abs(roundTo(x, exponent))
	var bits uint16
	switch {
	case magnitude >= 65520:
		bits = 31 << 10
	case magnitude < 0x1p-14:
		bits = uint16(magnitude * 0x1p24)
	default:
		fraction, e := math.Frexp(magnitude)
		bits = uint16(e+14)<<10 + uint16(fraction*2048) - 1024
	}
	if x.Signbit() {
		bits |= 0x8000
	}
	return bits
}

// fp16FMA is a*b + c with one rounding to half.
func fp16FMA(a, b, c float64) uint16 {
	x, ok := exactFMA(a, b, c)
	switch y := a*b + c; {
	case math.IsNaN(y):
		return 0x7E00
	case math.IsInf(y, 0):
		x, ok = big.NewFloat(math.Copysign(1e9, y)), true
		return toFP16(x)
	case ok && x.Sign() == 0:
		return uint16(math.Float64bits(y) >> 63 << 15)
	}
	return toFP16(x)
}
