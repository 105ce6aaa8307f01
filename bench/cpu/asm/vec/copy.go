package main

import "github.com/mmcloughlin/avo/operand"

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
	loop("one", func() {
		x := g.vector()
		g.get(operand.Mem{Base: src}, mask, x)
		g.put(x, mask, operand.Mem{Base: dst})
	})
}
