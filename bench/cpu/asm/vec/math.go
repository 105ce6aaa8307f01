package main

import (
	"math"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/elementary"
)

// exp and tanh go through e^x = 2^n e^r, n = round(x/ln2), r = x - n ln2; erf and
// gelu, whose exponent is a polynomial already, through 2^y = 2^n (1 + s), n =
// round(y), f = y - n, s = 2^f - 1 = f R(f). See fit/targets.go for the
// polynomials, and lookup.go for where n is a multiple of 1/8, and for gelu by pieces.

// horner is the polynomial c in x, the lowest coefficient first.
func (g *gen) horner(c []float64, x reg.Register) reg.Register {
	p := g.vector()
	g.set(g.num(c[len(c)-1]), p)
	for i := len(c) - 2; i >= 0; i-- {
		g.op("VFMADD213", g.num(c[i]), x, p)
	}
	return p
}

// poly is Horner's rule, for long polynomials on even and odd coefficients by
// themselves: two chains of half the latency. With the registers of AVX2 fewer vectors are under
// way than hide a latency, and polynomials are long sooner.
func (g *gen) poly(c []float64, x reg.Register) reg.Register {
	long := 9
	if g.wide() {
		long = 14
	}
	if len(c) < long {
		return g.horner(c, x)
	}
	var half [2][]float64
	for i, v := range c {
		half[i%2] = append(half[i%2], v)
	}
	square := g.vector()
	g.op("VMUL", x, x, square)
	even, odd := g.horner(half[0], square), g.horner(half[1], square)
	g.op("VFMADD213", even, x, odd)
	return odd
}

// wholeMagic rounds to an integer when added, and leaves it in the lowest bits.
func (g *gen) wholeMagic() konst { return g.num(g.PartsMagic(1)) }

// shift turns magic + n into 2^n, for -bias <= n <= bias.
func (g *gen) shift(t reg.Register) {
	g.emit("VPSLL"+g.whole(), immediate(g.Mantissa), t, t)
}

// clampMagnitude is min(|x|, limit), and NaN for NaN. limit must be pinned.
func (g *gen) clampMagnitude(x reg.Register, limit konst) reg.Register {
	a := g.vector()
	g.op("VAND", g.magnitude(), x, a)
	g.op("VMIN", a, g.pinned[uint64(limit)], a)
	return a
}

// sign is what x is multiplied by first.
type sign bool

const plus, minus sign = false, true

// nearest returns magic + n and n = factor x rounded as magic does, or for minus that of -x; magic must be
// pinned.
func (g *gen) nearest(x reg.Register, factor float64, magic konst, s sign) (t, n reg.Register) {
	t, n = g.vector(), g.vector()
	g.set(magic, t)
	g.op(map[sign]string{plus: "VFMADD231", minus: "VFNMADD231"}[s], g.num(factor), x, t)
	g.op("VSUB", magic, t, n)
	return t, n
}

// less turns x into x - n ln2, or for minus into -x - n ln2.
func (g *gen) less(n reg.Register, ln2 konst, x reg.Register, s sign) {
	g.op(map[sign]string{plus: "VFNMADD231", minus: "VFNMSUB231"}[s], ln2, n, x)
}

// boundMagnitude is min(|x|, limit), and anything to there for NaN, with AVX-512. limit must be pinned.
func (g *gen) boundMagnitude(x reg.Register, limit konst) reg.Register {
	const leastMagnitude, positive = 2, 2
	a := g.vector()
	g.op("VRANGE", immediate(leastMagnitude|positive<<2), g.pinned[uint64(limit)], x, a)
	return a
}

// split returns magic + n and n = x/ln2, rounded, and turns x into r = x - n ln2, or for minus that of -x.
func (g *gen) split(x reg.Register, magic konst, s sign) (t, n reg.Register) {
	t, n = g.nearest(x, math.Log2E, magic, s)
	g.less(n, g.num(g.Ln2Hi), x, s)
	g.less(n, g.num(g.Ln2Lo), x, plus)
	return t, n
}

// expReduced is e^r = 1 + r (1 + r Q(r)).
func (g *gen) expReduced(r reg.Register) reg.Register {
	return g.horner(append([]float64{1, 1}, g.ExpQ...), r)
}

// splitBinary returns magic + n and f of y itself.
func (g *gen) splitBinary(y reg.Register, magic konst) (t, f reg.Register) {
	t, f = g.vector(), g.vector()
	g.op("VADD", magic, y, t)
	g.op("VSUB", magic, t, f)
	g.op("VSUB", f, y, f)
	return t, f
}

// exp is e^x with gradual underflow.
func (g *gen) exp(x reg.Register) reg.Register {
	g.op("VMIN", x, g.pinned[uint64(g.num(g.ExpMax))], x)
	g.op("VMAX", x, g.pinned[uint64(g.num(g.ExpMin))], x)
	if g.looksUpLong() {
		return g.scaledExp(x)
	}
	_, n := g.split(x, g.num(g.Magic()), plus)
	p := g.expReduced(x)
	if g.wide() {
		g.op("VSCALEF", n, p, p)
		return p
	}
	// n exceeds the range of one factor: 2^n = 2^h 2^(n-h), h = round(n/2).
	h := g.vector()
	g.set(g.num(g.Magic()), h)
	g.op("VFMADD231", g.num(0.5), n, h)
	rest := g.vector()
	g.op("VSUB", g.num(g.Magic()), h, rest)
	g.op("VSUB", rest, n, rest)
	g.op("VADD", g.num(g.Magic()), rest, rest)
	g.shift(h)
	g.shift(rest)
	g.op("VMUL", h, p, p)
	g.op("VMUL", rest, p, p)
	return p
}

// expPins are what exp needs in registers, and some of what it would load for each vector, where there
// is room.
func (g *gen) expPins() (pins []konst, held [][]uint64) {
	pins = []konst{g.num(g.ExpMax), g.num(g.ExpMin)}
	switch {
	case g.looksUpLong():
		pins, held = append(pins, g.powerMagic(), g.num(g.ExpQSixteenths[1])), [][]uint64{g.powers(g.lanes())}
	case g.wide():
		pins = append(pins, g.num(g.Magic()), g.num(1), g.num(math.Log2E), g.num(g.Ln2Hi), g.num(g.Ln2Lo))
	default:
		pins = append(pins, g.num(g.Magic()))
	}
	return pins, held
}

// expMinFlushed is where n reaches -bias, for which shift gives 0.
func (g *gen) expMinFlushed() konst { return g.num(-float64(g.Bias) * math.Ln2) }

// expNonPositive is e^x for x <= 0 (or a little above): one instruction less
// on AVX-512 and six on AVX2 than exp. Results below the least normal number are anything
// from 0 to it.
func (g *gen) expNonPositive(x reg.Register) reg.Register {
	g.op("VMAX", x, g.pinned[uint64(g.expMinFlushed())], x)
	return g.power(x, plus)
}

// power is e^x, or for minus e^-x, where shift gives 2^n.
func (g *gen) power(x reg.Register, s sign) reg.Register {
	if g.looksUp() {
		return g.expByParts(x, s)
	}
	t, _ := g.split(x, g.num(g.Magic()), s)
	p := g.expReduced(x)
	g.shift(t)
	g.op("VMUL", t, p, p)
	return p
}

// exp2NonPositive is 2^x for x <= 0 (or a little above): of the scaled arguments of a
// softmax, two instructions less than expNonPositive. Small results are as there. AVX-512 takes
// 2^x = 2^floor(x) 2^f with f = x - floor(x), by instructions that know -Inf.
func (g *gen) exp2NonPositive(x reg.Register) reg.Register {
	if !g.wide() {
		g.op("VMAX", x, g.pinned[uint64(g.exp2MinFlushed())], x)
		return g.exp2(x)
	}
	var p reg.Register
	if g.looksUp() {
		p = g.exp2FractionByParts(x)
	} else {
		p = g.horner(append([]float64{1}, g.Exp2up...), g.aboveFloor(x, 0))
	}
	g.op("VSCALEF", x, p, p)
	return p
}

// aboveFloor is how far x is above the next multiple of 2^-bits, and 0 for -Inf.
func (g *gen) aboveFloor(x reg.Register, bits int) reg.Register {
	const floor = 1
	f := g.vector()
	g.op("VREDUCE", operand.U8(bits<<4|floor), x, f)
	return f
}

// pinExp2NonPositive keeps what exp2NonPositive needs in registers. Of float32 AVX-512 looks up that many powers: 16, or
// with an instruction less and an error of up to 2^-24 more, which suits a sum, 32.
func (g *gen) pinExp2NonPositive(parts int) {
	g.parts = parts
	switch {
	case !g.wide():
		g.pin(g.exp2MinFlushed(), g.powerMagic())
	case g.looksUp():
		g.pin(g.num(g.PartsMagic(parts)))
		for _, c := range g.Exp2upParts[parts] {
			g.pin(g.num(c))
		}
		g.hold(g.vectors(g.powers(parts))...)
	}
}

// exp2MinFlushed is where n reaches -bias.
func (g *gen) exp2MinFlushed() konst { return g.num(-float64(g.Bias)) }

// exp2 is 2^x within the range of shift.
func (g *gen) exp2(x reg.Register) reg.Register {
	if g.looksUp() {
		return g.exp2ByParts(x)
	}
	t, f := g.splitBinary(x, g.num(g.Magic()))
	p := g.horner(append([]float64{1}, g.Exp2m1...), f)
	g.shift(t)
	g.op("VMUL", t, p, p)
	return p
}

// withSign is |magnitude| with the sign of x.
func (g *gen) withSign(magnitude, x reg.Register) reg.Register {
	if g.wide() {
		const thirdChooses = 0b11011000 // between the bits of the second, x, and of the first
		g.emit("VPTERNLOG"+g.whole(), operand.U8(thirdChooses), g.signBit(), x, magnitude)
		return magnitude
	}
	s := g.vector()
	g.op("VAND", g.signBit(), x, s)
	g.op("VAND", g.magnitude(), magnitude, magnitude)
	g.op("VOR", s, magnitude, magnitude)
	return magnitude
}

// tanh is E/(E+2) with E = e^2x - 1 = 2 2^n s - (1 - 2^n): small arguments keep their relative precision.
// s = (e^2r - 1)/2 = r + r (r Q(r)), r = x - n ln2/2. To r Q(r) 0 is added, so that it is no -0, and s of -0 is one.
func (g *gen) tanh(x reg.Register) reg.Register {
	if g.looksUpLong() {
		return g.tanhBySteps(x)
	}
	g.op("VMIN", x, g.register(g.num(g.TanhMax)), x)
	g.op("VMAX", x, g.register(g.num(-g.TanhMax)), x)
	t, n := g.nearest(x, 2*math.Log2E, g.num(g.Magic()), plus)
	g.less(n, g.num(math.Ln2/2), x, plus)
	s := g.horner(append([]float64{0}, g.tanhQ()...), x)
	g.op("VFMADD213", x, x, s)
	g.shift(t)
	g.op("VADD", t, t, x)
	g.op("VSUB", t, g.pinned[uint64(g.num(1))], t)
	g.op("VFMSUB213", t, x, s)
	d := g.vector()
	g.op("VADD", g.num(2), s, d)
	g.op("VDIV", d, s, s)
	return s
}

// tanhQ is the Q of (e^2r - 1)/2 = r + r^2 Q(r).
func (g *gen) tanhQ() []float64 {
	q := slices.Clone(g.ExpQ)
	for i := range q {
		q[i] = math.Ldexp(q[i], i+1)
	}
	return q
}

// tanhPins are what tanh needs in registers, and some of what it would load for each vector, where there is room.
func (g *gen) tanhPins() (pins []konst, held [][]uint64) {
	if g.looksUpLong() {
		return []konst{g.lastStep(), g.wholeMagic(), g.num(1)}, g.vectors(g.tanhSteps())
	}
	pins = []konst{g.num(1), g.num(g.Magic())}
	if g.wide() {
		q := g.tanhQ()
		pins = append(pins, g.num(2), g.num(q[len(q)-1]), g.num(g.TanhMax), g.num(-g.TanhMax))
	}
	return pins, nil
}

// erfOf is 1 - 2^y with y = -|x| H(|x|) <= 0: again E = 2^n s + (2^n - 1).
func (g *gen) erfOf(x reg.Register) reg.Register {
	a := g.clampMagnitude(x, g.num(g.ErfMax))
	h := g.poly(elementary.Negated(g.Erf), a)
	g.op("VMUL", a, h, h)
	t, f := g.splitBinary(h, g.num(g.Magic()))
	s := g.horner(g.Exp2m1, f)
	g.op("VMUL", f, s, s)
	g.shift(t)
	less := g.vector()
	g.op("VSUB", g.num(1), t, less)
	g.op("VFMADD213", less, t, s)
	return g.withSign(s, x)
}
