package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// packRun writes a row of one vector or two for each of n channels, and fetches those of
// another one.
func (t target) packRun(c *build.Context) {
	dst, row, src, channel, n, ahead := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.R8, reg.R9
	t.function(c, "PackRun", "dst *T, row int, src *T, channel, n, at, ahead, mask int")
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	t.elements(c, "at", reg.RAX)
	c.ADDQ(reg.RAX, src)
	t.elements(c, "row", row)
	t.elements(c, "channel", channel)
	t.elements(c, "ahead", ahead)
	c.Load(c.Param("n"), n)
	c.Load(c.Param("mask"), reg.RAX)
	c.KMOVQ(reg.RAX, reg.K1)
	c.KSHIFTRQ(Imm(uint64(t.lanes())), reg.K1, reg.K2)
	c.MOVQ(I32(-1), reg.RAX)
	c.Load(c.Param("row"), reg.R10)
	c.BZHIQ(reg.R10, reg.RAX, reg.RAX)
	c.KMOVQ(reg.RAX, reg.K3)
	c.KSHIFTRQ(Imm(uint64(t.lanes())), reg.K3, reg.K4)
	present, whole := []reg.OpmaskPhysical{reg.K1, reg.K2}, []reg.OpmaskPhysical{reg.K3, reg.K4}
	load, store := pick(t, c.VMOVUPS_Z, c.VMOVUPD_Z), pick(t, c.VMOVUPS, c.VMOVUPD)
	t.oneOrTwo(c, row, n, func(vecs int) {
		for i := range vecs {
			load(Mem{Base: src, Disp: i * t.Bytes}, present[i], t.V(i))
			store(t.V(i), whole[i], Mem{Base: dst, Disp: i * t.Bytes})
			c.PREFETCHT0(Mem{Base: src, Index: ahead, Scale: 1, Disp: i * t.Bytes})
		}
		c.ADDQ(row, dst)
		c.ADDQ(channel, src)
	})
}

// oneOrTwo writes the loop over n rows for those of two vectors and for those of one, and ends the
// function.
func (t target) oneOrTwo(c *build.Context, row, n reg.GPPhysical, body func(vecs int)) {
	loop := func(label string, vecs int) {
		c.Label(label)
		body(vecs)
		c.DECQ(n)
		c.JNZ(LabelRef(label))
		c.VZEROUPPER()
		c.RET()
	}
	c.CMPQ(row, U32(t.Bytes))
	c.JLE(LabelRef("one"))
	loop("two", 2)
	loop("one", 1)
}

// packRunLanes is packRun for AVX2. It writes whole vectors, each over the end of the one before,
// and only the last rows masked, whose vectors would end behind them all: the processors of AMD
// take long for that.
func (t target) packRunLanes(c *build.Context) {
	dst, row, src, channel, n, ahead := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.R8, reg.R9
	t.function(c, "PackRun", "dst *T, row int, src *T, channel, n, at, ahead, mask int")
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	t.elements(c, "at", reg.RAX)
	c.ADDQ(reg.RAX, src)
	t.elements(c, "channel", channel)
	t.elements(c, "ahead", ahead)
	c.Load(c.Param("n"), n)
	c.Load(c.Param("row"), row)
	// lanes turns bits into two vectors.
	lanes := func(bits reg.GPPhysical, first int) {
		for v := range 2 {
			c.MOVL(bits.As32(), reg.EAX)
			t.setMask(c, first+v)
			c.SHRQ(Imm(uint64(t.lanes())), bits)
		}
	}
	c.Load(c.Param("mask"), reg.R11)
	lanes(reg.R11, 0)
	present, whole := []reg.VecPhysical{t.V(8), t.V(9)}, []reg.VecPhysical{t.V(10), t.V(11)}
	t.elements(c, "row", row)
	masked, store := pick(t, c.VMASKMOVPS, c.VMASKMOVPD), pick(t, c.VMOVUPS, c.VMOVUPD)
	load := func(vecs int) {
		for i := range vecs {
			masked(Mem{Base: src, Disp: i * t.Bytes}, present[i], t.V(i))
		}
		c.PREFETCHT0(Mem{Base: src, Index: ahead, Scale: 1})
	}
	left := reg.R10 // rows to be masked
	body := func(label string, vecs int) {
		rows := func(label string, put func(i int)) {
			c.Label(label)
			load(vecs)
			for i := range vecs {
				put(i)
			}
			c.ADDQ(row, dst)
			c.ADDQ(channel, src)
			c.DECQ(n)
			c.JNZ(LabelRef(label))
		}
		to := func(i int) Mem { return Mem{Base: dst, Disp: i * t.Bytes} }
		c.XORQ(left, left)
		c.MOVQ(row, reg.RAX)
		c.Label(label + "count")
		c.CMPQ(reg.RAX, U32(vecs*t.Bytes))
		c.JGE(LabelRef(label + "counted"))
		c.INCQ(left)
		c.ADDQ(row, reg.RAX)
		c.JMP(LabelRef(label + "count"))
		c.Label(label + "counted")
		c.CMPQ(left, n)
		c.CMOVQGT(n, left)
		c.SUBQ(left, n)
		c.JZ(LabelRef(label + "end"))
		rows(label+"rows", func(i int) { store(t.V(i), to(i)) })
		c.Label(label + "end")
		c.MOVQ(left, n)
		c.TESTQ(n, n)
		c.JZ(LabelRef("done"))
		c.Load(c.Param("row"), reg.R11)
		c.MOVQ(I32(-1), reg.RAX)
		c.BZHIQ(reg.R11, reg.RAX, reg.R11)
		lanes(reg.R11, 2)
		rows(label+"masked", func(i int) { masked(t.V(i), whole[i], to(i)) })
		c.JMP(LabelRef("done"))
	}
	c.CMPQ(row, U32(t.Bytes))
	c.JLE(LabelRef("one"))
	body("two", 2)
	c.Label("one")
	body("one", 1)
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}

// packTaps writes a row of one vector or two for each of n taps.
func (t target) packTaps(c *build.Context) {
	dst, row, src, n, places, masks := reg.RDI, reg.RSI, reg.RDX, reg.R8, reg.R9, reg.R10
	t.function(c, "PackTaps", "dst *T, row int, src *T, n, at int, places, masks *int")
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	t.elements(c, "at", reg.RAX)
	c.ADDQ(reg.RAX, src)
	t.elements(c, "row", row)
	c.Load(c.Param("n"), n)
	c.Load(c.Param("places"), places)
	c.Load(c.Param("masks"), masks)
	bits, mask := t.V(8), t.V(9)
	c.VMOVUPS(t.bitsOfLanes(), bits)
	broadcast, equal := pick(t, c.VPBROADCASTD, c.VPBROADCASTQ), pick(t, c.VPCMPEQD, c.VPCMPEQQ)
	down := pick(t, c.VPSRLD, c.VPSRLQ)
	masked, store := pick(t, c.VMASKMOVPS, c.VMASKMOVPD), pick(t, c.VMOVUPS, c.VMOVUPD)
	t.oneOrTwo(c, row, n, func(vecs int) {
		c.MOVQ(Mem{Base: places}, reg.RAX)
		broadcast(Mem{Base: masks}, mask)
		for i := range vecs {
			if i > 0 {
				down(Imm(uint64(t.lanes())), mask, mask)
			}
			c.VPAND(bits, mask, t.V(2+i))
			equal(bits, t.V(2+i), t.V(2+i))
			masked(Mem{Base: src, Index: reg.RAX, Scale: uint8(t.size), Disp: i * t.Bytes}, t.V(2+i), t.V(i))
			store(t.V(i), Mem{Base: dst, Disp: i * t.Bytes})
		}
		c.ADDQ(Imm(8), places)
		c.ADDQ(Imm(8), masks)
		c.ADDQ(row, dst)
	})
}
