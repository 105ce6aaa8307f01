package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// normalize writes the second half of a layer norm, behind rowSum and rowSquares.
func (g *gen) normalize() {
	g.begin("Normalize", "func(dst, src, gamma, beta *T, n int, mean, scale T)")
	dst, src, gamma, beta := g.load("dst"), g.load("src"), g.load("gamma"), g.load("beta")
	n, at := g.load("n"), g.GP64()
	mean, scale := g.vector(), g.vector()
	g.broadcast(g.argument("mean"), mean)
	g.broadcast(g.argument("scale"), scale)
	next := g.following(src, n)
	g.strip("strip", n, at, func(count int, mask *mask) {
		g.interleave(count, func(u int) {
			vector := func(base reg.Register) operand.Mem {
				return operand.Mem{Base: base, Index: at, Scale: 1, Disp: u * g.isa.Bytes}
			}
			x, f, s := g.vector(), g.vector(), g.vector()
			g.get(vector(src), mask, x)
			g.emit("PREFETCHT0", vector(next))
			g.get(vector(gamma), mask, f)
			g.get(vector(beta), mask, s)
			g.op("VSUB", mean, x, x)
			g.op("VMUL", scale, x, x)
			g.op("VFMADD213", s, f, x)
			g.put(x, mask, vector(dst))
		})
	})
	g.end()
}
