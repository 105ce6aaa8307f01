package main

import (
	"maps"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// near is a shorter way to a function for vectors that have no NaN and no magnitude beyond reach, as
// nearly all have, with so few registers that AVX2 takes as many vectors at once as AVX-512.
type near struct {
	reach float64
	pins  []konst
	f     func(x reg.Register) reg.Register
}

// nearOrFar stores f of all vectors the shorter way, if none is beyond its reach. Else each goes the other
// way by itself, whose constants come into registers for that alone.
func (g *gen) nearOrFar(k mapped, v args, label string, xs []reg.Register, store func(u int, r reg.Register)) {
	g.jumpBeyond(k.near.reach, xs, label+"beyond")
	g.interleave(len(xs), func(u int) { store(u, k.near.f(xs[u])) })
	g.JMP(operand.LabelRef(label + "stored"))
	g.Label(label + "beyond")
	pinned := maps.Clone(g.pinned)
	g.pin(k.pins...)
	inTurn(len(xs), func(u int) { store(u, k.f(xs[u], v)) })
	g.pinned = pinned
	g.Label(label + "stored")
}

// jumpBeyond jumps if a vector has NaN or a magnitude beyond reach.
func (g *gen) jumpBeyond(reach float64, xs []reg.Register, label string) {
	magnitude, most := g.vector(), g.vector()
	g.set(g.magnitude(), magnitude)
	g.set(g.num(reach), most)
	var beyond reg.Register
	for _, x := range xs {
		a := g.vector()
		g.op("VAND", magnitude, x, a)
		g.emit("VPCMPGT"+g.whole(), most, a, a) // as integers, of which NaN are the largest
		if beyond != nil {
			g.op("VOR", beyond, a, a)
		}
		beyond = a
	}
	g.emit("VPTEST", beyond, beyond)
	g.JNZ(operand.LabelRef(label))
}

// nearExp is e^x = 2^n e^r where 2^n is a normal number: nothing is clamped, and n goes into the exponent
// of e^r. AVX-512 has an instruction that scales by any n.
func (g *gen) nearExp() *near {
	if g.wide() {
		return nil
	}
	reach := math.Floor(float64(g.Bias-2) * math.Ln2)
	if g.looksUp() {
		return &near{reach, []konst{g.powerMagic()}, func(x reg.Register) reg.Register { return g.power(x, plus) }}
	}
	return &near{reach, []konst{g.wholeMagic()}, func(x reg.Register) reg.Register {
		t, _ := g.split(x, g.wholeMagic(), plus)
		p := g.expReduced(x)
		g.shift(t)
		g.emit("VPADD"+g.whole(), t, p, p)
		return p
	}}
}

// whole is the letter of integers as wide as an element.
func (g *gen) whole() string { return map[int]string{4: "D", 8: "Q"}[g.size] }
