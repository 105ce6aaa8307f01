package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// norms pass over each row of m: its sum, which dst = src + y may precede; the squares of
// the deviations from the mean, in a pass of their own, as the difference of two sums
// would lose digits; the result. The root mean square needs no first pass. Rows come from
// far: while the last pass stores, the next row is fetched.
func (g *gen) norms() {
	g.begin("LayerNorm", "func(dst, src, y, gamma, beta *T, ldd, lds, ldy, m, n int, eps T, nt bool)")
	g.norm(true)
	g.begin("RMSNorm", "func(dst, src, gamma *T, ldd, lds, m, n int, eps T, nt bool)")
	g.norm(false)
}

func (g *gen) norm(layer bool) {
	dst, src, ldd, lds := g.load("dst"), g.load("src"), g.load("ldd"), g.load("lds")
	n, at, next, far, gamma := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.load("gamma")
	g.bytes(ldd)
	g.bytes(lds)
	to, weights, ahead := g.row(dst, at), g.row(gamma, at), g.row(far, at)
	var y, beta reg.GPVirtual
	if layer {
		y, beta = g.load("y"), g.load("beta")
	}
	elems := g.XMM()
	g.Load(g.Param("n"), n)
	g.emit("VCVTSI2S"+g.mnemonic+"Q", n, elems, elems)
	mean, scale := g.vector(), g.vector()
	g.Label("row")
	g.LEAQ(operand.Mem{Base: src, Index: lds, Scale: 1}, next)
	g.farAhead(src, next, far)
	from := g.row(src, at)
	if layer {
		acc := g.accumulate(g.num(0))
		g.TESTQ(y, y)
		g.JZ(operand.LabelRef("plain"))
		g.strip("add", n, at, func(count int, mask *mask) {
			with := g.row(y, at)
			for u := range count {
				x, z := g.vector(), g.vector()
				g.get(from(u), mask, x)
				g.get(with(u), mask, z)
				g.op("VADD", z, x, x)
				g.put(x, mask, to(u))
				g.accumulateMasked(x, mask, acc[u])
			}
		})
		ldy := g.load("ldy")
		g.bytes(ldy)
		g.ADDQ(ldy, y)
		g.MOVQ(dst, src)
		g.JMP(operand.LabelRef("summed"))
		g.Label("plain")
		g.strip("sum", n, at, func(count int, mask *mask) {
			for u := range count {
				g.join("VADD", from(u), mask, g.num(0), acc[u])
			}
		})
		g.Label("summed")
		sum := g.fold("VADD", acc)
		g.emit("VDIVS"+g.mnemonic, elems, sum.AsX(), sum.AsX())
		g.broadcast(sum.AsX(), mean)
	}
	acc := g.accumulate(g.num(0))
	g.strip("squares", n, at, func(count int, mask *mask) {
		for u := range count {
			x := g.vector()
			g.get(from(u), mask, x)
			if layer {
				g.op("VSUB", mean, x, x)
			}
			if mask == nil {
				g.op("VFMADD231", x, x, acc[u])
				continue
			}
			g.op("VMUL", x, x, x)
			g.accumulateMasked(x, mask, acc[u])
		}
	})
	squares := g.fold("VADD", acc).AsX()
	one := g.XMM()
	g.emit("VDIVS"+g.mnemonic, elems, squares, squares)
	g.emit("VADDS"+g.mnemonic, g.argument("eps"), squares, squares)
	g.emit("VSQRTS"+g.mnemonic, squares, squares, squares)
	g.emit("VMOVS"+g.mnemonic, g.mem(g.num(1)), one)
	g.emit("VDIVS"+g.mnemonic, squares, one, one)
	g.broadcast(one, scale)

	result := func(nt bool) func(count int, mask *mask) {
		return func(count int, mask *mask) {
			g.interleave(count, func(u int) {
				x, f := g.vector(), g.vector()
				g.get(from(u), mask, x)
				g.emit("PREFETCHT0", ahead(u))
				g.get(weights(u), mask, f)
				if layer {
					g.op("VSUB", mean, x, x)
				}
				g.op("VMUL", scale, x, x)
				if layer {
					s := g.vector()
					g.get(g.row(beta, at)(u), mask, s)
					g.op("VFMADD213", s, f, x)
				} else {
					g.op("VMUL", f, x, x)
				}
				g.store(x, mask, nt && mask == nil, to(u))
			})
		}
	}
	g.skipUnlessNT(dst, "kept")
	g.strip("nt", n, at, result(true))
	g.JMP(operand.LabelRef("written"))
	g.Label("kept")
	g.strip("result", n, at, result(false))
	g.Label("written")
	g.ADDQ(ldd, dst)
	g.MOVQ(next, src)
	g.DECQ(g.argument("m"))
	g.JNZ(operand.LabelRef("row"))
	g.end()
}
