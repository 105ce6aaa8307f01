package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// normalize writes the second half of a layer norm, behind rowSum and rowSquares.
func (g *gen) normalize() {
	g.begin("Normalize", "func(dst, src, gamma, beta *T, n int, mean, scale T, nt bool)")
	dst, src, gamma, beta := g.load("dst"), g.load("src"), g.load("gamma"), g.load("beta")
	n, at := g.load("n"), g.GP64()
	mean, scale := g.vector(), g.vector()
	g.broadcast(g.argument("mean"), mean)
	g.broadcast(g.argument("scale"), scale)
	next := g.following(src, n)
	g.ntStrips(dst, n, at, func(count int, mask *mask, nt bool) {
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
			g.store(x, mask, nt, vector(dst))
		})
	})
	g.end()
}

// ntStrips walks the n elements of a row that is written: with the argument nt, several
// vectors at once go past the caches.
func (g *gen) ntStrips(dst, n, at reg.GPVirtual, vectors func(count int, mask *mask, nt bool)) {
	g.skipUnlessNT(dst, "kept")
	g.strip("nt", n, at, func(count int, mask *mask) { vectors(count, mask, count > 1) })
	g.JMP(operand.LabelRef("written"))
	g.Label("kept")
	g.strip("strip", n, at, func(count int, mask *mask) { vectors(count, mask, false) })
	g.Label("written")
}
