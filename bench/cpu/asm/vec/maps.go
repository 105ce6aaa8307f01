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
	perRow  bool // a and b are one of each row
	unroll  int  // vectors at once: AVX-512, and half for AVX2
	pins    []konst
	f       func(x reg.Register, v args) reg.Register
}

func (k mapped) signature() string {
	if k.perRow {
		return "func(dst, src, a, b *T, ldd, lds, m, n int)"
	}
	return mapSignature
}

func (g *gen) maps() {
	zero := []konst{g.num(0)}
	magic := g.num(g.magic())
	gelu := []konst{g.num(0), magic, g.num(g.flushed())}
	silu := []konst{g.num(0), magic, g.num(g.siluMax())}
	add := func(x, y reg.Register) reg.Register { g.op("VADD", y, x, x); return x }
	mul := func(x, y reg.Register) reg.Register { g.op("VMUL", y, x, x); return x }
	affine := func(x reg.Register, v args) reg.Register { g.op("VFMADD213", v.b, v.a, x); return x }
	for _, k := range []mapped{
		{name: "Exp", unroll: 4, pins: g.expPins(), f: func(x reg.Register, _ args) reg.Register { return g.exp(x) }},
		{name: "Erf", unroll: 4, pins: []konst{g.num(g.erfMax), magic}, f: func(x reg.Register, _ args) reg.Register { return g.erfOf(x) }},
		{name: "Tanh", unroll: 4, pins: []konst{g.num(g.tanhMax), magic}, f: func(x reg.Register, _ args) reg.Register { return g.tanh(x) }},
		{name: "Relu", unroll: 8, pins: zero, f: func(x reg.Register, _ args) reg.Register { return g.relu(x) }},
		{name: "Gelu", unroll: 4, pins: gelu, f: func(x reg.Register, _ args) reg.Register { return g.geluOf(x) }},
		{name: "Silu", unroll: 4, pins: silu, f: func(x reg.Register, _ args) reg.Register { return g.siluOf(x) }},
		{name: "Scale", a: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { return mul(x, v.a) }},
		{name: "AddScalar", b: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { return add(x, v.b) }},
		{name: "AddScalarRelu", b: true, unroll: 8, pins: zero, f: func(x reg.Register, v args) reg.Register { return g.relu(add(x, v.b)) }},
		{name: "Affine", a: true, b: true, unroll: 8, f: affine},
		{name: "AffineRelu", a: true, b: true, unroll: 8, pins: zero, f: func(x reg.Register, v args) reg.Register { return g.relu(affine(x, v)) }},
		{name: "AffineRows", a: true, b: true, perRow: true, unroll: 8, f: affine},
		{name: "Add", y: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { return add(x, v.y()) }},
		{name: "AddRelu", y: true, unroll: 8, pins: zero, f: func(x reg.Register, v args) reg.Register { return g.relu(add(x, v.y())) }},
		{name: "AddGelu", y: true, unroll: 4, pins: gelu, f: func(x reg.Register, v args) reg.Register { return g.geluOf(add(x, v.y())) }},
		{name: "AddSilu", y: true, unroll: 4, pins: silu, f: func(x reg.Register, v args) reg.Register { return g.siluOf(add(x, v.y())) }},
		{name: "SiluMul", y: true, unroll: 4, pins: silu, f: func(x reg.Register, v args) reg.Register { return mul(g.siluOf(x), v.y()) }},
		{name: "Mul", y: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { return mul(x, v.y()) }},
	} {
		g.mapKernel(k)
	}
}

// fetchAhead fetches what is needed half a page later. Kernels that take long for a
// vector have too few loads under way to keep memory busy.
func (g *gen) fetchAhead(src, at reg.Register, u int) {
	m := operand.Mem{Base: src, Disp: 2048 + u*g.isa.Bytes}
	if at != nil {
		m.Index, m.Scale = at, 1
	}
	g.emit("PREFETCHT0", m)
}

func (g *gen) mapKernel(k mapped) {
	g.begin(k.name, k.signature())
	dst, src, ldd, lds := g.load("dst"), g.load("src"), g.load("ldd"), g.load("lds")
	m, n := g.load("m"), g.load("n")
	pointers, distances := []reg.GPVirtual{dst, src}, []reg.GPVirtual{ldd, lds}
	var y reg.GPVirtual
	if k.y {
		y = g.load("y")
		pointers, distances = append(pointers, y), append(distances, g.load("ldy"))
	}
	var v args
	var perRow []func()
	for _, c := range []struct {
		name string
		used bool
		in   *reg.Register
	}{{"a", k.a, &v.a}, {"b", k.b, &v.b}} {
		if !c.used {
			continue
		}
		constant := g.vector()
		*c.in = constant
		if !k.perRow {
			g.broadcast(g.argument(c.name), constant)
			continue
		}
		p := g.load(c.name)
		perRow = append(perRow, func() {
			g.broadcast(operand.Mem{Base: p}, constant)
			g.ADDQ(operand.I32(g.size), p)
		})
	}
	g.pin(k.pins...)
	// The pointers advance by whole vectors, and then to the next row. Indexed stores
	// would compete with the loads for their ports.
	left := g.GP64()
	g.MOVQ(n, left)
	g.ANDQ(operand.I32(-g.lanes()), left)
	g.bytes(left)
	for _, d := range distances {
		g.bytes(d)
		g.SUBQ(left, d)
	}
	at := func(base reg.Register, u int) operand.Mem {
		return operand.Mem{Base: base, Disp: u * g.isa.Bytes}
	}
	vectors := func(count int, mask *mask) {
		results := make([]reg.Register, count)
		g.interleave(count, func(u int) {
			x := g.vector()
			g.get(at(src, u), mask, x)
			if k.unroll < 8 {
				g.fetchAhead(src, nil, u)
			}
			w := v
			w.y = func() reg.Register {
				r := g.vector()
				g.get(at(y, u), mask, r)
				return r
			}
			results[u] = k.f(x, w)
			g.put(results[u], mask, at(dst, u))
		})
	}
	unroll := k.unroll
	if !g.wide() {
		unroll /= 2
	}
	g.Label("row")
	for _, load := range perRow {
		load()
	}
	g.MOVQ(n, left)
	for _, step := range []struct {
		name  string
		count int
	}{{"main", unroll}, {"single", 1}} {
		g.SUBQ(operand.I32(step.count*g.lanes()), left)
		g.JLT(operand.LabelRef(step.name + "done"))
		g.Label(step.name)
		vectors(step.count, nil)
		for _, p := range pointers {
			g.ADDQ(operand.I32(step.count*g.isa.Bytes), p)
		}
		g.SUBQ(operand.I32(step.count*g.lanes()), left)
		g.JGE(operand.LabelRef(step.name))
		g.Label(step.name + "done")
		g.ADDQ(operand.I32(step.count*g.lanes()), left)
	}
	g.JZ(operand.LabelRef("next"))
	vectors(1, g.mask(left))
	g.Label("next")
	for i, p := range pointers {
		g.ADDQ(distances[i], p)
	}
	g.DECQ(m)
	g.JNZ(operand.LabelRef("row"))
	g.end()
}
