package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panel is the number of vectors whose columns a column kernel walks down at
// once: the width of a micro-panel of B.
const panel = 2

// reducedPanel is that of a reduction, which has room for more: as far as rows are read in
// order, memory is fast.
const reducedPanel = 8

// columns writes the reductions along columns, for scores that are stored
// transposed: a softmax then needs no horizontal step.
func (g *gen) columns() {
	g.begin("ColMax", "func(dst *T, src *S, ld, m, n int)")
	g.columnStrips(reducedPanel, func(c strip) { g.columnReduce("VMAX", c) })
	g.begin("ColSum", "func(dst *T, src *S, ld, m, n int)")
	g.columnStrips(reducedPanel, func(c strip) { g.columnReduce("VADD", c) })
	if g.half() {
		return // scores are what is computed in
	}
	g.begin("ColExpSum", "func(dst, src, shift, sum *T, ld, m, n int, scale T)")
	scale := g.vector()
	g.broadcast(g.argument("scale"), scale)
	pins, held := g.powerPins()
	g.pin(append(pins, g.expMinFlushed())...)
	g.hold(held...)
	shift, sum := g.load("shift"), g.load("sum")
	g.columnStrips(panel, func(c strip) { g.columnExpSum(c, scale, shift, sum) })
}

// strip is count vectors of columns, all rows.
type strip struct {
	dst, src, ld, rows, at reg.GPVirtual // at: byte offset of the first column
	count                  int
	mask                   *mask
	label                  string
}

// columnStrips cuts the columns into strips of `most` vectors, what is left into halves of that, and so on: a strip reads
// its rows in order, with a partial result of each vector in flight.
func (g *gen) columnStrips(most int, body func(c strip)) {
	dst, src, ld, m, n := g.load("dst"), g.load("src"), g.load("ld"), g.load("m"), g.load("n")
	g.bytes(ld)
	at := g.GP64()
	g.XORQ(at, at)
	for count := most; count > 0; count /= 2 {
		name := fmt.Sprintf("strip%d", count)
		g.SUBQ(operand.I32(count*g.lanes()), n)
		g.JLT(operand.LabelRef(name + "done"))
		g.Label(name)
		body(strip{dst, src, ld, m, at, count, nil, name + "row"})
		g.ADDQ(operand.I32(count*g.step()), at)
		g.SUBQ(operand.I32(count*g.lanes()), n)
		if count == most {
			g.JGE(operand.LabelRef(name))
		}
		g.Label(name + "done")
		g.ADDQ(operand.I32(count*g.lanes()), n)
	}
	g.JZ(operand.LabelRef("return"))
	body(strip{dst, src, ld, m, at, 1, g.mask(n), "tailrow"})
	g.Label("return")
	g.end()
}

// down repeats the body for every row of the strip.
func (g *gen) down(c strip, body func(dst, src reg.GPVirtual)) {
	dst, src, left := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(c.dst, dst)
	g.MOVQ(c.src, src)
	g.MOVQ(c.rows, left)
	g.Label(c.label)
	body(dst, src)
	g.ADDQ(c.ld, dst)
	g.ADDQ(c.ld, src)
	g.DECQ(left)
	g.JNZ(operand.LabelRef(c.label))
}

func (g *gen) columnReduce(mnemonic string, c strip) {
	acc := make([]reg.VecVirtual, c.count)
	for u := range acc {
		acc[u] = g.vector()
		g.getT(g.rowOfT(c.dst, c.at)(u), c.mask, acc[u])
	}
	g.down(c, func(_, src reg.GPVirtual) {
		for u := range acc {
			x := g.vector()
			g.get(g.row(src, c.at)(u), c.mask, x)
			g.op(mnemonic, x, acc[u], acc[u])
		}
	})
	for u := range acc {
		g.putT(acc[u], c.mask, g.rowOfT(c.dst, c.at)(u))
	}
}

func (g *gen) columnExpSum(c strip, scale, shift, sum reg.Register) {
	acc, shifts := make([]reg.VecVirtual, c.count), make([]reg.VecVirtual, c.count)
	for u := range acc {
		acc[u], shifts[u] = g.vector(), g.vector()
		g.get(g.row(sum, c.at)(u), c.mask, acc[u])
		g.get(g.row(shift, c.at)(u), c.mask, shifts[u])
	}
	g.down(c, func(dst, src reg.GPVirtual) {
		g.interleave(c.count, func(u int) {
			x := g.vector()
			g.get(g.row(src, c.at)(u), c.mask, x)
			g.op("VFMADD213", shifts[u], scale, x)
			p := g.expNonPositive(x)
			g.put(p, c.mask, g.row(dst, c.at)(u))
			g.op("VADD", p, acc[u], acc[u])
		})
	})
	for u := range acc {
		g.put(acc[u], c.mask, g.row(sum, c.at)(u))
	}
}
