package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// ukernel is a micro-kernel: it keeps an mr x (vecs vectors) tile of C in
// registers. Per step of k it loads vecs vectors of B and broadcasts each of
// the mr elements of A once.
type ukernel struct {
	target
	mr, vecs int
}

// tile is the largest tile whose accumulators leave room for one step of B and
// two broadcasts: 28 + 2 + 2 of 32 registers, or 12 + 2 + 2 of 16.
func tile(t target) ukernel {
	if t.Name == simd.AVX512.Name {
		return ukernel{t, 14, 2}
	}
	return ukernel{t, 6, 2}
}

const unroll = 2 // steps of k in the body of the loop

// Prefetch distances in steps of k: far enough to hide the L2 cache.
const aheadA, aheadB = 32, 16

var (
	regK, regA, regB, regC, regLDC = reg.RDI, reg.RSI, reg.RDX, reg.RBX, reg.RCX
	regRows, regCols, regAdd       = reg.R8, reg.R9, reg.R10
	regMain, regC2                 = reg.R11, reg.R12
	regAhead, regLDAhead           = reg.R13, reg.RAX
)

func (u ukernel) emit(c *build.Context) {
	u.function(c, fmt.Sprintf("Ukr%dx%d", u.mr, u.vecs*u.lanes()), "rows, cols, k int, a, b, c *T, ldc int, add bool, ahead *T, ldAhead int")
	c.Load(c.Param("rows"), regRows)
	c.Load(c.Param("cols"), regCols)
	c.Load(c.Param("k"), regK)
	c.Load(c.Param("a"), regA)
	c.Load(c.Param("b"), regB)
	c.Load(c.Param("c"), regC)
	c.Load(c.Param("add"), regAdd.As8())
	c.Load(c.Param("ahead"), regAhead)
	u.elements(c, "ldc", regLDC)
	u.elements(c, "ldAhead", regLDAhead)
	c.MOVQ(regK, regMain)
	c.ANDQ(Imm(unroll-1), regK)
	c.SHRQ(Imm(1), regMain) // by unroll
	for v := u.vecs; v >= 1; v-- {
		if v > 1 {
			c.CMPQ(regCols, U32(v*u.lanes()))
			c.JNE(LabelRef(fmt.Sprintf("vecs%d", v-1)))
		}
		for m := u.mr; m >= 1; m-- {
			if m > 1 {
				c.CMPQ(regRows, Imm(uint64(m)))
				c.JEQ(LabelRef(fmt.Sprintf("tile%dx%d", m, v)))
			} else {
				c.JMP(LabelRef(fmt.Sprintf("tile%dx%d", m, v)))
			}
		}
		if v > 1 {
			c.Label(fmt.Sprintf("vecs%d", v-1))
		}
	}
	for v := u.vecs; v >= 1; v-- {
		for m := u.mr; m >= 1; m-- {
			u.emitTile(c, m, v)
		}
	}
}

// emitTile writes the case of rows x vecs.
func (u ukernel) emitTile(c *build.Context, rows, vecs int) {
	at := func(s string) string { return fmt.Sprintf("%s%dx%d", s, rows, vecs) }
	acc := func(i, j int) reg.VecPhysical { return u.V(i*vecs + j) }
	used := rows * vecs
	b := func(j int) reg.VecPhysical { return u.V(used + j) }
	spare := min(u.Regs-used-vecs, 4)
	a := func(i int) reg.VecPhysical { return u.V(used + vecs + i%spare) }

	c.Label(at("tile"))
	for i := range rows {
		for j := range vecs {
			r := acc(i, j)
			if u.Bytes == 64 {
				c.VPXORD(r, r, r)
			} else {
				c.VXORPS(r, r, r)
			}
		}
	}
	// With one vector of B a separate broadcast would take a slot of its own for
	// every FMA, more than the front end delivers.
	embed := pick(u.target, c.VFMADD231PS_BCST, c.VFMADD231PD_BCST)
	embedded := vecs == 1 && u.Bytes == 64
	broadcast := pick(u.target, c.VBROADCASTSS, c.VBROADCASTSD)
	fma := pick(u.target, c.VFMADD231PS, c.VFMADD231PD)
	load := pick(u.target, c.VMOVUPS, c.VMOVUPD)
	add := pick(u.target, c.VADDPS, c.VADDPD)

	step := func(n int) {
		for j := range vecs {
			load(Mem{Base: regB, Disp: (n*vecs + j) * u.Bytes}, b(j))
		}
		for i := range rows {
			if embedded {
				embed(Mem{Base: regA, Disp: (n*rows + i) * u.size}, b(0), acc(i, 0))
				continue
			}
			broadcast(Mem{Base: regA, Disp: (n*rows + i) * u.size}, a(i))
			for j := range vecs {
				fma(b(j), a(i), acc(i, j))
			}
		}
	}
	bytesA, bytesB := rows*u.size, vecs*u.Bytes // of one step
	main := func(alsoC bool) {
		for n := range unroll {
			for line := 0; line < bytesB; line += 64 {
				if off := n*bytesB + line; off%64 == 0 {
					c.PREFETCHT0(Mem{Base: regB, Disp: aheadB*bytesB + off})
				}
			}
			if lines := (unroll*bytesA + 63) / 64; n < lines {
				c.PREFETCHT0(Mem{Base: regA, Disp: aheadA*bytesA + n*64})
			}
			step(n)
		}
		c.PREFETCHT1(Mem{Base: regAhead})
		c.PREFETCHT1(Mem{Base: regAhead, Index: regLDAhead, Scale: 1})
		c.ADDQ(U32(unroll*u.size), regAhead)
		if alsoC {
			for line := 0; line < bytesB; line += 64 {
				c.PREFETCHT0(Mem{Base: regC2, Disp: line})
			}
			c.ADDQ(regLDC, regC2)
		}
		c.ADDQ(U32(unroll*bytesA), regA)
		c.ADDQ(U32(unroll*bytesB), regB)
	}
	// The first passes fetch a row of C each, spread out to cost no time of
	// their own, and long before it is needed.
	c.MOVQ(regC, regC2)
	c.MOVQ(U32(rows), regRows)
	c.CMPQ(regMain, regRows)
	c.CMOVQLT(regMain, regRows)
	c.SUBQ(regRows, regMain)
	c.TESTQ(regRows, regRows)
	c.JZ(LabelRef(at("tail")))
	c.Label(at("first"))
	main(true)
	c.DECQ(regRows)
	c.JNZ(LabelRef(at("first")))
	c.TESTQ(regMain, regMain)
	c.JZ(LabelRef(at("tail")))
	c.Label(at("main"))
	main(false)
	c.DECQ(regMain)
	c.JNZ(LabelRef(at("main")))

	c.Label(at("tail"))
	c.TESTQ(regK, regK)
	c.JZ(LabelRef(at("update")))
	c.Label(at("one"))
	step(0)
	c.ADDQ(U32(bytesA), regA)
	c.ADDQ(U32(bytesB), regB)
	c.DECQ(regK)
	c.JNZ(LabelRef(at("one")))

	c.Label(at("update"))
	c.TESTB(regAdd.As8(), regAdd.As8())
	c.JZ(LabelRef(at("store")))
	c.MOVQ(regC, regC2)
	for i := range rows {
		for j := range vecs {
			add(Mem{Base: regC2, Disp: j * u.Bytes}, acc(i, j), acc(i, j))
		}
		if i < rows-1 {
			c.ADDQ(regLDC, regC2)
		}
	}
	c.Label(at("store"))
	for i := range rows {
		for j := range vecs {
			load(acc(i, j), Mem{Base: regC, Disp: j * u.Bytes})
		}
		if i < rows-1 {
			c.ADDQ(regLDC, regC)
		}
	}
	c.VZEROUPPER()
	c.RET()
}
