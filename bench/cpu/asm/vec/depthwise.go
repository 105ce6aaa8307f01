package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// depthwise writes, for AVX-512, the depthwise convolution 3x3 with a padding of 1 and the stride:
// for m rows of q pixels of each channel
//
//	dst[i*q+j] = max(bias + sum over y and x of weights[3*y+x] src[(i*stride+y-1)*w+j*stride+x-1], floor)
//
// where columns outside of the w of an image are 0, and so are the row before the first of src unless
// it is above, and the one behind those of the last output unless it is below. Channels are ddst and
// dsrc apart, weights have 9 each and bias has 1.
//
// A row of the image is loaded once for a vector of columns and goes to all outputs that it is
// a tap of, in registers: no copy of the image with its padding has to be made.
func (g *gen) depthwise(stride int) {
	g.begin(fmt.Sprintf("Depthwise%d", stride), "func(dst, src *T, channels, m, w, q, ddst, dsrc int, weights, bias *T, floor T, above, below bool)")
	dst, src, channels := g.load("dst"), g.load("src"), g.load("channels")
	lds, ldd := g.load("w"), g.load("q")
	weights, bias := g.load("weights"), g.load("bias")
	from, to, rows, j := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.bytes(lds)
	g.bytes(ldd)
	floor, start := g.vector(), g.vector()
	g.broadcast(g.argument("floor"), floor)
	var w [9]reg.VecVirtual
	var x [3]reg.VecVirtual // of a row: the pixels left of the column, in it, and right
	for i := range w {
		w[i] = g.vector()
	}
	for i := range x {
		x[i] = g.vector()
	}
	load, stored := g.pixels(stride, x, from, j), g.K()
	sum, next := g.vector(), g.vector()
	add := func(y int, to reg.Register) {
		for i := range x {
			g.op("VFMADD231", x[i], w[3*y+i], to)
		}
	}
	when := func(flag, label string) {
		g.CMPB(g.argument(flag), operand.U8(0))
		g.JE(operand.LabelRef(label))
	}

	g.Label("channel")
	for i := range w {
		g.broadcast(operand.Mem{Base: weights, Disp: i * g.size}, w[i])
	}
	g.broadcast(operand.Mem{Base: bias}, start)
	g.XORQ(j, j)
	g.Label("column")
	g.lanesOf(stored, "q", 0, 1, j, false)
	load.masks()
	g.LEAQ(operand.Mem{Base: dst, Index: j, Scale: uint8(g.size)}, to)
	if stride == 1 {
		g.LEAQ(operand.Mem{Base: src, Index: j, Scale: uint8(g.size)}, from)
	} else {
		g.LEAQ(operand.Mem{Base: j, Index: j, Scale: 1}, from)
		g.LEAQ(operand.Mem{Base: src, Index: from, Scale: uint8(g.size)}, from)
	}
	g.MOVQ(g.argument("m"), rows)
	g.op("VMOVA", start, sum)
	when("above", "center")
	g.SUBQ(lds, from)
	load.row()
	g.ADDQ(lds, from)
	add(0, sum)
	store := func() {
		// The last source wins if it is NaN, so a NaN stays one.
		g.op("VMAX", sum, floor, sum)
		g.put(sum, &mask{stored}, operand.Mem{Base: to})
		g.ADDQ(ldd, to)
	}
	g.Label("center")
	load.row()
	add(1, sum)
	if stride == 1 {
		g.op("VMOVA", start, next)
		add(0, next)
	}
	g.DECQ(rows)
	g.JZ(operand.LabelRef("last"))
	g.ADDQ(lds, from)
	if stride == 1 {
		g.Label("row")
		load.row()
		add(2, sum)
		store()
		g.op("VMOVA", next, sum)
		g.op("VMOVA", start, next)
		add(1, sum)
		add(0, next)
		g.ADDQ(lds, from)
		g.DECQ(rows)
		g.JNZ(operand.LabelRef("row"))
		g.SUBQ(lds, from)
	} else {
		load.row()
		add(2, sum)
		store()
		g.op("VMOVA", start, sum)
		add(0, sum)
		g.ADDQ(lds, from)
		g.JMP(operand.LabelRef("center"))
	}
	g.Label("last")
	when("below", "done")
	g.ADDQ(lds, from)
	load.row()
	add(2, sum)
	g.Label("done")
	store()
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

// pixelLoads prepares the loads of a vector of columns, and loads those of a row.
type pixelLoads struct{ masks, row func() }

// pixels loads into x what is left of a vector of columns, in it and right of it. Those of a stride of
// 2 are every other one of twice as many.
func (g *gen) pixels(stride int, x [3]reg.VecVirtual, from, j reg.GPVirtual) pixelLoads {
	if stride == 1 {
		var k [3]reg.Register
		for i := range k {
			k[i] = g.K()
		}
		return pixelLoads{
			masks: func() {
				for i := range k {
					g.lanesOf(k[i], "w", 1-i, 1, j, i == 0)
				}
			},
			row: func() {
				for i := range x {
					g.get(operand.Mem{Base: from, Disp: (i - 1) * g.size}, &mask{k[i]}, x[i])
				}
			},
		}
	}
	even, odd, half, beside := g.vector(), g.vector(), g.vector(), g.vector()
	g.VMOVUPS(g.alternate(0), even)
	g.VMOVUPS(g.alternate(1), odd)
	var k [4]reg.Register // two vectors from the column on, two from the one left of it
	for i := range k {
		k[i] = g.K()
	}
	return pixelLoads{
		masks: func() {
			for i := range k {
				left := i / 2
				g.lanesOf(k[i], "w", left-i%2*g.lanes(), 2, j, i == 2)
			}
		},
		row: func() {
			at := func(i int) operand.Mem {
				return operand.Mem{Base: from, Disp: i%2*g.isa.Bytes - i/2*g.size}
			}
			g.get(at(0), &mask{k[0]}, x[1])
			g.get(at(1), &mask{k[1]}, half)
			g.get(at(2), &mask{k[2]}, x[0])
			g.get(at(3), &mask{k[3]}, beside)
			g.op("VMOVA", x[1], x[2])
			g.op("VPERMT2", half, even, x[1])
			g.op("VPERMT2", half, odd, x[2])
			g.op("VPERMT2", beside, even, x[0])
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
