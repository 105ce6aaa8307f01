package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

func immediate(n int) operand.U8 { return operand.U8(n) }

const mapSignature = "func(dst, src, y *S, ldd, lds, ldy, m, n int, a, b T, nt uint8)"

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
	gather  bool // row i of src is the one that index[i] says
	noSrc   bool // f needs no x
	join    bool // y is joined to x, which stays in L1, as what is computed in
	pairs   bool // src has a vector of x and one of y in turn; rows are of whole vectors, which stay in L1
	far     bool // what is read comes from memory
	noHalf  bool // halves are moved in pairs, and epilogues work on what is computed in
	unroll  int  // vectors at once: AVX-512, and half for AVX2
	narrow  int  // vectors at once for AVX2, if not half: more where they take few registers
	pins    []konst
	held    [][]uint64
	f       func(x reg.Register, v args) reg.Register
	near    *near
	bits    func(x reg.Register, part func(reg.Register) reg.Register) reg.Register // f of the bits of halves, see mapBits
}

func (k mapped) signature() string {
	switch {
	case k.perRow:
		return "func(dst, src *S, a, b *T, ldd, lds, m, n int, nt uint8)"
	case k.gather:
		return "func(dst, src *S, index *int32, ldd, lds, m, n, known int, nt uint8)"
	case k.pairs:
		return "func(dst, src *S, ldd, lds, m, n int)"
	case k.join:
		return "func(dst, src *T, y *S, ldd, lds, ldy, m, n int, a, b T, nt uint8)"
	}
	return mapSignature
}

func (g *gen) maps() {
	zero, relu := []konst{g.num(0)}, []konst{g.num(0)}
	if g.half() {
		relu = append(relu, g.infinity())
	}
	magic := g.num(g.Magic())
	gelu, geluRows := g.geluPins()
	geluTanh, geluTanhRows := g.geluTanhPins()
	tanh, tanhRows := g.tanhPins()
	gate, gateRows := g.gatePins()
	exp, expRows := g.expPins()
	add := func(x, y reg.Register) reg.Register { g.op("VADD", y, x, x); return x }
	sum := func(x reg.Register, v args) reg.Register { return add(x, v.y()) }
	larger := func(x reg.Register, v args) reg.Register { g.op("VMAX", v.y(), x, x); return x }
	mul := func(x, y reg.Register) reg.Register { g.op("VMUL", y, x, x); return x }
	same := func(x reg.Register, _ args) reg.Register { return x }
	four, three := 0, 0
	if g.size == 4 {
		four, three = 4, 3
	}
	// Not multiplied and added at once: beside a store that takes Zen 5 one and a half cycles for a
	// vector, and these one.
	affine := func(x reg.Register, v args) reg.Register { return add(mul(x, v.a), v.b) }
	for _, k := range []mapped{
		{name: "Exp", unroll: 4, pins: exp, held: expRows, near: g.nearExp(), f: func(x reg.Register, _ args) reg.Register { return g.exp(x) }},
		{name: "Erf", noHalf: true, unroll: 4, pins: []konst{g.num(g.ErfMax), magic}, f: func(x reg.Register, _ args) reg.Register { return g.erfOf(x) }},
		{name: "Log", noHalf: true, unroll: 4, pins: []konst{g.num(1)}, f: func(x reg.Register, _ args) reg.Register { return g.log(x) }},
		{name: "Tanh", unroll: 4, narrow: four, pins: tanh, held: tanhRows, f: func(x reg.Register, _ args) reg.Register { return g.tanh(x) }},
		{name: "Relu", unroll: 8, pins: relu, bits: g.reluOfBits, f: func(x reg.Register, _ args) reg.Register { return g.relu(x) }},
		{name: "Gelu", unroll: 4, narrow: four, pins: gelu, held: geluRows, f: func(x reg.Register, _ args) reg.Register { return g.geluOf(x) }},
		{name: "Silu", unroll: 4, narrow: three, pins: gate, held: gateRows, f: func(x reg.Register, _ args) reg.Register { return g.siluOf(x) }},
		{name: "Scale", a: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { return mul(x, v.a) }},
		{name: "Affine", noHalf: true, a: true, b: true, unroll: 8, f: affine},
		{name: "AffineRows", a: true, b: true, perRow: true, unroll: 8, f: affine},
		{name: "Add", y: true, unroll: 8, f: sum},
		{name: "AddRelu", noHalf: true, y: true, unroll: 8, pins: zero, f: func(x reg.Register, v args) reg.Register { return g.relu(add(x, v.y())) }},
		{name: "AddGelu", noHalf: true, y: true, unroll: 4, narrow: four, pins: gelu, held: geluRows, f: func(x reg.Register, v args) reg.Register { return g.geluOf(add(x, v.y())) }},
		{name: "AddSilu", noHalf: true, y: true, unroll: 4, narrow: three, pins: gate, held: gateRows, f: func(x reg.Register, v args) reg.Register { return g.siluOf(add(x, v.y())) }},
		{name: "SiluMul", noHalf: true, y: true, unroll: 4, narrow: three, pins: gate, held: gateRows, f: func(x reg.Register, v args) reg.Register { return mul(g.siluOf(x), v.y()) }},
		{name: "SiluMulPairs", noHalf: true, pairs: true, unroll: 4, narrow: three, pins: gate, held: gateRows, f: func(x reg.Register, v args) reg.Register { return mul(g.siluOf(x), v.y()) }},
		{name: "Mul", y: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { return mul(x, v.y()) }},
		{name: "Sub", y: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { g.op("VSUB", v.y(), x, x); return x }},
		{name: "Div", y: true, unroll: 8, f: func(x reg.Register, v args) reg.Register { g.op("VDIV", v.y(), x, x); return x }},
		{name: "Max", noHalf: true, y: true, unroll: 8, f: larger},
		{name: "MaxFar", y: true, join: true, far: true, unroll: 8, f: larger},
		{name: "AddFar", y: true, join: true, far: true, unroll: 8, f: sum},
		{name: "GeluTanh", unroll: 4, narrow: four, pins: geluTanh, held: geluTanhRows, f: func(x reg.Register, _ args) reg.Register { return g.geluTanh(x) }},
		{name: "Sigmoid", unroll: 4, narrow: four, pins: gate, held: gateRows, f: func(x reg.Register, _ args) reg.Register { return g.sigmoid(x) }},
		{name: "Copy", noHalf: true, unroll: 8, f: same},
		{name: "Set", noHalf: true, b: true, noSrc: true, unroll: 8, f: func(_ reg.Register, v args) reg.Register { return v.b }},
		{name: "GatherRows", noHalf: true, gather: true, unroll: 8, f: same},
	} {
		if !g.half() || !k.noHalf {
			g.mapKernel(k)
		}
	}
}

// inTurn writes n instances one after the other.
func inTurn(n int, instance func(u int)) {
	for u := range n {
		instance(u)
	}
}

// pointer goes through a matrix: step bytes for a vector. At the end of a row ld, of elements of 1<<log bytes, is
// left to the next.
type pointer struct {
	p, ld reg.GPVirtual
	step  int
	log   operand.U8
}

func (g *gen) mapKernel(k mapped) {
	g.begin(k.name, k.signature())
	dst, src, ldd, lds := g.load("dst"), g.load("src"), g.load("ldd"), g.load("lds")
	m, n := g.load("m"), g.load("n")
	step, log := g.step(), log2(g.storedSize) // of x and the result
	if k.join {
		step, log = g.isa.Bytes, log2(g.size)
	}
	pointers := []pointer{{dst, ldd, step, log}}
	srcStep := step
	if k.pairs {
		srcStep = 2 * step
	}
	if !k.gather && !k.noSrc {
		pointers = append(pointers, pointer{src, lds, srcStep, log})
	}
	var y reg.GPVirtual
	if k.y {
		y = g.load("y")
		pointers = append(pointers, pointer{y, g.load("ldy"), g.step(), log2(g.storedSize)})
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
	pins := k.pins
	if k.near != nil {
		pins = k.near.pins
	}
	g.pin(pins...)
	g.hold(k.held...)
	// The pointers advance by whole vectors, and then to the next row. Indexed stores
	// would compete with the loads for their ports.
	left := g.GP64()
	g.MOVQ(n, left)
	g.ANDQ(operand.I32(-g.lanes()), left)
	for _, p := range pointers {
		g.SUBQ(left, p.ld)
		if p.p == src && k.pairs {
			g.SUBQ(left, p.ld) // as many of y
		}
		g.SHLQ(p.log, p.ld)
	}
	advancing := pointers
	var rows *gathered
	if k.gather {
		rows = g.newGathered(src, lds)
		advancing = append(advancing, pointer{p: src, step: step})
		perRow = append(perRow, rows.turn)
	}
	to := func(u int) operand.Mem { return operand.Mem{Base: dst, Disp: u * step} }
	from := func(u int) operand.Mem { return operand.Mem{Base: src, Disp: u * srcStep} }
	get, store := g.get, g.store
	if k.join {
		get, store = g.getT, func(v reg.Register, mask *mask, _ bool, m operand.Mem) { g.putT(v, mask, m) }
	}
	fetch := func(u int) { // what is far behind vector u, but what stays in L1, or lies anywhere
		if !k.join && !k.gather {
			g.fetchFarLine(src, u*step)
		}
		if k.y {
			g.fetchFarLine(y, u*g.step())
		}
	}
	vectors := func(name string, count int, mask *mask, nt, far bool) {
		// Stores past the caches follow the load of their vector where there is little latency
		// to overlap: runs of loads and of stores cost memory up to a fifth of its bandwidth.
		each := g.interleave
		if nt && k.short() || k.near != nil || k.far {
			each = inTurn
		}
		switch {
		case far && !k.short():
			inTurn(count, fetch)
		case !k.short() && !k.pairs:
			g.fetchAhead(src, nil, count)
		}
		xs := make([]reg.Register, count)
		each(count, func(u int) {
			x := g.vector()
			if !k.noSrc {
				get(from(u), mask, x)
			}
			if far && k.short() {
				fetch(u)
			}
			if k.gather {
				rows.fetch(u*step, nt)
			}
			w := v
			w.y = func() reg.Register {
				r := g.vector()
				if k.pairs {
					get(from(u).Offset(step), mask, r)
					return r
				}
				g.get(operand.Mem{Base: y, Disp: u * g.step()}, mask, r)
				if k.join && !k.far {
					g.fetchFar(operand.Mem{Base: y, Disp: simd.TilesAhead + u*g.step()})
				}
				return r
			}
			if k.near != nil {
				xs[u] = x
				return
			}
			store(k.f(x, w), mask, nt, to(u))
		})
		if k.near != nil {
			g.nearOrFar(k, v, name, xs, func(u int, r reg.Register) { g.store(r, mask, nt, to(u)) })
		}
	}
	if g.half() && !k.join {
		vectors = g.halfVectors(k, v, dst, src, y, fetch)
	}
	g.Label("row")
	for _, load := range perRow {
		load()
	}
	g.MOVQ(n, left)
	for _, loop := range k.loops(g) {
		switch loop.name {
		case "far":
			g.CMPB(g.argument("nt"), operand.U8(farNT))
			g.JNE(operand.LabelRef("nt"))
			g.skipUnlessLine(dst, "main")
		case "nt":
			g.Label("nt")
			g.skipUnlessNT(dst, "main")
		case "main":
			g.Label("main")
		}
		g.SUBQ(operand.I32(loop.count*g.lanes()), left)
		g.JLT(operand.LabelRef(loop.name + "done"))
		simd.AlignedLabel(g.Context, loop.name+"loop")
		vectors(loop.name, loop.count, nil, loop.nt, loop.far)
		if loop.far && k.short() {
			g.pace()
		}
		for _, p := range advancing {
			g.ADDQ(operand.I32(loop.count*p.step), p.p)
		}
		if k.gather {
			rows.advance(loop.name, operand.I32(loop.count*step))
		}
		g.SUBQ(operand.I32(loop.count*g.lanes()), left)
		g.JGE(operand.LabelRef(loop.name + "loop"))
		g.Label(loop.name + "done")
		g.ADDQ(operand.I32(loop.count*g.lanes()), left)
	}
	if !k.pairs {
		g.JZ(operand.LabelRef("next"))
		vectors("tail", 1, g.mask(left), false, false)
	}
	if k.gather {
		g.bytes(left)
		rows.advance("tail", left)
	}
	g.Label("next")
	for _, p := range pointers {
		g.ADDQ(p.ld, p.p)
	}
	g.DECQ(m)
	g.JNZ(operand.LabelRef("row"))
	g.end()
}

// mapLoop takes so many vectors at once.
type mapLoop struct {
	name  string
	count int
	nt    bool // stores past the caches
	far   bool // fetches far ahead
}

// farNT is the value of the argument nt that asks for both: farAhead of package cpu.
const farNT = 2

// loops of a row, one after the other: each takes what it can of what is left.
func (k mapped) loops(g *gen) []mapLoop {
	unroll, far := k.unroll, k.unroll
	switch {
	case g.wide() || k.near != nil:
	case k.narrow > 0:
		unroll, far = k.narrow, k.narrow
	default:
		unroll, far = unroll/2, far/2
	}
	if k.short() {
		far = simd.FarLines * 64 / g.step()
	}
	switch {
	case k.join && k.far:
		return []mapLoop{{"main", far, false, true}, {"single", 1, false, false}}
	case k.join, k.pairs:
		return []mapLoop{{"main", unroll, false, false}, {"single", 1, false, false}}
	}
	loops := []mapLoop{{"nt", unroll, true, false}, {"ntsingle", 1, true, false}, {"main", unroll, false, false}, {"single", 1, false, false}}
	if k.noSrc {
		return loops
	}
	return append([]mapLoop{{"far", far, true, true}}, loops...)
}

// short says that so little is computed that memory is all that counts: then what is fetched far ahead is waited for.
func (k mapped) short() bool { return k.unroll == 8 }

// skipUnlessNT jumps unless the argument nt asks for non-temporal stores and dst begins
// with a cache line, of which they write whole ones.
func (g *gen) skipUnlessNT(dst reg.Register, label string) {
	g.CMPB(g.argument("nt"), operand.U8(0))
	g.JEQ(operand.LabelRef(label))
	g.skipUnlessLine(dst, label)
}

// skipUnlessLine jumps unless dst begins with a cache line.
func (g *gen) skipUnlessLine(dst reg.Register, label string) {
	g.TESTQ(operand.U32(63), dst)
	g.JNE(operand.LabelRef(label))
}
