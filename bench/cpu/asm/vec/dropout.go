package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The generator is SplitMix32: a counter that advances by weyl, and the finaliser of
// MurmurHash3. Numbers are kept in the lower 32 bits of a lane.
const (
	weyl      = 0x9e3779b9
	multiply1 = 0x85ebca6b
	multiply2 = 0xc2b2ae35
)

// dropoutVectors is the number of vectors at once: AVX-512, and half for AVX2.
const dropoutVectors = 4

func (g *gen) dropout() {
	g.begin("Dropout", "func(dst, src *S, n int, scale T, least, at uint32, nt bool)")
	dst, src, left := g.load("dst"), g.load("src"), g.load("n")
	unroll := dropoutVectors
	if !g.wide() {
		unroll /= 2
	}
	scale := g.vector()
	g.broadcast(g.argument("scale"), scale)
	least, counter := g.broadcastUint32("least"), g.broadcastUint32("at")
	g.VPADDD(g.lanesOfWeyl(), counter, counter)
	step := func(vectors int) konst { return konst(uint32(vectors * g.lanes() * weyl)) }
	g.pin(multiply1, multiply2)
	for u := 1; u <= unroll; u++ {
		g.pin(step(u))
	}
	at := g.GP64()
	g.XORQ(at, at)
	from, to := g.row(src, at), g.row(dst, at)
	vectors := func(count int, mask *mask, nt bool) {
		g.fetchAhead(src, at, count)
		g.interleave(count, func(u int) {
			h := g.vector()
			if u == 0 {
				g.op("VMOVA", counter, h)
			} else {
				g.emit("VPADDD", g.pinned[uint64(step(u))], counter, h)
			}
			g.mix(h)
			x := g.vector()
			g.get(from(u), mask, x)
			g.op("VMUL", scale, x, x)
			g.keep(x, h, least)
			g.store(x, mask, nt, to(u))
		})
		g.VPADDD(g.pinned[uint64(step(count))], counter, counter)
	}
	for _, loop := range []struct {
		name  string
		count int
		nt    bool
	}{{"nt", unroll, true}, {"main", unroll, false}, {"single", 1, false}} {
		if loop.nt {
			g.skipUnlessNT(dst, loop.name+"skip")
		}
		g.SUBQ(operand.I32(loop.count*g.lanes()), left)
		g.JLT(operand.LabelRef(loop.name + "done"))
		g.Label(loop.name)
		vectors(loop.count, nil, loop.nt)
		g.ADDQ(operand.I32(loop.count*g.step()), at)
		g.SUBQ(operand.I32(loop.count*g.lanes()), left)
		g.JGE(operand.LabelRef(loop.name))
		g.Label(loop.name + "done")
		g.ADDQ(operand.I32(loop.count*g.lanes()), left)
		if loop.nt {
			g.Label(loop.name + "skip")
		}
	}
	g.JZ(operand.LabelRef("return"))
	vectors(1, g.mask(left), false)
	g.Label("return")
	g.end()
}

// mix turns a counter into a random number of 31 bits.
func (g *gen) mix(h reg.Register) {
	xorShift := func(bits int) {
		t := g.vector()
		g.emit("VPSRLD", immediate(bits), h, t)
		g.op("VXOR", t, h, h)
	}
	xorShift(16)
	g.emit("VPMULLD", g.pinned[multiply1], h, h)
	xorShift(13)
	g.emit("VPMULLD", g.pinned[multiply2], h, h)
	xorShift(16)
	g.emit("VPSRLD", immediate(1), h, h)
}

// keep sets x to 0 where h < least.
func (g *gen) keep(x, h, least reg.Register) {
	lane := map[int]string{4: "D", 8: "Q"}[g.size]
	if g.wide() {
		k := g.K()
		g.emit("VPCMP"+lane, immediate(2), h, least, k) // least <= h
		g.emit("VMOVAP"+g.mnemonic+"_Z", x, k, x)
		return
	}
	t := g.vector()
	g.emit("VPCMPGT"+lane, h, least, t)
	g.op("VANDN", x, t, x)
}

// broadcastUint32 fills the lanes with an argument.
func (g *gen) broadcastUint32(name string) reg.VecVirtual {
	r, x, v := g.GP32(), g.XMM(), g.vector()
	g.Load(g.Param(name), r)
	g.VMOVD(r, x)
	g.emit("VPBROADCAST"+map[int]string{4: "D", 8: "Q"}[g.size], x, v)
	return v
}

// lanesOfWeyl is the table whose lane i holds (i+1) weyl.
func (g *gen) lanesOfWeyl() operand.Mem {
	s := g.symbol("Weyl")
	g.StaticGlobal(s.Name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range g.lanes() {
		k := uint32((i + 1) * weyl)
		if g.size == 4 {
			g.AddDatum(i*g.size, operand.U32(k))
		} else {
			g.AddDatum(i*g.size, operand.U64(k))
		}
	}
	return operand.NewDataAddr(s, 0)
}
