package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func immediate(n int) operand.U8 { return operand.U8(n) }

const mapSignature = "func(dst, src, y *T, ldd, lds, ldy, m, n int, a, b T)"

// args are the operands of one vector of a map besides src itself.
type args struct {
	y    func() reg.Register // the vector of y at these elements
	a, b reg.Register
}

// mapped is an element-wise operation on an m x n matrix:
// dst[i][j] = f(src[i][j], y[i][j], a, b).
type mapped struct {
	name    string
	y, a, b bool
	unroll  int // vectors at once: AVX-512, and half for AVX2
	pins    []konst
	f       func(x reg.Register, v args) reg.Register
}

func (g *gen) maps() {
	zero := []konst{g.num(0)}
	magic := g.num(g.magic())
	gelu := []konst{g.num(0), magic, g.num(g.flushed())}
	add := func(x, y reg.Register) reg.Register { g.op("VADD", y, x, x); return x }
	mul := func(x, y reg.Register) reg.Register { g.op("VMUL", y, x, x); return x }
	affine := func(x reg.Register, v args) reg.Register { g.op("VFMADD213", v.b, v.a, x); return x }
	for _, k := range []mapped{
		{name: "Exp", unroll: 4, pins: g.expPins(), f: func(x reg.Register, _ args) reg.Register { return g.exp(x) }},
		{name: "Erf", unroll: 4, pins: []konst{g.num(g.erfMax), magic}, f: func(x reg.Register, _ args) reg.Register { return g.erfOf(x) }},
		{name: "Tanh", unroll: 4, pins: []konst{g.num(g.tanhMax), magic}, f: func(x reg.Register, _ args) reg.Register { return g.tanh(x) }},
		{name: "Relu", unroll: 8, pins: zero, f: func(x reg.Register, _ args) reg.Register { return g.relu(x) }},
		{name: "Gelu", unroll: 4, pins: gelu, f: func(x reg.Register, _ args) reg.Register { return g.geluOf(x) }},
		{name: "Scale", a: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { return mul(x, v.a) }},
		{name: "AddScalar", b: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { return add(x, v.b) }},
		{name: "AddScalarRelu", b: true, unroll: 8, pins: zero, f: func(x reg.Register, v args) reg.Register { return g.relu(add(x, v.b)) }},
		{name: "Affine", a: true, b: true, unroll: 8, f: affine},
		{name: "AffineRelu", a: true, b: true, unroll: 8, pins: zero, f: func(x reg.Register, v args) reg.Register { return g.relu(affine(x, v)) }},
		{name: "Add", y: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { return add(x, v.y()) }},
		{name: "AddRelu", y: true, unroll: 8, pins: zero, f: func(x reg.Register, v args) reg.Register { return g.relu(add(x, v.y())) }},
		{name: "AddGelu", y: true, unroll: 4, pins: gelu, f: func(x reg.Register, v args) reg.Register { return g.geluOf(add(x, v.y())) }},
		{name: "Mul", y: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { return mul(x, v.y()) }},
	} {
		g.mapKernel(k)
	}
}

func (g *gen) mapKernel(k mapped) {
	g.begin(k.name, mapSignature)
	dst, src, ldd, lds := g.load("dst"), g.load("src"), g.load("ldd"), g.load("lds")
	m, n := g.load("m"), g.load("n")
	var y, ldy reg.GPVirtual
	if k.y {
		y, ldy = g.load("y"), g.load("ldy")
		g.bytes(ldy)
	}
	g.bytes(ldd)
	g.bytes(lds)
	var v args
	if k.a {
		v.a = g.vector()
		g.broadcast(g.argument("a"), v.a)
	}
	if k.b {
		v.b = g.vector()
		g.broadcast(g.argument("b"), v.b)
	}
	g.pin(k.pins...)
	left, at := g.GP64(), g.GP64()
	at4 := func(base reg.Register, u int) operand.Mem {
		return operand.Mem{Base: base, Index: at, Scale: 1, Disp: u * g.isa.Bytes}
	}
	vectors := func(count int, mask *mask) {
		results := make([]reg.Register, count)
		g.interleave(count, func(u int) {
			x := g.vector()
			g.get(at4(src, u), mask, x)
			w := v
			w.y = func() reg.Register {
				r := g.vector()
				g.get(at4(y, u), mask, r)
				return r
			}
			results[u] = k.f(x, w)
			g.put(results[u], mask, at4(dst, u))
		})
	}
	unroll := k.unroll
	if !g.wide() {
		unroll /= 2
	}
	g.Label("row")
	g.MOVQ(n, left)
	g.XORQ(at, at)
	for _, step := range []struct {
		name, next string
		count      int
	}{{"main", "single", unroll}, {"single", "tail", 1}} {
		g.SUBQ(operand.I32(step.count*g.lanes()), left)
		g.JLT(operand.LabelRef(step.name + "done"))
		g.Label(step.name)
		vectors(step.count, nil)
		g.ADDQ(operand.I32(step.count*g.isa.Bytes), at)
		g.SUBQ(operand.I32(step.count*g.lanes()), left)
		g.JGE(operand.LabelRef(step.name))
		g.Label(step.name + "done")
		g.ADDQ(operand.I32(step.count*g.lanes()), left)
	}
	g.JZ(operand.LabelRef("next"))
	vectors(1, g.mask(left))
	g.Label("next")
	g.ADDQ(lds, src)
	g.ADDQ(ldd, dst)
	if k.y {
		g.ADDQ(ldy, y)
	}
	g.DECQ(m)
	g.JNZ(operand.LabelRef("row"))
	g.end()
}
