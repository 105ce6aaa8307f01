package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// skinny adds the product of m rows of x, packed as [steps][m][rows of B], and of that many
// rows of B a step to y: for few rows, where reading B is all the work. The rows of B of
// a step, as many vectors wide as fit, stay in registers, while the rows of y, which are
// in L1, pass by: B is read once, in the order of memory.
//
// Four rows of B for each pass over y are the fewer instructions, and one is the one
// stream that memory is fastest with. The rows that come next are fetched into L2, which waits for
// more lines at a time than L1 does: with eight rows of x Zen 4 reads B from memory at 17 GB/s,
// and at 11 where they are fetched into L1.
func (t target) skinny(c *build.Context, name string, skinnyRows int) {
	vecs := 4 // 16 of B, 4 of y, 4 of x
	if t.Name == simd.AVX2.Name {
		vecs = 2 // 8 of B, 2 of y, 4 of x
	}
	x, b, ldb, y, ldy := reg.RSI, reg.RDX, reg.RCX, reg.RBX, reg.RDI
	ldb3, steps, cols := reg.R8, reg.R9, reg.R10
	at, yAt, xAt, rows, temp, ahead := reg.R11, reg.R12, reg.R13, reg.R14, reg.RAX, reg.R15
	t.function(c, name, "m, n, steps int, x, b *T, ldb int, y *T, ldy int")
	c.Load(c.Param("x"), x)
	c.Load(c.Param("b"), b)
	c.Load(c.Param("steps"), steps)
	t.elements(c, "ldb", ldb)
	t.elements(c, "ldy", ldy)
	c.LEAQ(Mem{Base: ldb, Index: ldb, Scale: 2}, ldb3)

	block := func(p, j int) reg.VecPhysical { return t.V(p*vecs + j) }
	sum := func(j int) reg.VecPhysical { return t.V(skinnyRows*vecs + j) }
	factor := func(p int) reg.VecPhysical { return t.V((skinnyRows+1)*vecs + p) }
	load := pick(t, c.VMOVUPS, c.VMOVUPD)
	loadMasked := pick(t, c.VMOVUPS_Z, c.VMOVUPD_Z)
	broadcast := pick(t, c.VBROADCASTSS, c.VBROADCASTSD)
	fma := pick(t, c.VFMADD231PS, c.VFMADD231PD)
	mask := []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4}
	row := func(base reg.GPPhysical, p, j int) Mem {
		return simd.Nth(base, ldb, ldb3, p, j*t.Bytes)
	}

	get := func(from Mem, j int, to reg.VecPhysical) {
		if t.masked() {
			loadMasked(from, mask[j], to)
		} else {
			load(from, to)
		}
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
		// Bits for the columns that are left, a vector's worth in each mask.
		c.MOVQ(I32(-1), temp)
		c.CMPQ(cols, U32(64))
		c.JGE(LabelRef("full"))
		c.BZHIQ(cols, temp, temp)
		c.Label("full")
		for j := range vecs {
			c.KMOVQ(temp, mask[j])
			c.SHRQ(Imm(uint64(t.lanes())), temp)
		}
	}
	for p := range skinnyRows {
		for j := range vecs {
			get(row(at, p, j), j, block(p, j))
			if j*t.Bytes%64 == 0 {
				c.PREFETCHT1(row(ahead, p, j))
			}
		}
	}
	c.Load(c.Param("m"), rows)
	c.MOVQ(y, yAt)
	c.MOVQ(x, xAt)
	c.Label("rows")
	for j := range vecs {
		get(Mem{Base: yAt, Disp: j * t.Bytes}, j, sum(j))
	}
	for p := range skinnyRows {
		broadcast(Mem{Base: xAt, Disp: p * t.size}, factor(p))
		for j := range vecs {
			fma(block(p, j), factor(p), sum(j))
		}
	}
	for j := range vecs {
		if t.masked() {
			load(sum(j), mask[j], Mem{Base: yAt, Disp: j * t.Bytes})
		} else {
			load(sum(j), Mem{Base: yAt, Disp: j * t.Bytes})
		}
	}
	c.ADDQ(ldy, yAt)
	c.ADDQ(U32(skinnyRows*t.size), xAt)
	c.DECQ(rows)
	c.JNZ(LabelRef("rows"))
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
