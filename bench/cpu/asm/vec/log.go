package main

import (
	"math"

	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/elementary"
)

// log is ln(x) = n ln2 + 2 atanh(s), s = (m-1)/(m+1), of a positive normal number x = 2^n m with 3/4 <= m < 3/2: nothing
// cancels near 1. atanh(s) = s + s^3 R(s^2). NaN stays.
func (g *gen) log(x reg.Register) reg.Register {
	exponent, n, m := g.vector(), g.vector(), g.vector()
	g.emit("VPADD"+g.whole(), g.biased()-g.num(elementary.LogLeast), x, exponent)
	g.emit("VPSRL"+g.whole(), immediate(g.Mantissa), exponent, exponent) // n + bias
	g.emit("VPSLL"+g.whole(), immediate(g.Mantissa), exponent, m)
	g.emit("VPSUB"+g.whole(), m, x, m)
	g.emit("VPADD"+g.whole(), g.biased(), m, m)
	// An integer in the lowest bits of 2^mantissa is added to it.
	whole := math.Ldexp(1, g.Mantissa)
	g.op("VOR", g.num(whole), exponent, n)
	g.op("VSUB", g.num(whole+float64(g.Bias)), n, n)
	s, d, square := g.vector(), g.vector(), g.vector()
	g.op("VADD", g.num(1), m, d)
	g.op("VSUB", g.num(1), m, s)
	g.op("VDIV", d, s, s)
	g.op("VMUL", s, s, square)
	r := g.horner(g.Log, square)
	g.op("VMUL", square, r, r)
	g.op("VADD", s, s, s)
	g.op("VFMADD213", s, s, r)
	g.op("VFMADD231", g.num(math.Ln2), n, r)
	g.op("VSUB", x, x, x) // 0, or NaN
	g.op("VADD", x, r, r)
	return r
}

// biased is 0 as the exponent of a number.
func (g *gen) biased() konst { return konst(uint64(g.Bias) << g.Mantissa) }
