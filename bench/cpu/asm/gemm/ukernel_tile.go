package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// emitTile writes one tile of rows x vecs.
func (u ukernel) emitTile(c *build.Context, rows, vecs int) {
	at := func(s string) string { return fmt.Sprintf("%s%dx%d", s, rows, vecs) }
	sets := u.sets(rows, vecs)
	used := rows * vecs * sets
	// Step n adds to one of the sets, of which the first begins with C and ends as C.
	set := func(n, i, j int) reg.VecPhysical { return u.V((n%sets*rows+i)*vecs + j) }
	acc := func(i, j int) reg.VecPhysical { return set(0, i, j) }
	b := func(j int) reg.VecPhysical { return u.V(used + j) }
	spare := min(u.Regs-used-vecs, 4)
	a := func(i int) reg.VecPhysical { return u.V(used + vecs + i%spare) }
	mask := []reg.OpmaskPhysical{reg.K1, reg.K2}
	present := []reg.OpmaskPhysical{reg.K5, reg.K6}
	if u.packs && !u.taps && u.masked() {
		for j := range vecs {
			c.KANDQ(mask[j], maskSource[j], present[j])
		}
	}

	// With one vector of B a separate broadcast would take a slot of its own for
	// every FMA, more than the front end delivers. With two, a row that is broadcast
	// within its FMA would save a slot and cost a load.
	embed := pick(u.target, c.VFMADD231PS_BCST, c.VFMADD231PD_BCST)
	embedded := u.Bytes == 64 && vecs == 1 && !u.pairs
	broadcast := pick(u.target, c.VBROADCASTSS, c.VBROADCASTSD)
	fma := pick(u.target, c.VFMADD231PS, c.VFMADD231PD)
	if u.pairs {
		fma = func(ops ...Op) { simd.Emit(c, "VDPBF16PS", ops...) }
	}
	add := pick(u.target, c.VADDPS, c.VADDPD)
	load := pick(u.target, c.VMOVUPS, c.VMOVUPD)
	loadMasked := pick(u.target, c.VMOVUPS_Z, c.VMOVUPD_Z)

	// C waits in L2, where the tile before has fetched it.
	c.MOVB(param(c, "add"), regTemp.As8())
	c.TESTB(regTemp.As8(), regTemp.As8())
	c.JZ(LabelRef(at("zero")))
	if u.rounds {
		c.MOVQ(param(c, "bias"), regTemp)
		for i := range rows {
			for j := range vecs {
				load(Mem{Base: regTemp, Disp: (i*u.vecs + j) * u.Bytes}, acc(i, j))
			}
		}
	} else {
		u.eachOfC(c, rows, vecs, func(i, j int, from Mem) {
			if u.masked() {
				loadMasked(from, mask[j], acc(i, j))
			} else {
				load(from, acc(i, j))
			}
		})
	}
	c.JMP(LabelRef(at("multiply")))
	c.Label(at("zero"))
	if !u.fetches() {
		c.MOVQ(param(c, "bias"), regTemp)
		c.TESTQ(regTemp, regTemp)
		c.JZ(LabelRef(at("nobias")))
		for i := range rows {
			for j := range vecs {
				broadcast(Mem{Base: regTemp, Disp: i * u.size}, acc(i, j))
			}
		}
		c.JMP(LabelRef(at("multiply")))
		c.Label(at("nobias"))
	}
	clear := func(from, to int) {
		for i := from; i < to; i++ {
			if r := u.V(i); u.Bytes == 64 {
				c.VPXORD(r, r, r)
			} else {
				c.VXORPS(r, r, r)
			}
		}
	}
	clear(0, rows*vecs)
	c.Label(at("multiply"))
	clear(rows*vecs, used)

	step := func(n int) {
		if u.taps {
			c.MOVQ(Mem{Base: regPlaces, Disp: 8 * n}, regTemp)
		}
		for j := range vecs {
			at := Mem{Base: regB, Disp: (n*vecs + j) * u.Bytes}
			if !u.packs {
				load(at, b(j))
				continue
			}
			if u.taps {
				c.KMOVW(Mem{Base: regMasks, Disp: 8*n + j*u.lanes()/8}, present[j])
				loadMasked(Mem{Base: regSource, Index: regTemp, Scale: uint8(u.size), Disp: j * u.Bytes}, present[j], b(j))
				load(b(j), at)
				continue
			}
			if from := (Mem{Base: regSource, Disp: j * u.Bytes}); u.masked() {
				loadMasked(from, present[j], b(j))
			} else {
				load(from, b(j))
			}
			load(b(j), at)
			if j*u.Bytes%64 == 0 {
				// From L2, and from beyond.
				c.PREFETCHT0(Mem{Base: regSource, Index: regLDS, Scale: 8, Disp: j * u.Bytes})
				c.PREFETCHT1(Mem{Base: regSource, Index: regFar, Scale: 1, Disp: j * u.Bytes})
			}
		}
		if u.packs && !u.taps {
			c.ADDQ(regLDS, regSource)
		}
		for i := range rows {
			if embedded {
				for j := range vecs {
					embed(Mem{Base: regA, Disp: (n*rows + i) * u.size}, b(j), set(n, i, j))
				}
				continue
			}
			broadcast(Mem{Base: regA, Disp: (n*rows + i) * u.size}, a(i))
			for j := range vecs {
				fma(b(j), a(i), set(n, i, j))
			}
		}
	}
	bytesA, bytesB := rows*u.size, vecs*u.Bytes // of one step
	body := func() {
		for n := range u.unroll {
			for line := 0; line < bytesB && !u.packs; line += 64 {
				if off := n*bytesB + line; off%64 == 0 {
					c.PREFETCHT0(Mem{Base: regB, Disp: u.farB(rows, bytesB) + off})
				}
			}
			if lines := (u.unroll*bytesA + 63) / 64; n < lines {
				c.PREFETCHT0(Mem{Base: regA, Disp: aheadA*bytesA + n*64})
			}
			step(n)
		}
		if u.near {
			for range u.unroll / stepsPerLine {
				c.PREFETCHT1(Mem{Base: regAt})
				c.ADDQ(regStep, regAt)
			}
		}
		if u.fetches() && !u.streams(rows) {
			for line := range u.unroll / stepsPerLine {
				c.PREFETCHT1(Mem{Base: regAt, Disp: line * 64})
			}
			c.ADDQ(U32(u.unroll/stepsPerLine*64), regAt)
			c.MOVQ(Mem{Base: regNext}, regTemp)
			c.MOVQ(Mem{Base: regNext, Disp: 8}, regTemp2)
			c.SUBQ(U32(u.unroll/stepsPerLine), regCount)
			c.CMOVQLE(regTemp, regAt)
			c.CMOVQLE(regTemp2, regCount)
			c.CMOVQLE(Mem{Base: regNext, Disp: 16}, regNext)
		}
		c.ADDQ(U32(u.unroll*bytesA), regA)
		c.ADDQ(U32(u.unroll*bytesB), regB)
		u.nextTaps(c, u.unroll)
	}
	// A row of the next C is fetched every few passes: the lines come from far, and
	// there are few buffers for lines on their way.
	c.Load(c.Param("a"), regA)
	c.Load(c.Param("k"), regLoop)
	c.SHRQ(Imm(uint64(log2(u.unroll))), regLoop)
	c.IMUL3Q(U32((1<<16)/rows), regLoop, regEvery)
	c.SHRQ(Imm(16), regEvery)
	c.IMUL3Q(U32(rows), regEvery, regTemp)
	c.SUBQ(regTemp, regLoop)
	c.JZ(LabelRef(at("rows")))
	c.Label(at("rest"))
	body()
	c.DECQ(regLoop)
	c.JNZ(LabelRef(at("rest")))
	c.Label(at("rows"))
	c.TESTQ(regEvery, regEvery)
	c.JZ(LabelRef(at("tail")))
	c.MOVQ(U32(rows), regRow)
	c.Label(at("every"))
	for line := 0; line < vecs*u.lanes()*u.bytesC(); line += 64 {
		c.PREFETCHT0(Mem{Base: regC2, Disp: line})
	}
	c.ADDQ(regLDC, regC2)
	c.MOVQ(regEvery, regLoop)
	c.Label(at("loop"))
	body()
	c.DECQ(regLoop)
	c.JNZ(LabelRef(at("loop")))
	c.DECQ(regRow)
	c.JNZ(LabelRef(at("every")))

	c.Label(at("tail"))
	c.Load(c.Param("k"), regLoop)
	c.ANDQ(Imm(uint64(u.unroll-1)), regLoop)
	c.JZ(LabelRef(at("store")))
	c.Label(at("one"))
	step(0)
	c.ADDQ(U32(bytesA), regA)
	c.ADDQ(U32(bytesB), regB)
	u.nextTaps(c, 1)
	c.DECQ(regLoop)
	c.JNZ(LabelRef(at("one")))

	c.Label(at("store"))
	for n := 1; n < sets; n++ {
		for i := range rows {
			for j := range vecs {
				add(set(n, i, j), acc(i, j), acc(i, j))
			}
		}
	}
	if !u.fetches() {
		u.epilogue(c, at, rows, vecs, mask, acc)
	}
	if u.rounds {
		u.round(c, rows, vecs, mask, acc)
		return
	}
	u.eachOfC(c, rows, vecs, func(i, j int, to Mem) {
		if u.masked() {
			load(acc(i, j), mask[j], to)
		} else {
			load(acc(i, j), to)
		}
	})
}

// eachOfC calls do for each vector of the tile with its place in C.
func (u ukernel) eachOfC(c *build.Context, rows, vecs int, do func(i, j int, at Mem)) {
	c.MOVQ(regC, regTemp)
	for i := range rows {
		for j := range vecs {
			do(i, j, Mem{Base: regTemp, Disp: j * u.lanes() * u.bytesC()})
		}
		if i < rows-1 {
			c.ADDQ(regLDC, regTemp)
		}
	}
}

// nextTaps goes on by so many steps.
func (u ukernel) nextTaps(c *build.Context, steps int) {
	if u.taps {
		c.ADDQ(Imm(uint64(8*steps)), regPlaces)
		c.ADDQ(Imm(uint64(8*steps)), regMasks)
	}
}
