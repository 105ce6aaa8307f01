package main

import (
	"math"
	"math/big"

	"hwcal/bench/cpu/asm/elementary"
)

// targets lists the fits. The lowest coefficient comes first.
//
//   - expQ: e^r - 1 = r + r^2 Q(r). Error relative to e^r - 1, so that tanh keeps
//     its relative precision near 0.
//
//   - exp2m1: 2^f - 1 = f R(f). Error relative to R, so that erf keeps
//     its relative precision near 0. exp2up, exp2upSixteenths: the same above 0, where f = y - floor(y)
//     lies, or what is above a multiple of 1/16.
//
//   - erf: erf(x) = 1 - 2^(-x H(x)), H(x) = -log2(erfc(x))/x. A relative error d
//     of erf comes from an error of x ln2 erfc(x)/erf(x) dH.
//
//   - gelu: gelu(x) = max(x, 0) - |x| 2^-G(|x|), G(x) = 1 - log2 erfc(x/sqrt 2).
//     Error relative to |x|.
//
//   - expm1: e^r - 1 = r R(r). Error relative to e^r.
//
//   - geluRoot: the same as max(x, 0) - |x/2| R(|x/2|)^4, where an error of R counts 2 R^3 times. As that of rounding
//     does, too, that of the fit may be twice as large where R is small. R is 1 at 0, where it loses the least digits,
//     and falls through 0 near the end of the interval, so that nothing is left beyond it. geluTanhRoot: the same of the other
//     form of gelu, which is no entire function: it takes three degrees more.
//
//   - expQEighths, expQSixteenths, exp2m1Eighths: expQ and exp2m1 where n is a multiple of 1/8 or 1/16.
//     Error relative to the power, which is 1 here. exp2upThirtySeconds: what is above a multiple of 1/32.
//
//   - log: atanh(s) = s + s^3 R(s^2). Error relative to atanh(s).
//
//   - tanhStep: tanh by the addition theorem, see elementary.TanhSteps. Relative error.
//
// The polynomials of erf and gelu are in powers of x, badly conditioned for large x
// but exact near 0: what errors do is as large as the weight, which decays faster.
//
// The intervals of erf and gelu end where erfc is below half a unit in the last
// place of 1.
var targets = []target{
	{"expQF32", "(e^r - 1 - r) / r^2 on [-ln2/2, ln2/2].", expQ, expQWeight, -0.34658, 0.34658, 32, 4, 0},
	{"expQF64", "(e^r - 1 - r) / r^2 on [-ln2/2, ln2/2].", expQ, expQWeight, -0.34658, 0.34658, 64, 9, 0},
	{"exp2m1F32", "(2^f - 1) / f on [-1/2, 1/2].", exp2m1, inverse(exp2m1), -0.5, 0.5, 32, 5, 0},
	{"exp2m1F64", "(2^f - 1) / f on [-1/2, 1/2].", exp2m1, inverse(exp2m1), -0.5, 0.5, 64, 10, 0},
	{"exp2upF64", "(2^f - 1) / f on [0, 1].", exp2m1, inverse(exp2m1), 0, 1, 64, 10, 0},
	{"expm1F32", "(e^r - 1) / r on [-ln2/2, ln2/2].", expm1, expm1Weight, -0.34658, 0.34658, 32, 4, 0},
	{"expQEighthsF32", "(e^r - 1 - r) / r^2 on [-ln2/16, ln2/16].", expQ, square, -0.043323, 0.043323, 32, 2, 0},
	{"expQSixteenthsF32", "(e^r - 1 - r) / r^2 on [-ln2/32, ln2/32].", expQ, square, -0.021662, 0.021662, 32, 1, 0},
	{"exp2m1EighthsF32", "(2^f - 1) / f on [-1/16, 1/16].", exp2m1, magnitude, -1. / 16, 1. / 16, 32, 2, 0},
	{"exp2upSixteenthsF32", "(2^f - 1) / f on [0, 1/16].", exp2m1, inverse(exp2m1), 0, 1. / 16, 32, 2, 0},
	{"exp2upThirtySecondsF32", "(2^f - 1) / f on [0, 1/32].", exp2m1, magnitude, 0x1p-20, 1. / 32, 32, 1, 0},
	{"tanhStepF32", "tanh(f 8/27) / f on [-1/2, 1/2], in powers of f^2.", tanhStep, inverse(tanhStep), 0, 1. / 4, 32, 2, 0},
	{"logF32", "(atanh(s)/s - 1) / s^2 on [-1/7, 1/5], in powers of s^2.", logRest, logWeight, 0x1p-20, 1. / 25, 32, 2, 0},
	{"logF64", "(atanh(s)/s - 1) / s^2 on [-1/7, 1/5], in powers of s^2.", logRest, logWeight, 0x1p-20, 1. / 25, 64, 7, 0},
	{"erfF32", "-log2(erfc(x)) / x on [0, 4].", erfExponent, erfWeight, 0, 4, 32, 9, 0},
	{"erfF64", "-log2(erfc(x)) / x on [0, 6].", erfExponent, erfWeight, 0, 6, 64, 24, 0},
	{"geluF32", "1 - log2(erfc(x / sqrt(2))) on [0, 5.75].", geluExponent, geluWeight, 0, 5.75, 32, 8, 0},
	{"geluRootF32", "erfc(x sqrt(2))^(1/4) on [0, 2.839].", geluRoot, geluRootWeight, 0, 2.839, 32, 8, 2.844},
	{"geluTanhRootF32", "(2 / (1 + e^(2 z)))^(1/4), z = sqrt(2/pi) (2 x + 0.044715 (2 x)^3) on [0, 2.645].", geluTanhRoot, geluTanhRootWeight, 0, 2.645, 32, 11, 2.65},
	{"geluF64", "1 - log2(erfc(x / sqrt(2))) on [0, 8.5].", geluExponent, geluWeight, 0, 8.5, 64, 23, 0},
}

// pieces lists what is fitted piece by piece, for both forms of gelu: gelu(x) = max(x, 0) - |x| T(|x|).
// The error of T is that of gelu relative to |x|. The last piece begins where T is about a unit in the
// last place of 1.
var pieces = []piecewise{
	{"geluTail16F32", "erfc(x / sqrt(2)) / 2 by pieces of 5.25/14.5.", geluTail, 16, 5.25 / 14.5, 32, 4},
	{"geluTanhTail16F32", "1 / (1 + e^(2 sqrt(2/pi) (x + 0.044715 x^3))) by pieces of 4.95/14.5.", geluTanhTail, 16, 4.95 / 14.5, 32, 4},
}

func geluTail(x *big.Float) *big.Float {
	return quo(erfc(quo(x, new(big.Float).SetPrec(precision).Sqrt(num(2)))), num(2))
}

func geluTanhTail(x *big.Float) *big.Float {
	c := mul(num(2), new(big.Float).SetPrec(precision).Sqrt(quo(num(2), pi())))
	cubic := mul(num(0.044715), mul(x, mul(x, x)))
	return quo(num(1), add(num(1), exp(mul(c, add(x, cubic)))))
}

func inverse(f func(*big.Float) *big.Float) func(*big.Float) *big.Float {
	return func(x *big.Float) *big.Float { return quo(num(1), f(x)) }
}

// expQ and expm1 are never asked for at 0, nor a weight that is 0 there: the grid is even.
func expQ(r *big.Float) *big.Float {
	return quo(sub(sub(exp(r), num(1)), r), mul(r, r))
}

func expQWeight(r *big.Float) *big.Float {
	return zero().Abs(quo(mul(r, r), sub(exp(r), num(1))))
}

func expm1(r *big.Float) *big.Float { return quo(sub(exp(r), num(1)), r) }

func expm1Weight(r *big.Float) *big.Float { return zero().Abs(quo(r, exp(r))) }

func square(r *big.Float) *big.Float { return mul(r, r) }

func magnitude(f *big.Float) *big.Float { return zero().Abs(f) }

func exp2m1(f *big.Float) *big.Float {
	if f.Sign() == 0 {
		return ln2
	}
	return quo(sub(exp(mul(f, ln2)), num(1)), f)
}

func tanhStep(square *big.Float) *big.Float {
	step := quo(num(1), num(elementary.TanhSteps))
	if square.Sign() == 0 {
		return step
	}
	f := new(big.Float).SetPrec(precision).Sqrt(square)
	e := exp(mul(num(2), mul(f, step)))
	return quo(quo(sub(e, num(1)), add(e, num(1))), f)
}

// atanhOverS is that of the root of a square.
func atanhOverS(square *big.Float) *big.Float {
	s := new(big.Float).SetPrec(precision).Sqrt(square)
	return quo(log(quo(add(num(1), s), sub(num(1), s))), mul(num(2), s))
}

func logRest(square *big.Float) *big.Float { return quo(sub(atanhOverS(square), num(1)), square) }

func logWeight(square *big.Float) *big.Float { return quo(square, atanhOverS(square)) }

func erfExponent(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return quo(quo(num(2), sqrtPi), ln2)
	}
	return quo(neg(log(erfc(x))), mul(x, ln2))
}

func erfWeight(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return quo(mul(ln2, sqrtPi), num(2))
	}
	c := erfc(x)
	return quo(mul(mul(x, ln2), c), sub(num(1), c))
}

func geluExponent(x *big.Float) *big.Float {
	z := quo(x, new(big.Float).SetPrec(precision).Sqrt(num(2)))
	return sub(num(1), quo(log(erfc(z)), ln2))
}

func geluRoot(x *big.Float) *big.Float { return root(geluTail, x) }

func geluRootWeight(x *big.Float) *big.Float { return rootWeight(geluRoot(x)) }

func geluTanhRoot(x *big.Float) *big.Float { return root(geluTanhTail, x) }

func geluTanhRootWeight(x *big.Float) *big.Float { return rootWeight(geluTanhRoot(x)) }

// root is the fourth one of twice the tail of twice x.
func root(tail func(*big.Float) *big.Float, x *big.Float) *big.Float {
	root := mul(num(2), tail(mul(num(2), x)))
	for range 2 {
		root = new(big.Float).SetPrec(precision).Sqrt(root)
	}
	return root
}

func rootWeight(r *big.Float) *big.Float { return mul(mul(r, mul(r, r)), add(num(1), r)) }

func geluWeight(x *big.Float) *big.Float {
	g, _ := geluExponent(x).Float64()
	return num(math.Ln2 * math.Exp2(-g))
}
