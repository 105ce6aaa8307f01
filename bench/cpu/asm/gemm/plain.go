package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// plainUnroll is the number of steps of k in the body of the loop.
const plainUnroll = 4

// aheadPlain is how many rows of B ahead are fetched: they come from L2 at the
// farthest.
const aheadPlain = 12

// plainTall is the largest number of rows of a tile that is one vector wide.
func (u ukernel) plainTall() int { return min(4*len(plainRegs.a), 2*u.mr) }

// plain is the micro-kernel for matrices that are not packed: to copy a small one
// takes as long as to multiply it. The rows of A are reached from four pointers, four
// rows each.
func (u ukernel) plain(c *build.Context) {
	u.laneBits(c)
	params := "rows, cols, k int, a *T, lda int, b *T, ldb int, c *T, ldc int, add bool"
	u.function(c, fmt.Sprintf("Plain%dx%d", u.mr, u.vecs*u.lanes()), params)
	p := plainRegs
	c.Load(c.Param("rows"), p.loop)
	c.Load(c.Param("cols"), p.cols)
	c.Load(c.Param("c"), p.c)
	u.elements(c, "lda", p.lda)
	u.elements(c, "ldb", p.ldb)
	u.elements(c, "ldc", p.ldc)
	c.LEAQ(Mem{Base: p.lda, Index: p.lda, Scale: 2}, p.lda3)
	c.IMUL3Q(U32(aheadPlain), p.ldb, p.far)
	for m := u.plainTall(); m > 1; m-- {
		c.CMPQ(p.loop, Imm(uint64(m)))
		c.JEQ(LabelRef(fmt.Sprintf("row%d", m)))
	}
	for m := 1; m <= u.plainTall(); m++ {
		u.plainRow(c, m)
	}
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}

var plainRegs = struct {
	a                                                [4]reg.GPPhysical
	b, c, lda, lda3, ldb, ldc, far, cols, loop, temp reg.GPPhysical
}{
	[4]reg.GPPhysical{reg.RSI, reg.R13, reg.RAX, reg.R15},
	reg.RDX, reg.RBX, reg.RDI, reg.R8, reg.R9, reg.RCX, reg.R10, reg.R11, reg.R12, reg.R14,
}

// plainRow writes the loop over the tiles of one height, or the one tile of what is tall. AVX-512 has masks for all tiles,
// which are full until the last; AVX2 has tiles of their own for what is not a whole vector.
func (u ukernel) plainRow(c *build.Context, rows int) {
	at := func(s string) string { return fmt.Sprintf("%s%d", s, rows) }
	p, nr := plainRegs, u.vecs*u.lanes()
	last := func(vecs int, part bool) {
		u.plainTile(c, rows, vecs, part)
		c.JMP(LabelRef("done"))
	}
	// half is for what is no wider than a vector.
	half := func() {
		if u.masked() {
			u.maskColumns(c, p.cols, 0)
			last(1, false)
			return
		}
		c.CMPQ(p.cols, U32(u.lanes()))
		c.JL(LabelRef(at("less")))
		last(1, false)
		c.Label(at("less"))
		u.maskColumns(c, p.cols, plainMask)
		last(1, true)
	}
	c.Label(at("row"))
	if rows > u.mr {
		half()
		return
	}
	if u.masked() {
		c.KXNORQ(regMask[0], regMask[0], regMask[0])
		c.KXNORQ(regMask[1], regMask[1], regMask[1])
	}
	c.Label(at("tile"))
	c.CMPQ(p.cols, U32(nr))
	c.JGE(LabelRef(at("whole")))
	c.CMPQ(p.cols, U32(u.lanes()))
	c.JLE(LabelRef(at("half")))
	c.LEAQ(Mem{Base: p.cols, Disp: -u.lanes()}, p.loop)
	if u.masked() {
		u.maskColumns(c, p.loop, 1)
	} else {
		u.maskColumns(c, p.loop, plainMask)
		last(u.vecs, true)
	}
	c.Label(at("whole"))
	u.plainTile(c, rows, u.vecs, false)
	c.ADDQ(U32(u.vecs*u.Bytes), p.c)
	c.SUBQ(U32(nr), p.cols)
	c.JG(LabelRef(at("tile")))
	c.JMP(LabelRef("done"))
	c.Label(at("half"))
	half()
}

// plainMask is the number of the mask of AVX2, which is in the last register.
const plainMask = 7

// maskColumns makes mask i that of the first columns of a vector.
func (u ukernel) maskColumns(c *build.Context, columns reg.GPPhysical, i int) {
	c.MOVL(I32(-1), reg.EAX)
	c.BZHIL(columns.As32(), reg.EAX, reg.EAX)
	u.setMask(c, i)
}

// plainTile writes one tile of rows x vecs; of the last vector, with AVX2, a part.
func (u ukernel) plainTile(c *build.Context, rows, vecs int, part bool) {
	at := func(s string) string { return fmt.Sprintf("%s%dx%d", s, rows, vecs) }
	registers := u.Regs
	if part {
		at = func(s string) string { return fmt.Sprintf("part%s%dx%d", s, rows, vecs) }
		registers--
	}
	p := plainRegs
	acc := func(i, j int) reg.VecPhysical { return u.V(i*vecs + j) }
	used := rows * vecs
	b := func(j int) reg.VecPhysical { return u.V(used + j) }
	spare := min(registers-used-vecs, 4)
	a := func(i int) reg.VecPhysical { return u.V(used + vecs + i%spare) }

	embed := pick(u.target, c.VFMADD231PS_BCST, c.VFMADD231PD_BCST)
	embedded := vecs == 1 && u.masked()
	broadcast := pick(u.target, c.VBROADCASTSS, c.VBROADCASTSD)
	fma := pick(u.target, c.VFMADD231PS, c.VFMADD231PD)
	load := pick(u.target, c.VMOVUPS, c.VMOVUPD)
	// isPart tells whether vector j has a mask, and which.
	isPart := func(j int) (mask int, yes bool) {
		if u.masked() {
			return j, true
		}
		return plainMask, part && j == vecs-1
	}
	get := func(from Mem, j int, to reg.VecPhysical) {
		if mask, yes := isPart(j); yes {
			u.getPart(c, from, mask, to)
		} else {
			load(from, to)
		}
	}

	// The tile's columns of B are as far from its first as those of C.
	c.MOVQ(p.c, p.b)
	c.SUBQ(param(c, "c"), p.b)
	c.ADDQ(param(c, "b"), p.b)
	c.Load(c.Param("a"), p.a[0])
	for i := 1; 4*i < rows; i++ {
		c.LEAQ(Mem{Base: p.a[i-1], Index: p.lda, Scale: 4}, p.a[i])
	}
	rowOfA := func(i, n int) Mem {
		return simd.Nth(p.a[i/4], p.lda, p.lda3, i%4, n*u.size)
	}

	c.MOVB(param(c, "add"), p.temp.As8())
	c.TESTB(p.temp.As8(), p.temp.As8())
	c.JZ(LabelRef(at("zero")))
	c.MOVQ(p.c, p.temp)
	for i := range rows {
		for j := range vecs {
			get(Mem{Base: p.temp, Disp: j * u.Bytes}, j, acc(i, j))
		}
		if i < rows-1 {
			c.ADDQ(p.ldc, p.temp)
		}
	}
	c.JMP(LabelRef(at("multiply")))
	c.Label(at("zero"))
	for i := range used {
		if r := u.V(i); u.Bytes == 64 {
			c.VPXORD(r, r, r)
		} else {
			c.VXORPS(r, r, r)
		}
	}
	c.Label(at("multiply"))

	step := func(n int) {
		for j := range vecs {
			get(Mem{Base: p.b, Disp: j * u.Bytes}, j, b(j))
			if j*u.Bytes%64 == 0 {
				c.PREFETCHT0(Mem{Base: p.b, Index: p.far, Scale: 1, Disp: j * u.Bytes})
			}
		}
		c.ADDQ(p.ldb, p.b)
		for i := range rows {
			if embedded {
				embed(rowOfA(i, n), b(0), acc(i, 0))
				continue
			}
			broadcast(rowOfA(i, n), a(i))
			for j := range vecs {
				fma(b(j), a(i), acc(i, j))
			}
		}
	}
	advance := func(steps int) {
		for i := 0; 4*i < rows; i++ {
			c.ADDQ(U32(steps*u.size), p.a[i])
		}
	}
	c.Load(c.Param("k"), p.loop)
	c.SHRQ(Imm(uint64(log2(plainUnroll))), p.loop)
	c.JZ(LabelRef(at("tail")))
	c.Label(at("loop"))
	for n := range plainUnroll {
		step(n)
	}
	advance(plainUnroll)
	c.DECQ(p.loop)
	c.JNZ(LabelRef(at("loop")))
	c.Label(at("tail"))
	c.Load(c.Param("k"), p.loop)
	c.ANDQ(Imm(plainUnroll-1), p.loop)
	c.JZ(LabelRef(at("store")))
	c.Label(at("one"))
	step(0)
	advance(1)
	c.DECQ(p.loop)
	c.JNZ(LabelRef(at("one")))

	c.Label(at("store"))
	c.MOVQ(p.c, p.temp)
	for i := range rows {
		for j := range vecs {
			to := Mem{Base: p.temp, Disp: j * u.Bytes}
			if mask, yes := isPart(j); yes {
				u.putPart(c, acc(i, j), mask, to)
			} else {
				load(acc(i, j), to)
			}
		}
		if i < rows-1 {
			c.ADDQ(p.ldc, p.temp)
		}
	}
}
