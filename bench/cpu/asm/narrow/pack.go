package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// packA copies rows of A into a panel: 64 bytes of row i and step s go to
// dst[s*next+i*64], with flip added without carry. The line that is far bytes further comes
// to L2.
func packA(c *build.Context, isa simd.ISA) {
	function(c, "narrowPackA"+camel(isa.Name), "func(dst, src *byte, ld, rows, steps, next int, flip uint64, far int)")
	dst, src, rows, next, far := reg.RDI, reg.RSI, reg.RCX, reg.R9, reg.R10
	to, from, steps := reg.RAX, reg.RBX, reg.RDX
	flip := isa.V(0)
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	c.Load(c.Param("rows"), rows)
	c.Load(c.Param("next"), next)
	c.Load(c.Param("far"), far)
	c.VPBROADCASTQ(param(c, "flip"), flip)
	c.Label("row")
	c.MOVQ(dst, to)
	c.MOVQ(src, from)
	c.Load(c.Param("steps"), steps)
	c.Label("step")
	c.PREFETCHT1(Mem{Base: from, Index: far, Scale: 1})
	for at := 0; at < 64; at += isa.Bytes {
		r := isa.V(1 + at/isa.Bytes)
		if isa.Bytes == 64 {
			c.VPXORQ(Mem{Base: from, Disp: at}, flip, r)
		} else {
			c.VPXOR(Mem{Base: from, Disp: at}, flip, r)
		}
		c.VMOVUPS(r, Mem{Base: to, Disp: at})
	}
	c.ADDQ(U32(64), from)
	c.ADDQ(next, to)
	c.DECQ(steps)
	c.JNZ(LabelRef("step"))
	c.ADDQ(U32(64), dst)
	c.ADDQ(param(c, "ld"), src)
	c.DECQ(rows)
	c.JNZ(LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}

// The packing of B interleaves the elements of as many rows as a group has.
const packSignature = "func(dst, src *byte, ld, groups int)"

// packLoop runs body for each group, of bytes bytes; row moves on to the next row of B. If tiled, a
// group has half of its bytes in each of two tiles.
func packLoop(c *build.Context, name string, tiled bool, prepare func(), body func(dst, src reg.GPPhysical, row func()), bytes int) {
	dst, src, ld, groups, left := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.RAX
	function(c, name, packSignature)
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	c.Load(c.Param("ld"), ld)
	c.Load(c.Param("groups"), groups)
	prepare()
	if tiled {
		c.MOVQ(U32(tileRows), left)
	}
	c.Label("group")
	body(dst, src, func() { c.ADDQ(ld, src) })
	if tiled {
		c.ADDQ(U32(bytes/2), dst)
		c.DECQ(left)
		c.JNZ(LabelRef("same"))
		c.ADDQ(U32(tileBytes), dst)
		c.MOVQ(U32(tileRows), left)
		c.Label("same")
	} else {
		c.ADDQ(U32(bytes), dst)
	}
	c.DECQ(groups)
	c.JNZ(LabelRef("group"))
	c.VZEROUPPER()
	c.RET()
}

// order is a table of lanes that stands before the unpacking: it works within 16
// bytes, and so the columns of a result must lie there before.
func order(c *build.Context, name string, data func(add func(Constant, int))) Mem {
	c.StaticGlobal(name)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	at := 0
	data(func(x Constant, size int) {
		c.AddDatum(at, x)
		at += size
	})
	return Mem{Symbol: Symbol{Name: name, Static: true}, Base: reg.StaticBase}
}

// packing is that of one kind: in rows, or in tiles.
type packing struct {
	suffix string
	tiled  bool
	second int // where the second half of a group of two lines goes
}

var packings = []packing{{"", false, 64}, {"Tiles", true, tileBytes}}

// pairOrder is the order of lanes for two rows of 16 bits.
func pairOrder(c *build.Context) Mem {
	return order(c, "pairOrder", func(add func(Constant, int)) {
		for i := range uint64(4) {
			add(U64(i), 8)
			add(U64(4+i), 8)
		}
	})
}

// packPairs interleaves 32 columns of two rows of 16 bits.
func packPairs(c *build.Context, lanes Mem) {
	for _, p := range packings {
		packLoop(c, "narrowPackPairs"+p.suffix+"AVX512", p.tiled, func() { c.VMOVDQU64(lanes, reg.Z4) }, func(dst, src reg.GPPhysical, row func()) {
			for i := range 2 {
				c.VPERMQ(Mem{Base: src}, reg.Z4, simd.AVX512.V(i))
				row()
			}
			c.VPUNPCKLWD(reg.Z1, reg.Z0, reg.Z2)
			c.VPUNPCKHWD(reg.Z1, reg.Z0, reg.Z3)
			c.VMOVDQU64(reg.Z2, Mem{Base: dst})
			c.VMOVDQU64(reg.Z3, Mem{Base: dst, Disp: p.second})
		}, 128)
	}
}

// pairRows interleaves n columns of two rows of 16 bits, ld bytes apart.
func pairRows(c *build.Context, lanes Mem) {
	dst, src, second, n, ones := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.RAX
	function(c, "narrowPairRowsAVX512", "func(dst, src *byte, ld, n int)")
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	c.Load(c.Param("ld"), second)
	c.ADDQ(src, second)
	c.Load(c.Param("n"), n)
	c.VMOVDQU64(lanes, reg.Z4)
	unpack := func() {
		c.VPUNPCKLWD(reg.Z1, reg.Z0, reg.Z2)
		c.VPUNPCKHWD(reg.Z1, reg.Z0, reg.Z3)
	}
	c.SUBQ(U32(32), n)
	c.JL(LabelRef("rest"))
	c.Label("columns")
	c.VPERMQ(Mem{Base: src}, reg.Z4, reg.Z0)
	c.VPERMQ(Mem{Base: second}, reg.Z4, reg.Z1)
	unpack()
	c.VMOVDQU64(reg.Z2, Mem{Base: dst})
	c.VMOVDQU64(reg.Z3, Mem{Base: dst, Disp: 64})
	c.ADDQ(U32(64), src)
	c.ADDQ(U32(64), second)
	c.ADDQ(U32(128), dst)
	c.SUBQ(U32(32), n)
	c.JGE(LabelRef("columns"))
	c.Label("rest")
	c.ADDQ(U32(32), n)
	c.JZ(LabelRef("done"))
	c.MOVQ(I32(-1), ones)
	c.BZHIQ(n, ones, ones)
	c.KMOVD(ones.As32(), reg.K1)
	c.KSHIFTRD(Imm(16), reg.K1, reg.K2)
	c.VMOVDQU16_Z(Mem{Base: src}, reg.K1, reg.Z0)
	c.VMOVDQU16_Z(Mem{Base: second}, reg.K1, reg.Z1)
	c.VPERMQ(reg.Z0, reg.Z4, reg.Z0)
	c.VPERMQ(reg.Z1, reg.Z4, reg.Z1)
	unpack()
	c.VMOVDQU32(reg.Z2, reg.K1, Mem{Base: dst})
	c.VMOVDQU32(reg.Z3, reg.K2, Mem{Base: dst, Disp: 64})
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}

// packQuads interleaves the columns of four rows of bytes: 32 with AVX-512, 16 else.
func packQuads(c *build.Context, isa simd.ISA) {
	if isa.Bytes == 32 {
		packLoop(c, "narrowPackQuadsAVX2", false, func() {}, func(dst, src reg.GPPhysical, row func()) {
			x := func(i int) reg.VecPhysical { return isa.V(i).AsX().(reg.VecPhysical) }
			for i := range 4 {
				c.VMOVDQU(Mem{Base: src}, x(i))
				row()
			}
			for i := range 2 { // rows 0 and 1, rows 2 and 3
				c.VPUNPCKLBW(x(2*i+1), x(2*i), x(4+2*i))
				c.VPUNPCKHBW(x(2*i+1), x(2*i), x(5+2*i))
			}
			for i := range 2 { // columns 0 to 7, columns 8 to 15
				c.VPUNPCKLWD(x(6+i), x(4+i), x(0))
				c.VPUNPCKHWD(x(6+i), x(4+i), x(1))
				c.VMOVDQU(x(0), Mem{Base: dst, Disp: 32 * i})
				c.VMOVDQU(x(1), Mem{Base: dst, Disp: 32*i + 16})
			}
		}, 64)
		return
	}
	lanes := order(c, "quadOrder", func(add func(Constant, int)) {
		for i := range uint32(4) {
			for _, lane := range []uint32{i, 4 + i, i, 4 + i} {
				add(U32(lane), 4)
			}
		}
	})
	for _, p := range packings {
		packLoop(c, "narrowPackQuads"+p.suffix+"AVX512", p.tiled, func() { c.VMOVDQU64(lanes, reg.Z8) }, func(dst, src reg.GPPhysical, row func()) {
			for i := range 4 {
				c.VMOVDQU(Mem{Base: src}, isa.V(i).AsY())
				c.VPERMD(isa.V(i), reg.Z8, isa.V(i))
				row()
			}
			c.VPUNPCKLBW(reg.Z1, reg.Z0, reg.Z4)
			c.VPUNPCKLBW(reg.Z3, reg.Z2, reg.Z5)
			c.VPUNPCKLWD(reg.Z5, reg.Z4, reg.Z6)
			c.VPUNPCKHWD(reg.Z5, reg.Z4, reg.Z7)
			c.VMOVDQU64(reg.Z6, Mem{Base: dst})
			c.VMOVDQU64(reg.Z7, Mem{Base: dst, Disp: p.second})
		}, 128)
	}
}

// sumQuads writes behind a panel -128 times the sums of its columns.
func (v vector) sumQuads(c *build.Context) {
	panel, groups := reg.RSI, reg.RCX
	shift := v.V(4)
	function(c, "narrowSumQuads"+camel(v.unit), "func(panel *byte, groups int)")
	c.Load(c.Param("panel"), panel)
	c.Load(c.Param("groups"), groups)
	c.MOVL(U32(0x80808080), reg.EAX)
	c.VMOVD(reg.EAX, reg.X4)
	c.VPBROADCASTD(reg.X4, shift)
	for j := range 2 * vecs {
		v.zero(c, v.V(j))
	}
	c.Label("group")
	for j := range vecs {
		if v.Bytes == 64 {
			c.VPDPBUSD(Mem{Base: panel, Disp: j * v.Bytes}, shift, v.V(j))
		} else {
			c.VMOVUPS(Mem{Base: panel, Disp: j * v.Bytes}, v.V(5))
			v.dot(c, v.V(5), shift, v.V(j))
		}
	}
	c.ADDQ(U32(vecs*v.Bytes), panel)
	c.DECQ(groups)
	c.JNZ(LabelRef("group"))
	for j := range vecs {
		c.VPSUBD(v.V(j), v.V(vecs+j), v.V(vecs+j))
		c.VMOVUPS(v.V(vecs+j), Mem{Base: panel, Disp: j * v.Bytes})
	}
	c.VZEROUPPER()
	c.RET()
}

// packRows copies 64 columns of 16 bits.
func packRows(c *build.Context) {
	packLoop(c, "narrowPackRowsAVX512", false, func() {}, func(dst, src reg.GPPhysical, row func()) {
		for j := range 2 {
			c.VMOVDQU64(Mem{Base: src, Disp: 64 * j}, simd.AVX512.V(j))
			c.VMOVDQU64(simd.AVX512.V(j), Mem{Base: dst, Disp: 64 * j})
		}
		row()
	}, 128)
}

// everySecond writes dst[i*ldd+j] = src[i*lds+2*j], of bytes and of 16 bits; leading
// dimensions are in bytes. It reads pairs, of which it keeps the lower half.
func everySecond(c *build.Context) {
	const signature = "func(dst, src *byte, ldd, lds, m, n int)"
	rows := func(x *matrix, size int, vector func(from, to Mem, mask reg.Register)) {
		dst, src, ldd, lds := x.load("dst"), x.load("src"), x.load("ldd"), x.load("lds")
		x.walk(2, func(count int, mask reg.Register) {
			for u := range count {
				vector(x.of(src, 2*size, u), x.of(dst, size, u), mask)
			}
		}, func() {
			x.ADDQ(ldd, dst)
			x.ADDQ(lds, src)
		})
	}
	x := newMatrix(c, simd.AVX512, "everySecondHalf", signature, Mem{})
	rows(x, 2, func(from, to Mem, mask reg.Register) {
		if v := x.get(from, mask); mask == nil {
			x.VPMOVDW(v, to)
		} else {
			x.VPMOVDW(v, mask, to)
		}
	})
	x = newMatrix(c, simd.AVX512, "everySecondByte", signature, Mem{})
	x.lanes = 32
	rows(x, 1, func(from, to Mem, mask reg.Register) {
		v := x.ZMM()
		if mask == nil {
			x.VMOVDQU16(from, v)
			x.VPMOVWB(v, to)
		} else {
			x.VMOVDQU16_Z(from, mask, v)
			x.VPMOVWB(v, mask, to)
		}
	})
}
