package main

import (
	"math"

	"hwcal/bench/cpu/asm/elementary"
)

// These are the algorithms of ../vec/math.go, without lookups. Where a function takes x, it overwrites it.

func (t target) format() elementary.Format {
	if t.size == 4 {
		return elementary.Float32
	}
	return elementary.Float64
}

// horner is the polynomial c in x, the lowest coefficient first.
func (b *batch) horner(c []float64, x vector) vector {
	p := b.loaded(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		q := b.loaded(c[i])
		b.op("fmla", q, p, x)
		b.free(p)
		p = q
	}
	return p
}

// poly is Horner's rule, for long polynomials on even and odd coefficients by themselves: two chains of
// half the latency.
func (b *batch) poly(c []float64, x vector) vector {
	const long = 9
	if len(c) < long {
		return b.horner(c, x)
	}
	var half [2][]float64
	for i, v := range c {
		half[i%2] = append(half[i%2], v)
	}
	square := b.fresh()
	b.op("fmul", square, x, x)
	even, odd := b.horner(half[0], square), b.horner(half[1], square)
	b.op("fmla", even, odd, x)
	b.free(square, odd)
	return even
}

// shift turns magic + n into 2^n, for -bias <= n <= bias.
func (b *batch) shift(t vector) {
	for u := range b.count {
		b.do("VSHL $%d, V%d.%s, V%[2]d.%[3]s", b.format().Mantissa, t.at(u), b.lanes())
	}
}

// clampMagnitude is min(|x|, limit), and NaN for NaN.
func (b *batch) clampMagnitude(x vector, limit float64) vector {
	a := b.fresh()
	b.unary("fabs", a, x)
	b.op("fmin", a, a, b.num(limit))
	return a
}

// split returns magic + n and n = round(x/ln2), and turns x into r = x - n ln2.
func (b *batch) split(x vector) (t, n vector) {
	e := b.format()
	t, n = b.loaded(e.Magic()), b.fresh()
	b.op("fmla", t, x, b.num(math.Log2E))
	b.op("fsub", n, t, b.num(e.Magic()))
	b.op("fmls", x, n, b.num(e.Ln2Hi))
	b.op("fmls", x, n, b.num(e.Ln2Lo))
	return t, n
}

// splitBinary returns magic + n, n = round(y), and turns y into f = y - n.
func (b *batch) splitBinary(y vector) (t vector) {
	magic := b.num(b.format().Magic())
	t = b.fresh()
	n := b.fresh()
	b.op("fadd", t, y, magic)
	b.op("fsub", n, t, magic)
	b.op("fsub", y, y, n)
	b.free(n)
	return t
}

// expReduced is e^r = 1 + r (1 + r Q(r)).
func (b *batch) expReduced(r vector) vector {
	return b.horner(append([]float64{1, 1}, b.format().ExpQ...), r)
}

// exp is e^x with gradual underflow: n exceeds the range of one factor, and 2^n is
// 2^h 2^(n-h), h = round(n/2).
func (b *batch) exp(x vector) vector {
	e := b.format()
	b.op("fmin", x, x, b.num(e.ExpMax))
	b.op("fmax", x, x, b.num(e.ExpMin))
	t, n := b.split(x)
	b.free(t)
	p := b.expReduced(x)
	h, rest, magic := b.loaded(e.Magic()), b.fresh(), b.num(e.Magic())
	b.op("fmla", h, n, b.num(0.5))
	b.op("fsub", rest, h, magic)
	b.op("fsub", rest, n, rest)
	b.op("fadd", rest, rest, magic)
	b.shift(h)
	b.shift(rest)
	b.op("fmul", p, p, h)
	b.op("fmul", p, p, rest)
	b.free(x, n, h, rest)
	return p
}

// power is e^x where shift gives 2^n.
func (b *batch) power(x vector) vector {
	t, n := b.split(x)
	b.free(n)
	p := b.expReduced(x)
	b.shift(t)
	b.op("fmul", p, p, t)
	b.free(x, t)
	return p
}

// exp2 is 2^y where shift gives 2^n.
func (b *batch) exp2(y vector) vector {
	t := b.splitBinary(y)
	p := b.horner(append([]float64{1}, b.format().Exp2m1...), y)
	b.shift(t)
	b.op("fmul", p, p, t)
	b.free(y, t)
	return p
}

// lessOne is E = 2^n (1 + s) - 1 of t = magic + n, as 2^n s + (2^n - 1): small ones keep their relative
// precision.
func (b *batch) lessOne(t, s vector) vector {
	b.shift(t)
	e := b.fresh()
	b.op("fsub", e, t, b.num(1))
	b.op("fmla", e, t, s)
	b.free(t, s)
	return e
}

// withSign is |y| with the sign of x.
func (b *batch) withSign(y, x vector) vector {
	for u := range b.count {
		b.do("VBIT V%d.B16, V%d.B16, V%d.B16", b.signBit().at(u), x.at(u), y.at(u))
	}
	b.free(x)
	return y
}

// tanh is E/(E+2) with E = e^2|x| - 1.
func (b *batch) tanh(x vector) vector {
	a := b.clampMagnitude(x, b.format().TanhMax)
	b.op("fadd", a, a, a)
	t, n := b.split(a)
	b.free(n)
	q, square := b.horner(b.format().ExpQ, a), b.fresh()
	b.op("fmul", square, a, a)
	b.op("fmla", a, square, q)
	b.free(q, square)
	e, d := b.lessOne(t, a), b.fresh()
	b.op("fadd", d, e, b.num(2))
	b.op("fdiv", e, e, d)
	b.free(d)
	return b.withSign(e, x)
}

// erf is 1 - 2^y with y = -|x| H(|x|) <= 0.
func (b *batch) erf(x vector) vector {
	a := b.clampMagnitude(x, b.format().ErfMax)
	y := b.poly(elementary.Negated(b.format().Erf), a)
	b.op("fmul", y, y, a)
	b.free(a)
	t := b.splitBinary(y)
	s := b.horner(b.format().Exp2m1, y)
	b.op("fmul", s, s, y)
	b.free(y)
	return b.withSign(b.lessOne(t, s), x)
}

// relu is max(x, 0), and NaN for NaN.
func (b *batch) relu(x vector) { b.op("fmax", x, x, b.num(0)) }

// gelu is max(x, 0) - |x| 2^-G(|x|).
func (b *batch) gelu(x vector) vector {
	a := b.clampMagnitude(x, b.format().Flushed())
	p := b.exp2(b.poly(elementary.Negated(b.format().Gelu), a))
	b.relu(x)
	b.op("fmls", x, p, a)
	b.free(p, a)
	return x
}

// silu is max(x, 0) - |x| t / (1 + t) with t = e^-|x|.
func (b *batch) silu(x vector) vector {
	a := b.clampMagnitude(x, b.format().SiluMax())
	r := b.fresh()
	b.unary("fneg", r, a)
	return b.gated(x, a, b.power(r))
}

// geluTanh is max(x, 0) - |x| t / (1 + t) with t = 2^(|x| (c1 + c3 x^2)).
func (b *batch) geluTanh(x vector) vector {
	c1, c3 := elementary.GeluTanhExponent()
	a := b.clampMagnitude(x, b.format().GeluTanhMax())
	square := b.fresh()
	b.op("fmul", square, a, a)
	r := b.horner([]float64{c1, c3}, square)
	b.free(square)
	b.op("fmul", r, r, a)
	return b.gated(x, a, b.exp2(r))
}

// gated is max(x, 0) - a t / (1 + t).
func (b *batch) gated(x, a, t vector) vector {
	d := b.fresh()
	b.op("fadd", d, t, b.num(1))
	b.op("fdiv", t, t, d)
	b.relu(x)
	b.op("fmls", x, a, t)
	b.free(a, t, d)
	return x
}

// sigmoid is 1 / (1 + e^-x).
func (b *batch) sigmoid(x vector) vector {
	limit := b.format().SigmoidMax()
	b.op("fmin", x, x, b.num(limit))
	b.op("fmax", x, x, b.num(-limit))
	b.unary("fneg", x, x)
	p := b.power(x)
	b.op("fadd", p, p, b.num(1))
	b.op("fdiv", p, b.num(1), p)
	return p
}
