package main

import (
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

// dropout writes that of a row, and that of gelu of its sum with another: fewer vectors at once, which need more
// registers.
func (g *gen) dropout() {
	g.dropoutOf("Dropout", 4, nil, nil)
	pins, held := g.geluPins()
	g.dropoutOf("AddGeluDropout", 2, pins, held)
}

// dropoutOf does so with so many vectors at once: AVX-512, and half for AVX2, but for a gelu that takes few registers.
// With what gelu needs in registers it comes first.
func (g *gen) dropoutOf(name string, unroll int, pins []konst, held [][]uint64) {
	gelu, operands := pins != nil, "dst, src *S"
	if gelu {
		operands = "dst, src, y *S"
	}
	g.begin(name, "func("+operands+", n int, scale T, least, at uint32, nt uint8)")
	dst, src, left := g.load("dst"), g.load("src"), g.load("n")
	var y reg.GPVirtual
	if gelu {
		y = g.load("y")
	}
	g.pin(pins...)
	g.hold(held...)
	lean := gelu && !g.wide() && g.size == 4 // see rooted
	if !g.wide() && !lean {
		unroll /= 2
	}
	scale := g.vector()
	g.broadcast(g.argument("scale"), scale)
	least, counter := g.broadcastUint32("least"), g.broadcastUint32("at")
	g.VPADDD(g.lanesOfWeyl(), counter, counter)
	step := func(vectors int) konst { return konst(uint32(vectors * g.lanes() * weyl)) }
	if !lean {
		g.pin(multiply1, multiply2)
		for u := 1; u <= unroll; u++ {
			g.pin(step(u))
		}
	}
	random := func(u int) reg.Register {
		h := g.vector()
		if u == 0 {
			g.op("VMOVA", counter, h)
		} else {
			g.emit("VPADDD", step(u), counter, h)
		}
		g.mix(h)
		return h
	}
	at := g.GP64()
	g.XORQ(at, at)
	from, to := g.row(src, at), g.row(dst, at)
	vectors := func(count int, mask *mask, nt bool) {
		g.fetchAhead(src, at, count)
		most := g.together(count)
		xs := make([]reg.Register, count)
		g.interleave(count, func(u int) {
			var h reg.Register
			if !lean {
				h = random(u)
			}
			var x reg.Register = g.vector()
			g.get(from(u), mask, x)
			if gelu {
				z := g.vector()
				g.get(g.row(y, at)(u), mask, z)
				g.op("VADD", z, x, x)
				x = g.geluOf(x)
			}
			if lean { // there are no registers for both at a time
				h = random(u)
			}
			g.op("VMUL", scale, x, x)
			g.keep(x, h, least)
			if xs[u] = x; most == 1 {
				g.store(x, mask, nt, to(u))
			}
		})
		for u := 0; most > 1 && u < count; u += most {
			g.storePair(pair{v: xs[u : u+most]}, mask, nt, to(u))
		}
		g.emit("VPADDD", step(count), counter, counter)
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
	g.emit("VPMULLD", konst(multiply1), h, h)
	xorShift(13)
	g.emit("VPMULLD", konst(multiply2), h, h)
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

// lanesOfWeyl is the vector whose lane i holds (i+1) weyl.
func (g *gen) lanesOfWeyl() operand.Mem {
	lanes := make([]uint64, g.lanes())
	for i := range lanes {
		lanes[i] = uint64(uint32((i + 1) * weyl))
	}
	return g.lanesMem(lanes...)
}
