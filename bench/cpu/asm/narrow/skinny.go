package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// A skinny kernel takes two groups of k and the columns of four panels at a time.
const (
	skinnyGroups = 2
	skinnyPanels = 4
	skinnyVecs   = skinnyPanels * vecs
)

// skinny says whether there is such a kernel: fp16 would have to add its sums up all the
// time.
func (v vector) skinny() bool { return v.Name == simd.AVX512.Name && !v.halves() }

// skinnyBlock adds the product of few rows of x, packed as [steps][m][8 bytes], and of rows
// of B as they come to the tiles of y: reading B is all the work, and packing it would
// be more of it. The rows of a step become groups in registers, and there meet all rows
// of x, while the tiles, which are in L1, pass by: B is read once, in the order of
// memory.
//
// int8: here B becomes unsigned, B + 128, and x is as it is: y has to begin with -128
// times the sums of its rows.
func (v vector) skinnyBlock(c *build.Context) {
	rowsB := skinnyGroups * v.group
	lines := skinnyVecs / v.group // of a row of B
	ldb, ldb3, panel, panel3 := reg.RCX, reg.R8, reg.RBX, reg.RDI
	x, b, cols := reg.RSI, reg.RDX, reg.R10
	at, y, xAt, yAt, rows, base, ahead := reg.R11, reg.R9, reg.R13, reg.R12, reg.R14, reg.RAX, reg.R15
	block := func(g, j int) reg.VecPhysical { return v.V(g*skinnyVecs + j) }
	sum := func(j int) reg.VecPhysical { return v.V(skinnyGroups*skinnyVecs + j) }
	temp := sum // until the groups are there
	factor := func(g int) reg.VecPhysical { return v.V((skinnyGroups+1)*skinnyVecs + g) }
	lanes, flip := reg.Z26, reg.Z27
	mask := []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4}[:lines]
	tile := func(j int) Mem { return simd.Nth(yAt, panel, panel3, j/vecs, j%vecs*v.Bytes) }

	order := v.order(c)
	function(c, v.dtype+"gemmSkinny"+camel(v.unit), "func(m, n, steps int, x, b *byte, ldb int, y *byte)")
	c.VMOVDQU64(order, lanes)
	if v.size == 1 {
		c.MOVL(U32(0x80808080), reg.EAX)
		c.VPBROADCASTD(reg.EAX, flip)
	}
	c.Load(c.Param("x"), x)
	c.Load(c.Param("b"), b)
	c.Load(c.Param("ldb"), ldb)
	c.LEAQ(Mem{Base: ldb, Index: ldb, Scale: 2}, ldb3)
	c.Load(c.Param("m"), panel)
	c.IMUL3Q(U32(v.accBytes()), panel, panel)
	c.LEAQ(Mem{Base: panel, Index: panel, Scale: 2}, panel3)

	c.Label("step")
	c.Load(c.Param("n"), cols)
	c.Load(c.Param("y"), y)
	c.MOVQ(b, at)
	c.Label("columns")
	for _, k := range mask {
		c.KXNORQ(k, k, k)
	}
	c.CMPQ(cols, U32(skinnyPanels*v.nr()))
	c.JGE(LabelRef("whole"))
	c.MOVQ(I32(-1), ahead)
	c.MOVQ(cols, base)
	for _, k := range mask { // bits for the columns that are left, those of a line in each
		c.XORQ(rows, rows)
		c.TESTQ(base, base)
		c.CMOVQLT(rows, base)
		c.BZHIQ(base, ahead, rows)
		c.KMOVQ(rows, k)
		c.SUBQ(U32(64/v.size), base)
	}
	c.Label("whole")
	c.MOVQ(at, base)
	for p := 0; p < rowsB; p += 4 {
		c.LEAQ(Mem{Base: base, Index: ldb, Scale: uint8(rowsB)}, ahead)
		for line := range lines {
			row := func(i int) Mem { return simd.Nth(base, ldb, ldb3, i, 64*line) }
			for i := range 4 {
				c.PREFETCHT1(simd.Nth(ahead, ldb, ldb3, i, 64*line))
			}
			if v.size == 1 {
				v.quads(c, row, mask[line], lanes, flip, temp, func(j int) reg.VecPhysical { return block(p/4, 4*line+j) })
				continue
			}
			for g := range skinnyGroups {
				v.pairs(c, func(i int) Mem { return row(2*g + i) }, mask[line], lanes, temp, func(j int) reg.VecPhysical { return block(g, 2*line+j) })
			}
		}
		if p+4 < rowsB {
			c.LEAQ(Mem{Base: base, Index: ldb, Scale: 4}, base)
		}
	}
	c.Load(c.Param("m"), rows)
	c.MOVQ(y, yAt)
	c.MOVQ(x, xAt)
	c.Label("rows")
	for j := range skinnyVecs {
		c.VMOVUPS(tile(j), sum(j))
	}
	for g := range skinnyGroups {
		c.VPBROADCASTD(Mem{Base: xAt, Disp: g * v.size * v.group}, factor(g))
		for j := range skinnyVecs {
			if v.size == 1 {
				v.dot(c, factor(g), block(g, j), sum(j))
			} else {
				v.dot(c, block(g, j), factor(g), sum(j))
			}
		}
	}
	for j := range skinnyVecs {
		c.VMOVUPS(sum(j), tile(j))
	}
	c.ADDQ(U32(v.accBytes()), yAt)
	c.ADDQ(U32(skinnyGroups*v.size*v.group), xAt)
	c.DECQ(rows)
	c.JNZ(LabelRef("rows"))
	c.ADDQ(U32(skinnyPanels*v.nr()*v.size), at)
	c.LEAQ(Mem{Base: y, Index: panel, Scale: skinnyPanels}, y)
	c.SUBQ(U32(skinnyPanels*v.nr()), cols)
	c.JG(LabelRef("columns"))
	c.MOVQ(xAt, x)
	c.LEAQ(Mem{Base: b, Index: ldb, Scale: uint8(rowsB)}, b)
	c.DECQ(param(c, "steps"))
	c.JNZ(LabelRef("step"))
	c.VZEROUPPER()
	c.RET()
}

// order is where the columns of a line have to be before they are unpacked, which works
// within 16 bytes.
func (v vector) order(c *build.Context) Mem {
	return order(c, v.dtype+"SkinnyOrder", func(add func(Constant, int)) {
		for lane := range uint64(4) {
			for part := range uint64(v.group) {
				if v.size == 1 {
					add(U32(4*part+lane), 4)
				} else {
					add(U64(4*part+lane), 8)
				}
			}
		}
	})
}

// pairs interleaves a line of two rows of 16 bits.
func (v vector) pairs(c *build.Context, row func(i int) Mem, mask, lanes reg.Register, temp, to func(j int) reg.VecPhysical) {
	for i := range 2 {
		c.VMOVDQU16_Z(row(i), mask, temp(i))
		c.VPERMQ(temp(i), lanes, temp(i))
	}
	c.VPUNPCKLWD(temp(1), temp(0), to(0))
	c.VPUNPCKHWD(temp(1), temp(0), to(1))
}

// quads interleaves a line of four rows of bytes, each xor flip.
func (v vector) quads(c *build.Context, row func(i int) Mem, mask, lanes, flip reg.Register, temp, to func(j int) reg.VecPhysical) {
	for i := range 4 {
		c.VMOVDQU8_Z(row(i), mask, temp(i))
		c.VPXORD(temp(i), flip, temp(i))
		c.VPERMD(temp(i), lanes, temp(i))
	}
	for i := range 2 { // rows 0 and 1, rows 2 and 3
		c.VPUNPCKLBW(temp(2*i+1), temp(2*i), temp(4+2*i))
		c.VPUNPCKHBW(temp(2*i+1), temp(2*i), temp(5+2*i))
	}
	for i := range 2 {
		c.VPUNPCKLWD(temp(6+i), temp(4+i), to(2*i))
		c.VPUNPCKHWD(temp(6+i), temp(4+i), to(2*i+1))
	}
}
