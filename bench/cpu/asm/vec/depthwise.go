package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// heldWeights is how many of the nine weights AVX2 has registers for, beside the sums, the pixels of a row and
// their masks. It reads the others, the bias and the floor at each use.
const heldWeights = 7

// depthwise writes the depthwise convolution 3x3 with a padding of 1 and the stride: for m rows of q
// pixels of each channel
//
//	dst[i*q+j] = max(bias + sum over y and x of weights[3*y+x] src[(i*stride+y-1)*w+j*stride+x-1], floor)
//
// where columns outside of the w of an image are 0, and so are the row before the first of src unless
// it is above, and the one behind those of the last output unless it is below. Channels are ddst and
// dsrc apart, weights have 9 each and bias has 1.
//
// A row of the image is loaded once for a vector of columns and goes to all outputs that it is
// a tap of, in registers: no copy of the image with its padding has to be made.
//
// A kernel for whole vectors wants a w of twice q, and reads and writes behind rows that are shorter than a vector. It
// has registers for all weights.
func (g *gen) depthwise(stride int, whole bool) {
	name := fmt.Sprintf("Depthwise%d", stride)
	if whole {
		name += "Whole"
	}
	g.begin(name, "func(dst, src *T, channels, m, w, q, ddst, dsrc int, weights, bias *T, floor T, above, below bool)")
	dst, src, channels := g.load("dst"), g.load("src"), g.load("channels")
	lds, ldd := g.load("w"), g.load("q")
	weights, bias := g.load("weights"), g.load("bias")
	from, to, rows, j := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.bytes(lds)
	g.bytes(ldd)
	room := g.wide() || whole
	floor, start := g.scalar(g.argument("floor"), room), g.scalar(operand.Mem{Base: bias}, room)
	floor.load()
	var w [9]scalar
	var x [3]reg.VecVirtual // of a row: the pixels left of the column, in it, and right
	for i := range w {
		w[i] = g.scalar(operand.Mem{Base: weights, Disp: i * g.size}, room || i < heldWeights)
	}
	for i := range x {
		x[i] = g.vector()
	}
	load, outputs := g.pixels(stride, whole, x, from, j), g.outputs(stride, whole, dst, to, ldd, j)
	sum, next := g.vector(), g.vector()
	add := func(y int, to reg.Register) {
		for i := range x {
			g.op("VFMADD231", x[i], w[3*y+i].vector(), to)
		}
	}
	when := func(flag, label string) {
		g.CMPB(g.argument(flag), operand.U8(0))
		g.JE(operand.LabelRef(label))
	}

	g.Label("channel")
	for i := range w {
		w[i].load()
	}
	start.load()
	g.XORQ(j, j)
	g.Label("column")
	outputs.prepare()
	load.masks()
	g.LEAQ(operand.Mem{Base: dst, Index: j, Scale: uint8(g.size)}, to)
	if stride == 1 {
		g.LEAQ(operand.Mem{Base: src, Index: j, Scale: uint8(g.size)}, from)
	} else {
		g.LEAQ(operand.Mem{Base: j, Index: j, Scale: 1}, from)
		g.LEAQ(operand.Mem{Base: src, Index: from, Scale: uint8(g.size)}, from)
	}
	g.MOVQ(g.argument("m"), rows)
	start.copy(sum)
	when("above", "center")
	g.SUBQ(lds, from)
	load.row()
	g.ADDQ(lds, from)
	add(0, sum)
	store := func(label string) {
		// The last source wins if it is NaN, so a NaN stays one.
		g.op("VMAX", sum, floor.vector(), sum)
		outputs.row(sum, label)
		g.ADDQ(ldd, to)
	}
	g.Label("center")
	load.row()
	add(1, sum)
	if stride == 1 {
		start.copy(next)
		add(0, next)
	}
	g.DECQ(rows)
	g.JZ(operand.LabelRef("last"))
	if stride == 1 {
		g.ADDQ(lds, from)
		g.Label("row")
		load.row()
		add(2, sum)
		store("row")
		g.op("VMOVA", next, sum)
		start.copy(next)
		add(1, sum)
		add(0, next)
		g.ADDQ(lds, from)
		g.DECQ(rows)
		g.JNZ(operand.LabelRef("row"))
		g.SUBQ(lds, from)
	} else {
		g.Label("row")
		g.ADDQ(lds, from)
		load.row()
		add(2, sum)
		store("row")
		start.copy(sum)
		add(0, sum)
		g.ADDQ(lds, from)
		load.row()
		add(1, sum)
		g.DECQ(rows)
		g.JNZ(operand.LabelRef("row"))
	}
	g.Label("last")
	when("below", "done")
	g.ADDQ(lds, from)
	load.row()
	add(2, sum)
	g.Label("done")
	store("last")
	g.ADDQ(operand.U32(uint64(g.lanes())), j)
	g.CMPQ(j, g.argument("q"))
	g.JLT(operand.LabelRef("column"))

	step := g.GP64()
	for _, p := range []struct {
		at   reg.GPVirtual
		each string
	}{{dst, "ddst"}, {src, "dsrc"}} {
		g.MOVQ(g.argument(p.each), step)
		g.LEAQ(operand.Mem{Base: p.at, Index: step, Scale: uint8(g.size)}, p.at)
	}
	g.ADDQ(operand.U32(uint64(9*g.size)), weights)
	g.ADDQ(operand.U32(uint64(g.size)), bias)
	g.DECQ(channels)
	g.JNZ(operand.LabelRef("channel"))
	g.end()
}

// scalar is a number in memory that is wanted in all lanes of a vector. If it is not held in a register it is
// read at each use.
type scalar struct {
	g    *gen
	at   operand.Mem
	held reg.VecVirtual
}

func (g *gen) scalar(at operand.Mem, held bool) scalar {
	s := scalar{g: g, at: at}
	if held {
		s.held = g.vector()
	}
	return s
}

// load fills the register, if there is one.
func (s scalar) load() {
	if s.held != nil {
		s.g.broadcast(s.at, s.held)
	}
}

// vector is the register, or a new one that is filled now.
func (s scalar) vector() reg.VecVirtual {
	if s.held != nil {
		return s.held
	}
	v := s.g.vector()
	s.g.broadcast(s.at, v)
	return v
}

func (s scalar) copy(to reg.VecVirtual) {
	if s.held != nil {
		s.g.op("VMOVA", s.held, to)
		return
	}
	s.g.broadcast(s.at, to)
}

// pixelLoads prepares the loads of a vector of columns, and loads those of a row.
type pixelLoads struct{ masks, row func() }

// pixels loads into x what is left of a vector of columns, in it and right of it. Those of a stride of
// 2 are every other one of twice as many, for AVX2 in the order of everyOther.
func (g *gen) pixels(stride int, whole bool, x [3]reg.VecVirtual, from, j reg.GPVirtual) pixelLoads {
	if stride == 1 {
		var k [3]reg.Register
		for i := range k {
			k[i] = g.maskRegister()
		}
		return pixelLoads{
			masks: func() {
				for i := range k {
					g.lanesOf(k[i], "w", 1-i, 1, j, i == 0)
				}
			},
			row: func() {
				g.fetchBeside(from)
				for i := range x {
					g.get(operand.Mem{Base: from, Disp: (i - 1) * g.size}, &mask{k[i]}, x[i])
				}
			},
		}
	}
	everyOther := g.everyOther()
	if whole {
		k := g.maskRegister()
		return pixelLoads{
			masks: func() { g.lanesOf(k, "w", 1, 2, j, true) },
			row: func() {
				g.fetchBeside(from)
				g.get(operand.Mem{Base: from}, nil, x[1])
				everyOther(1, operand.Mem{Base: from, Disp: g.isa.Bytes}, x[1], x[2])
				everyOther(0, operand.Mem{Base: from, Disp: g.isa.Bytes}, x[1], x[1])
				g.get(operand.Mem{Base: from, Disp: -g.size}, &mask{k}, x[0])
				everyOther(0, operand.Mem{Base: from, Disp: g.isa.Bytes - g.size}, x[0], x[0])
			},
		}
	}
	half := g.vector()
	var k [4]reg.Register // two vectors from the column on, two from the one left of it
	for i := range k {
		k[i] = g.maskRegister()
	}
	return pixelLoads{
		masks: func() {
			for i := range k {
				left := i / 2
				g.lanesOf(k[i], "w", left-i%2*g.lanes(), 2, j, i == 2)
			}
		},
		row: func() {
			get := func(i int, to reg.VecVirtual) {
				g.get(operand.Mem{Base: from, Disp: i%2*g.isa.Bytes - i/2*g.size}, &mask{k[i]}, to)
			}
			g.fetchBeside(from)
			get(0, x[1])
			get(1, half)
			everyOther(1, half, x[1], x[2])
			everyOther(0, half, x[1], x[1])
			get(2, x[0])
			get(3, half)
			everyOther(0, half, x[0], x[0])
		},
	}
}

// fetchBeside fetches what a row has a line behind the columns: the hardware does not look ahead across the
// rows that a vector of columns is read from. AVX-512 does without.
func (g *gen) fetchBeside(from reg.GPVirtual) {
	if !g.wide() {
		g.PREFETCHT0(operand.Mem{Base: from, Disp: 64})
	}
}

// everyOther gives every other lane of a vector and one behind it, from the first or the second on. AVX2
// leaves its middle quarters in each other's place: see inOrder.
func (g *gen) everyOther() func(first int, behind operand.Op, v, to reg.VecVirtual) {
	if g.wide() {
		index := [2]reg.VecVirtual{g.vector(), g.vector()}
		for first, v := range index {
			g.VMOVUPS(g.alternate(first), v)
		}
		return func(first int, behind operand.Op, v, to reg.VecVirtual) {
			if to != v {
				g.op("VMOVA", v, to)
			}
			g.op("VPERMT2", behind, index[first], to)
		}
	}
	lanes := [2]operand.U8{0b10_00_10_00, 0b11_01_11_01}
	if g.size == 8 {
		lanes = [2]operand.U8{0b0000, 0b1111}
	}
	return func(first int, behind operand.Op, v, to reg.VecVirtual) {
		g.op("VSHUF", lanes[first], behind, v, to)
	}
}

// inOrder puts what AVX2 has computed of pixels of everyOther in their order: one swap for an output, instead
// of one for each vector of pixels.
func (g *gen) inOrder(v reg.VecVirtual) { g.VPERMPD(operand.U8(0b11_01_10_00), v, v) }

// columnStores prepares the stores of a vector of columns, and stores the one of a row.
type columnStores struct {
	prepare func()
	row     func(sum reg.VecVirtual, label string)
}

// outputs stores vectors of outputs from column j on. AVX2 has no quick store of a part of a vector. So it
// moves the last vector of a row back to end with the row; what it stores behind a row that is shorter than a
// vector gives way to the next row, and only where the channel ends a part is stored.
func (g *gen) outputs(stride int, whole bool, dst, to, ldd, j reg.GPVirtual) columnStores {
	if g.wide() {
		k := g.maskRegister()
		return columnStores{
			prepare: func() { g.lanesOf(k, "q", 0, 1, j, false) },
			row:     func(sum reg.VecVirtual, _ string) { g.put(sum, &mask{k}, operand.Mem{Base: to}) },
		}
	}
	last := g.GP64() // where the last whole vector of the channel is
	return columnStores{
		prepare: func() {
			back, zero := g.GP64(), g.GP64()
			g.MOVQ(g.argument("q"), back)
			g.XORQ(zero, zero)
			g.SUBQ(operand.U32(uint64(g.lanes())), back)
			g.CMOVQLT(zero, back)
			g.CMPQ(j, back)
			g.CMOVQGT(back, j)
			if whole {
				return
			}
			g.MOVQ(g.argument("m"), last)
			g.IMULQ(ldd, last)
			g.LEAQ(operand.Mem{Base: dst, Index: last, Scale: 1, Disp: -g.isa.Bytes}, last)
		},
		row: func(sum reg.VecVirtual, label string) {
			if stride == 2 {
				g.inOrder(sum)
			}
			if whole {
				g.put(sum, nil, operand.Mem{Base: to})
				return
			}
			g.CMPQ(to, last)
			g.JHI(operand.LabelRef(label + "part"))
			g.put(sum, nil, operand.Mem{Base: to})
			g.JMP(operand.LabelRef(label + "stored"))
			g.Label(label + "part")
			g.put(sum, g.mask(g.load("q")), operand.Mem{Base: to})
			g.Label(label + "stored")
		},
	}
}

// lanesOf makes k a mask of the lanes that lie before the end of a row of so many elements, an argument,
// from more elements before `scale` j on; the first lane of the first vector may be before the row.
func (g *gen) lanesOf(k reg.Register, row string, more, scale int, j reg.GPVirtual, before bool) {
	n, bound := g.GP64(), g.GP64()
	g.MOVQ(g.argument(row), n)
	for range scale {
		g.SUBQ(j, n)
	}
	g.ADDQ(operand.I32(int32(more)), n)
	g.XORQ(bound, bound)
	g.CMPQ(n, bound)
	g.CMOVQLT(bound, n)
	g.MOVQ(operand.I32(int32(g.lanes())), bound)
	g.CMPQ(n, bound)
	g.CMOVQGT(bound, n)
	if !g.wide() {
		g.firstLanes(n, k)
		if before {
			zero := g.vector()
			g.TESTQ(j, j)
			g.JNE(operand.LabelRef("within"))
			g.op("VXOR", zero, zero, zero)
			g.op("VBLEND", operand.U8(1), zero, k, k)
			g.Label("within")
		}
		return
	}
	g.MOVQ(operand.I32(-1), bound)
	g.BZHIQ(n, bound, bound)
	if before {
		g.MOVQ(bound, n)
		g.ANDQ(operand.I32(-2), n)
		g.TESTQ(j, j)
		g.CMOVQEQ(n, bound)
	}
	g.KMOVW(bound.As32(), k)
}

// alternate is an index of VPERMT2: every other lane of two vectors, from the first or the second on.
func (g *gen) alternate(first int) operand.Mem {
	s := g.symbol([]string{"Even", "Odd"}[first])
	g.StaticGlobal(s.Name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range g.lanes() {
		if g.size == 4 {
			g.AddDatum(4*i, operand.U32(2*i+first))
		} else {
			g.AddDatum(8*i, operand.U64(2*i+first))
		}
	}
	return operand.NewDataAddr(s, 0)
}
