package main

import (
	"math"
	"math/big"
)

const precision = 320

var (
	ln2    = log(num(2))
	sqrtPi = new(big.Float).SetPrec(precision).Sqrt(pi())
)

func num(v float64) *big.Float       { return new(big.Float).SetPrec(precision).SetFloat64(v) }
func zero() *big.Float               { return new(big.Float).SetPrec(precision) }
func add(a, b *big.Float) *big.Float { return zero().Add(a, b) }
func sub(a, b *big.Float) *big.Float { return zero().Sub(a, b) }
func mul(a, b *big.Float) *big.Float { return zero().Mul(a, b) }
func quo(a, b *big.Float) *big.Float { return zero().Quo(a, b) }
func neg(a *big.Float) *big.Float    { return zero().Neg(a) }
func negligible(t, s *big.Float) bool {
	return t.Sign() == 0 || t.MantExp(nil) < s.MantExp(nil)-precision
}

// exp sums the Taylor series at x/2^k and squares k times.
func exp(x *big.Float) *big.Float {
	const k = 16
	y := zero().SetMantExp(x, -k)
	sum, term := num(1), num(1)
	for i := 1; ; i++ {
		term = quo(mul(term, y), num(float64(i)))
		if negligible(term, sum) {
			break
		}
		sum = add(sum, term)
	}
	for range k {
		sum = mul(sum, sum)
	}
	return sum
}

// log is Halley's iteration on exp; each step triples the correct digits.
func log(x *big.Float) *big.Float {
	mantissa := zero()
	e := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	y := num(math.Log(m) + float64(e)*math.Ln2)
	for range 4 {
		t := exp(y)
		y = add(y, mul(num(2), quo(sub(x, t), add(x, t))))
	}
	return y
}

// pi is Machin's 16 atan(1/5) - 4 atan(1/239).
func pi() *big.Float {
	atanInverse := func(n float64) *big.Float {
		power := quo(num(1), num(n))
		sum := zero()
		for i := 1; ; i += 2 {
			term := quo(power, num(float64(i)))
			if i > 1 && negligible(term, sum) {
				return sum
			}
			if i%4 == 3 {
				term = neg(term)
			}
			sum = add(sum, term)
			power = quo(power, num(n*n))
		}
	}
	return sub(mul(num(16), atanInverse(5)), mul(num(4), atanInverse(239)))
}

// erfc is 1 - 2/sqrt(pi) e^(-x^2) sum 2^i x^(2i+1) / (1 3 5 ... 2i+1), a series of
// positive terms; the subtraction costs 53 bits at x = 6.
func erfc(x *big.Float) *big.Float {
	square := mul(x, x)
	sum, term := zero().Set(x), zero().Set(x)
	for i := 1; ; i++ {
		term = quo(mul(mul(term, num(2)), square), num(float64(2*i+1)))
		if negligible(term, sum) {
			break
		}
		sum = add(sum, term)
	}
	return sub(num(1), quo(mul(mul(num(2), sum), exp(neg(square))), sqrtPi))
}
