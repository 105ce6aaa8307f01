package main

import (
	"math"
	"math/bits"
	"slices"

	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/elementary"
)

// Vectors of float32 have an instruction that looks up, for each lane, one of the lanes of another, or with AVX-512 of
// two: of the coefficients of as many polynomials, each of which is short, or of the powers 2^(j/8), 2^(j/16) or
// 2^(j/32), between which polynomials are short, too.

// looksUp tells whether exponentials look up powers.
func (g *gen) looksUp() bool { return g.size == 4 }

// lookup is for each lane that of values, a vector or two, which the lowest bits of t choose.
func (g *gen) lookup(values []uint64, t reg.Register) reg.Register {
	v := g.vectors(values)
	if len(v) == 2 {
		g.emit("VPERMI2PS", g.vectorOf(v[1]), g.vectorOf(v[0]), t)
		return t
	}
	found := g.vector()
	g.emit("VPERMPS", g.vectorOf(v[0]), t, found)
	return found
}

// vectors are the values of a lookup, a lane each.
func (g *gen) vectors(values []uint64) [][]uint64 {
	return slices.Collect(slices.Chunk(values, g.lanes()))
}

// powerMagic is what power and exp2 need in a register.
func (g *gen) powerMagic() konst {
	if g.looksUp() {
		return g.num(g.PartsMagic(g.lanes()))
	}
	return g.num(g.Magic())
}

// powers are 2^(j/parts), powersLess those of as many parts as lanes, less j in their bits, where powerOfParts adds it.
func (g *gen) powers(parts int) []uint64 {
	powers := make([]uint64, parts)
	for j := range powers {
		powers[j] = uint64(math.Float32bits(float32(math.Exp2(float64(j) / float64(len(powers))))))
	}
	return powers
}

func (g *gen) powersLess() []uint64 {
	powers := g.powers(g.lanes())
	for j := range powers {
		powers[j] -= uint64(j) << g.beforeParts()
	}
	return powers
}

// beforeParts is the number of bits of the mantissa below those that say which power.
func (g *gen) beforeParts() int { return g.Mantissa - bits.Len(uint(g.lanes()-1)) }

// powerPins are what power needs in registers, and of what it would load for each vector what AVX-512 has
// room for.
func (g *gen) powerPins() (pins []konst, held [][]uint64) {
	pins = []konst{g.powerMagic()}
	if g.looksUpLong() {
		pins = append(pins, g.num(g.ExpQSixteenths[1]))
		held = [][]uint64{g.powersLess()}
	}
	return pins, held
}

// powerOfParts is 2^n of magic + n, which it overwrites: the whole part of n goes into the exponent of
// 2^(j/lanes), from whose bits those of j are taken, that come along. It is 0 for n = -bias.
func (g *gen) powerOfParts(t reg.Register) reg.Register {
	p := g.lookup(g.powersLess(), t)
	g.emit("VPSLLD", immediate(g.beforeParts()), t, t)
	g.emit("VPADDD", t, p, p)
	return p
}

// powerBelow2 is 2^(j/lanes) of magic + n, without the whole part of n.
func (g *gen) powerBelow2(t reg.Register) reg.Register { return g.lookup(g.powers(g.lanes()), t) }

// expByParts is e^x = 2^n + 2^n (e^r - 1), |r| <= ln2/16 or, with AVX-512, ln2/32. There it takes ln2 as
// one number, whose error makes one of 3e-9 |x| of the result.
func (g *gen) expByParts(x reg.Register, s sign) reg.Register {
	if !g.wide() {
		t, _ := g.split(x, g.powerMagic(), s)
		return g.timesPower(x, append([]float64{1}, g.ExpQEighths...), g.powerOfParts, t)
	}
	t, n := g.nearest(x, math.Log2E, g.powerMagic(), s)
	g.less(n, g.num(math.Ln2), x, s)
	return g.timesPower(x, append([]float64{1}, g.ExpQSixteenths...), g.powerOfParts, t)
}

// looksUpLong tells whether a lookup chooses from sixteen, or from the 32 of two vectors.
func (g *gen) looksUpLong() bool { return g.looksUp() && g.wide() }

// tanhSteps are tanh of the first steps.
func (g *gen) tanhSteps() []uint64 {
	steps := make([]uint64, 2*g.lanes())
	for j := range steps {
		steps[j] = uint64(math.Float32bits(float32(math.Tanh(float64(j) / elementary.TanhSteps))))
	}
	return steps
}

// tanhBySteps is (T + s) / (1 + T s), where T is tanh of n steps, s that of what is left of |x|. The sign of x comes with
// an instruction that takes the lesser magnitude, which is that of tanh.
func (g *gen) tanhBySteps(x reg.Register) reg.Register {
	f := g.vector()
	g.op("VAND", g.magnitude(), x, f)
	g.op("VMUL", g.num(elementary.TanhSteps), f, f)
	g.op("VMIN", f, g.pinned[uint64(g.lastStep())], f)
	t, left := g.splitBinary(f, g.wholeMagic())
	square := g.vector()
	g.op("VMUL", left, left, square)
	s := g.horner(g.TanhStep, square)
	g.op("VMUL", left, s, s)
	t = g.lookup(g.tanhSteps(), t)
	sum, d := g.vector(), g.vector()
	g.op("VADD", s, t, sum)
	g.set(g.num(1), d)
	g.op("VFMADD231", s, t, d)
	g.op("VDIV", d, sum, sum)
	const leastMagnitude = 2
	g.op("VRANGE", immediate(leastMagnitude), sum, x, sum)
	return sum
}

func (g *gen) lastStep() konst { return g.num(float64(2*g.lanes() - 1)) }

// scaledExp is e^x = 2^(n - j/16) (2^(j/16) + 2^(j/16) (e^r - 1)), by an instruction that scales by any power of two.
func (g *gen) scaledExp(x reg.Register) reg.Register {
	t, n := g.split(x, g.powerMagic(), plus)
	p := g.timesPower(x, append([]float64{1}, g.ExpQSixteenths...), g.powerBelow2, t)
	g.op("VSCALEF", n, p, p) // by the whole part of n
	return p
}

// exp2ByParts is 2^y = 2^n + 2^n (2^f - 1).
func (g *gen) exp2ByParts(y reg.Register) reg.Register {
	t, f := g.splitBinary(y, g.powerMagic())
	return g.timesPower(f, g.Exp2m1Eighths, g.powerOfParts, t)
}

// exp2FractionByParts is 2^(y - floor(y)) = 2^(j/parts) 2^f with 0 <= f < 1/parts: what comes before it is rounded down.
func (g *gen) exp2FractionByParts(y reg.Register) reg.Register {
	t := g.vector()
	g.emit("VADDPS_RD_SAE", y, g.pinned[uint64(g.num(g.PartsMagic(g.parts)))], t)
	power := func(t reg.Register) reg.Register { return g.lookup(g.powers(g.parts), t) }
	return g.timesPower(g.aboveFloor(y, bits.Len(uint(g.parts-1))), g.Exp2upParts[g.parts], power, t)
}

// timesPower is p (1 + f C(f)) with the power p of magic + n.
func (g *gen) timesPower(f reg.Register, c []float64, power func(t reg.Register) reg.Register, t reg.Register) reg.Register {
	q := g.horner(c, f)
	g.op("VMUL", f, q, q)
	p := power(t)
	g.op("VFMADD213", p, p, q)
	return q
}

// rows are the coefficients of each power, of one piece in each lane.
func (g *gen) rows(p elementary.Pieces) [][]uint64 {
	rows := make([][]uint64, len(p.Coefficients))
	for i, row := range p.Coefficients {
		for _, c := range row {
			rows[i] = append(rows[i], uint64(g.num(c)))
		}
	}
	return rows
}

// by is the function p of 0 <= x <= p.Last().
func (g *gen) by(p elementary.Pieces, x reg.Register) reg.Register {
	t, f := g.vector(), g.vector()
	perWidth := g.num(1 / p.Width)
	g.set(g.wholeMagic(), t)
	g.op("VFMADD231", perWidth, x, t)
	g.op("VSUB", g.wholeMagic(), t, f)
	g.op("VFMSUB231", perWidth, x, f)
	rows := g.rows(p)
	degree := len(rows) - 1
	y := g.lookup(rows[degree], t)
	for i := degree - 1; i >= 0; i-- {
		g.op("VFMADD213", g.lookup(rows[i], t), f, y)
	}
	return y
}

// pieced is max(x, 0) - |x| T(|x|), for those elements of which there are pieces.
func (g *gen) pieced(t elementary.Pieces, x reg.Register) reg.Register {
	a := g.boundMagnitude(x, g.num(t.Last()))
	r := g.relu(x)
	g.op("VFNMADD231", g.by(t, a), a, r)
	return r
}

// piecedPins are what pieced needs in registers, all coefficients among it.
func (g *gen) piecedPins(t elementary.Pieces) (pins []konst, held [][]uint64) {
	return []konst{g.num(0), g.num(t.Last()), g.wholeMagic()}, g.rows(t)
}
