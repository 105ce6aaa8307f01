package main

import (
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/elementary"
)

// Activations: functions of x that are near x or 1 for large x, and near 0 for small ones, or for those below 0.

// relu is max(x, 0), and NaN for NaN. 0 must be pinned.
func (g *gen) relu(x reg.Register) reg.Register {
	r := g.vector()
	g.op("VMAX", x, g.pinned[uint64(g.num(0))], r)
	return r
}

// tailed is max(x, 0) - |x| T(|x|) in fp32, and nil in fp64: with a T by pieces where the vector of a lookup is long,
// or else as the fourth power of a polynomial. With AVX2 that takes a Zen 3 less time than lookups from vectors of
// eight, or for gelu what makes an exponential: 7 cycles, 15 and 11 for eight numbers.
func (g *gen) tailed(tail elementary.Pieces, root elementary.Root, x reg.Register) reg.Register {
	switch {
	case g.looksUpLong():
		return g.pieced(tail, x)
	case g.size == 4:
		return g.rooted(root, x)
	}
	return nil
}

// tailedPins are what tailed needs in registers, and in fp64 the others.
func (g *gen) tailedPins(tail elementary.Pieces, root elementary.Root, others ...konst) (pins []konst, held [][]uint64) {
	switch {
	case g.looksUpLong():
		return g.piecedPins(tail)
	case g.size == 4:
		return []konst{g.num(0), g.num(root.Below0())}, nil
	}
	return others, nil
}

// rooted is max(x, 0) - |x/2| R(|x/2|)^4, where R is 0 where it falls below.
func (g *gen) rooted(root elementary.Root, x reg.Register) reg.Register {
	half := g.vector()
	g.op("VMUL", g.num(0.5), x, half)
	a := g.clampMagnitude(half, g.num(root.Below0()))
	p := g.horner(root.Coefficients, a)
	g.op("VMAX", p, g.pinned[uint64(g.num(0))], p)
	g.op("VMUL", p, p, p)
	g.op("VMUL", p, p, p)
	r := g.relu(x)
	g.op("VFNMADD231", p, a, r)
	return r
}

// geluOf is x/2 (1 + erf(x / sqrt 2)): max(x, 0) - |x| 2^-G(|x|), or in fp32 that of tailed.
func (g *gen) geluOf(x reg.Register) reg.Register {
	if r := g.tailed(g.GeluTail, g.GeluRoot, x); r != nil {
		return r
	}
	a := g.clampMagnitude(x, g.num(g.Flushed()))
	h := g.poly(elementary.Negated(g.Gelu), a)
	p := g.exp2(h)
	r := g.relu(x)
	g.op("VFNMADD231", p, a, r)
	return r
}

// geluPins are what it needs in registers.
func (g *gen) geluPins() (pins []konst, held [][]uint64) {
	return g.tailedPins(g.GeluTail, g.GeluRoot, g.num(0), g.num(g.Magic()), g.num(g.Flushed()))
}

// geluTanh is max(x, 0) - |x| t / (1 + t) with t = e^-|z| = 2^(|x| (c1 + c3 x^2)) and
// z = 2 sqrt(2/pi) (x + 0.044715 x^3); in fp32 that of tailed.
func (g *gen) geluTanh(x reg.Register) reg.Register {
	if r := g.tailed(g.GeluTanhTail, g.GeluTanhRoot, x); r != nil {
		return r
	}
	a := g.clampMagnitude(x, g.num(g.GeluTanhMax()))
	c1, c3 := elementary.GeluTanhExponent()
	square, y := g.vector(), g.vector()
	g.op("VMUL", a, a, square)
	g.set(g.num(c3), y)
	g.op("VFMADD213", g.num(c1), square, y)
	g.op("VMUL", a, y, y)
	t := g.exp2(y)
	g.op("VMUL", t, a, a)
	q := g.oneOver1Plus(t)
	r := g.relu(x)
	g.op("VFNMADD231", q, a, r)
	return r
}

// geluTanhPins are what it needs in registers.
func (g *gen) geluTanhPins() (pins []konst, held [][]uint64) {
	return g.tailedPins(g.GeluTanhTail, g.GeluTanhRoot, g.num(0), g.num(1), g.powerMagic(), g.num(g.GeluTanhMax()))
}

// siluOf is x / (1 + e^-x), and 0 where e^-x is no normal number.
func (g *gen) siluOf(x reg.Register) reg.Register {
	if !g.wide() {
		x, t := g.gate(x)
		g.op("VADD", g.num(1), t, t)
		g.op("VDIV", t, x, t)
		return t
	}
	least, most := g.pinned[uint64(g.num(-g.SigmoidMax()))], g.pinned[uint64(g.num(g.SigmoidMax()))]
	bounded := g.vector()
	g.op("VMAX", x, least, bounded)
	g.op("VMIN", bounded, most, bounded)
	t := g.power(bounded, minus)
	g.op("VADD", g.num(1), t, t)
	const notLessOrEqual = 6 // which NaN is
	above := g.K()
	g.op("VCMP", immediate(notLessOrEqual), least, x, above)
	g.emit("VDIVP"+g.mnemonic+"_Z", t, x, above, t)
	return t
}

// sigmoid is 1 / (1 + e^-x).
func (g *gen) sigmoid(x reg.Register) reg.Register {
	if !g.wide() {
		_, t := g.gate(x)
		return g.oneOver1Plus(t)
	}
	g.op("VMIN", x, g.pinned[uint64(g.num(g.SigmoidMax()))], x)
	g.op("VMAX", x, g.pinned[uint64(g.num(-g.SigmoidMax()))], x)
	return g.oneOver1Plus(g.power(x, minus))
}

// gate is for AVX2: it bounds x and returns it, with e^-x where that is a normal number, or +Inf at the lower bound.
func (g *gen) gate(x reg.Register) (bounded, power reg.Register) {
	bounded = g.vector()
	r := g.vector()
	g.op("VMAX", x, g.register(g.num(g.GateMin())), bounded)
	g.op("VMIN", bounded, g.register(g.num(g.SigmoidMax())), r)
	if g.size == 8 {
		return bounded, g.power(r, minus)
	}
	// Less precise than power, as 1 / (1 + e^-x) may be, and without a lookup, which takes the time of two products.
	t, _ := g.split(r, g.num(g.Magic()), minus)
	p := g.horner(append([]float64{1}, g.Expm1...), r)
	g.shift(t)
	g.op("VMUL", t, p, p)
	return bounded, p
}

// gatePins are what sigmoid and silu need in registers, and some of what they would load for each vector, where there
// is room.
func (g *gen) gatePins() (pins []konst, held [][]uint64) {
	if !g.wide() {
		return []konst{g.num(1), g.num(g.Magic())}, nil
	}
	pins, held = g.powerPins()
	return append([]konst{g.num(g.SigmoidMax()), g.num(-g.SigmoidMax()), g.num(1)}, pins...), held
}

// oneOver1Plus is 1 / (1 + t), and overwrites t; 1 must be pinned. A division goes beside all else, in a unit of its own:
// Zen 4 takes 6 cycles for 16 numbers, and an estimate, made as good, as many of the multipliers' that the exponential
// waits for.
func (g *gen) oneOver1Plus(t reg.Register) reg.Register {
	g.op("VADD", g.num(1), t, t)
	g.op("VDIV", t, g.pinned[uint64(g.num(1))], t)
	return t
}
