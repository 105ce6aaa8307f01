package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// skinnyRows is the number of rows of B of a step of skinny.
const skinnyRows = 4

// skinny adds the product of m rows of x, packed as [steps][m][rows of B], and of that many
// rows of B a step to y: for few rows, where reading B is all the work. The rows of B of
// a step, as many vectors wide as fit, stay in registers, while the rows of y, which are
// in L1, pass by: B is read once, in the order of memory.
//
// The rows that come next are fetched into L2, which waits for more lines at a time than L1 does: with eight rows of x a
// Zen 4 reads B from memory at 17 GB/s, and at 11 where they are fetched into L1.
func (t target) skinny(c *build.Context) {
	vecs, firstMask := 4, 0 // 16 registers of B, 4 of y, 4 of x
	if !t.masked() {
		vecs, firstMask = 2, 6 // 8 of B, 2 of y, 4 of x; 2 are masks
	}
	x, b, ldb, y, ldy := reg.RSI, reg.RDX, reg.RCX, reg.RBX, reg.RDI
	ldb3, steps, cols := reg.R8, reg.R9, reg.R10
	at, yAt, xAt, rows, temp, ahead := reg.R11, reg.R12, reg.R13, reg.R14, reg.RAX, reg.R15
	t.function(c, "Skinny", "m, n, steps int, x, b *T, ldb int, y *T, ldy int")
	c.Load(c.Param("x"), x)
	c.Load(c.Param("b"), b)
	c.Load(c.Param("steps"), steps)
	t.elements(c, "ldb", ldb)
	t.elements(c, "ldy", ldy)
	c.LEAQ(Mem{Base: ldb, Index: ldb, Scale: 2}, ldb3)

	block := func(p, j int) reg.VecPhysical { return t.V(p*vecs + j) }
	sum := func(j int) reg.VecPhysical { return t.V(skinnyRows*vecs + j) }
	factor := func(p int) reg.VecPhysical { return t.V((skinnyRows+1)*vecs + p) }
	broadcast := pick(t, c.VBROADCASTSS, c.VBROADCASTSD)
	fma := pick(t, c.VFMADD231PS, c.VFMADD231PD)
	row := func(base reg.GPPhysical, p, j int) Mem {
		return simd.Nth(base, ldb, ldb3, p, j*t.Bytes)
	}
	get := func(from Mem, j int, to reg.VecPhysical, whole bool) {
		if whole {
			pick(t, c.VMOVUPS, c.VMOVUPD)(from, to)
		} else {
			t.getPart(c, from, firstMask+j, to)
		}
	}
	put := func(v reg.VecPhysical, j int, to Mem, whole bool) {
		if whole {
			pick(t, c.VMOVUPS, c.VMOVUPD)(v, to)
		} else {
			t.putPart(c, v, firstMask+j, to)
		}
	}
	// columns multiplies as many as fit, or if they are not whole vectors those that are left.
	columns := func(name string, whole bool) {
		if !whole {
			// Bits for the columns that are left, a vector's worth in each mask.
			c.MOVQ(I32(-1), reg.RAX)
			c.CMPQ(cols, U32(64))
			c.JGE(LabelRef("full"))
			c.BZHIQ(cols, reg.RAX, reg.RAX)
			c.Label("full")
			for j := range vecs {
				t.setMask(c, firstMask+j)
				c.SHRQ(Imm(uint64(t.lanes())), reg.RAX)
			}
		}
		for p := range skinnyRows {
			for j := range vecs {
				get(row(at, p, j), j, block(p, j), whole)
				if j*t.Bytes%64 == 0 {
					c.PREFETCHT1(row(ahead, p, j))
				}
			}
		}
		c.Load(c.Param("m"), rows)
		c.MOVQ(y, yAt)
		c.MOVQ(x, xAt)
		c.Label(name)
		for j := range vecs {
			get(Mem{Base: yAt, Disp: j * t.Bytes}, j, sum(j), whole)
		}
		for p := range skinnyRows {
			broadcast(Mem{Base: xAt, Disp: p * t.size}, factor(p))
			for j := range vecs {
				fma(block(p, j), factor(p), sum(j))
			}
		}
		for j := range vecs {
			put(sum(j), j, Mem{Base: yAt, Disp: j * t.Bytes}, whole)
		}
		c.ADDQ(ldy, yAt)
		c.ADDQ(U32(skinnyRows*t.size), xAt)
		c.DECQ(rows)
		c.JNZ(LabelRef(name))
	}

	c.Label("step")
	c.Load(c.Param("n"), cols)
	c.Load(c.Param("y"), y)
	c.MOVQ(b, at)
	// Four rows further, or where they are short as far as memory wants it.
	c.LEAQ(Mem{Base: b, Index: ldb, Scale: uint8(skinnyRows)}, ahead)
	c.LEAQ(Mem{Base: b, Disp: simd.MatrixDistance}, temp)
	c.CMPQ(ahead, temp)
	c.CMOVQLT(temp, ahead)
	c.Label("columns")
	if t.masked() {
		columns("rows", false)
	} else {
		c.CMPQ(cols, U32(vecs*t.lanes()))
		c.JL(LabelRef("part"))
		columns("rows", true)
		c.JMP(LabelRef("done"))
		c.Label("part")
		columns("partrows", false)
		c.Label("done")
	}
	c.ADDQ(U32(vecs*t.Bytes), ahead)
	c.ADDQ(U32(vecs*t.Bytes), at)
	c.ADDQ(U32(vecs*t.Bytes), y)
	c.SUBQ(U32(vecs*t.lanes()), cols)
	c.JG(LabelRef("columns"))
	c.MOVQ(xAt, x)
	c.LEAQ(Mem{Base: b, Index: ldb, Scale: uint8(skinnyRows)}, b)
	c.DECQ(steps)
	c.JNZ(LabelRef("step"))
	c.VZEROUPPER()
	c.RET()
}
