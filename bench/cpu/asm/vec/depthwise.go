package main

import (
	"fmt"

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
