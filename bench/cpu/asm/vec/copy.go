package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// copyColumns writes dst[i*n+j] = src[i*lds+j] for m rows of n elements, of one vector
// or two. Rows are too short for what a call costs each.
func (g *gen) copyColumns() {
	g.begin("CopyColumns", "func(dst, src *T, lds, m, n int)")
	dst, src, lds, m, n := g.load("dst"), g.load("src"), g.load("lds"), g.load("m"), g.load("n")
	g.bytes(lds)
	row, at := g.GP64(), g.GP64()
	g.MOVQ(n, row)
	g.bytes(row)
	// The second of two vectors ends where the row does.
	g.LEAQ(operand.Mem{Base: row, Disp: -g.isa.Bytes}, at)
	loop := func(name string, body func()) {
		g.Label(name)
		body()
		g.ADDQ(lds, src)
		g.ADDQ(row, dst)
		g.DECQ(m)
		g.JNZ(operand.LabelRef(name))
		g.end()
	}
	g.CMPQ(n, operand.I32(g.lanes()))
	g.JLT(operand.LabelRef("short"))
	loop("two", func() {
		x, y := g.vector(), g.vector()
		g.op("VMOVU", operand.Mem{Base: src}, x)
		g.op("VMOVU", operand.Mem{Base: src, Index: at, Scale: 1}, y)
		g.op("VMOVU", x, operand.Mem{Base: dst})
		g.op("VMOVU", y, operand.Mem{Base: dst, Index: at, Scale: 1})
	})
	g.Label("short")
	mask := g.mask(n)
	if !g.wide() {
		g.wholeRows(dst, src, lds, m, n, row)
	}
	loop("one", func() {
		x := g.vector()
		g.get(operand.Mem{Base: src}, mask, x)
		g.put(x, mask, operand.Mem{Base: dst})
	})
}

// wholeRows copies rows shorter than a vector with a whole one each, of which the next row overwrites the end: a store
// under a mask takes a Zen 3 some 20 cycles. It leaves the last rows, behind which there are fewer elements than that.
func (g *gen) wholeRows(dst, src, lds, m, n, row reg.GPVirtual) {
	whole, over := g.GP64(), g.GP64()
	g.MOVQ(m, whole)
	g.MOVQ(operand.U32(g.lanes()), over)
	g.Label("last")
	g.DECQ(whole)
	g.SUBQ(n, over)
	g.CMPQ(over, n)
	g.JGT(operand.LabelRef("last"))
	g.CMPQ(whole, operand.Imm(0))
	g.JLE(operand.LabelRef("one"))
	g.SUBQ(whole, m)
	g.Label("whole")
	x := g.vector()
	g.op("VMOVU", operand.Mem{Base: src}, x)
	g.op("VMOVU", x, operand.Mem{Base: dst})
	g.ADDQ(lds, src)
	g.ADDQ(row, dst)
	g.DECQ(whole)
	g.JNZ(operand.LabelRef("whole"))
}
