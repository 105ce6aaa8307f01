package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transpose writes dst[p*ldd+i] = src[i*lds+p] for rows rows, from as many as a lane
// of 16 bytes has elements to as many as a vector has. k is a multiple of the vector
// length.
//
// Lane l of a vector is loaded from row 4l+i (2l+i for float64), i the same for all
// lanes; then the shuffles that cross no lane, which are the cheap ones, transpose
// four (two) vectors. Lanes past the last row repeat rows before it: order tells
// where each row of the result stands, in units of 4 bytes.
func (t target) transpose(c *build.Context) {
	dst, ldd, src, lds, rows, k := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.R9, reg.R8
	lds3, temp := reg.R10, reg.R11
	lane := []reg.GPPhysical{src, reg.RAX, reg.RBX, reg.R12}[:t.Bytes/16]
	t.function(c, "Transpose", "dst *T, ldd int, src *T, lds, rows, k int, order *[16]int32")
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	c.Load(c.Param("rows"), rows)
	c.Load(c.Param("k"), k)
	c.Load(c.Param("order"), temp)
	t.elements(c, "ldd", ldd)
	t.elements(c, "lds", lds)
	order, mask := t.V(31), reg.K1
	c.VMOVDQU32(Mem{Base: temp}, order)
	c.MOVQ(I32(-1), temp)
	c.BZHIQ(rows, temp, temp)
	c.KMOVQ(temp, mask)
	c.LEAQ(Mem{Base: lds, Index: lds, Scale: 2}, lds3)
	n := 16 / t.size // rows of a lane, and results
	// Lane l begins at row min(l*n, rows-n).
	c.SUBQ(Imm(uint64(n)), rows)
	for l := 1; l < len(lane); l++ {
		c.MOVQ(U32(l*n), temp)
		c.CMPQ(temp, rows)
		c.CMOVQGT(rows, temp)
		c.IMULQ(lds, temp)
		c.LEAQ(Mem{Base: src, Index: temp, Scale: 1}, lane[l])
	}
	row := func(base reg.GPPhysical, i, disp int) Mem {
		switch i {
		case 0:
			return Mem{Base: base, Disp: disp}
		case 3:
			return Mem{Base: base, Index: lds3, Scale: 1, Disp: disp}
		}
		return Mem{Base: base, Index: lds, Scale: uint8(i), Disp: disp}
	}
	store := pick(t, c.VMOVUPS, c.VMOVUPD)
	c.JMP(LabelRef("check"))
	c.Label("loop")
	for part := range t.Bytes / 16 {
		// The rows lie on different pages, where the hardware does not look ahead:
		// fetch a line of each.
		for i := range n {
			c.PREFETCHT0(row(lane[part], i, 64))
		}
		in := func(i int) reg.VecPhysical { return t.V(8*(part%2) + i) }
		mid := func(i int) reg.VecPhysical { return t.V(8*(part%2) + 4 + i) }
		for i := range n {
			c.VMOVUPS(row(lane[0], i, 16*part), in(i).AsX())
			for l := 1; l < len(lane); l++ {
				c.VINSERTF32X4(Imm(uint64(l)), row(lane[l], i, 16*part), in(i), in(i))
			}
		}
		var out []reg.VecPhysical
		if n == 4 {
			c.VUNPCKLPS(in(1), in(0), mid(0))
			c.VUNPCKHPS(in(1), in(0), mid(1))
			c.VUNPCKLPS(in(3), in(2), mid(2))
			c.VUNPCKHPS(in(3), in(2), mid(3))
			out = []reg.VecPhysical{in(0), in(1), in(2), in(3)}
			c.VUNPCKLPD(mid(2), mid(0), out[0])
			c.VUNPCKHPD(mid(2), mid(0), out[1])
			c.VUNPCKLPD(mid(3), mid(1), out[2])
			c.VUNPCKHPD(mid(3), mid(1), out[3])
		} else {
			out = []reg.VecPhysical{mid(0), mid(1)}
			c.VUNPCKLPD(in(1), in(0), out[0])
			c.VUNPCKHPD(in(1), in(0), out[1])
		}
		for _, v := range out {
			c.VPERMPS(v, order, v)
			store(v, mask, Mem{Base: dst})
			c.ADDQ(ldd, dst)
		}
	}
	for _, base := range lane {
		c.ADDQ(U32(t.Bytes), base)
	}
	c.SUBQ(U32(t.lanes()), k)
	c.Label("check")
	c.TESTQ(k, k)
	c.JG(LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}

// transposeLane does the same for exactly as many rows as a lane has elements, for
// AVX2, which cannot store any part of a vector: each lane of a result is one store.
func (t target) transposeLane(c *build.Context) {
	dst, ldd, src, lds, k := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.R8
	ldd3, lds3, next := reg.R9, reg.R10, reg.R11
	t.function(c, "Transpose", "dst *T, ldd int, src *T, lds, k int")
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	c.Load(c.Param("k"), k)
	t.elements(c, "ldd", ldd)
	t.elements(c, "lds", lds)
	c.LEAQ(Mem{Base: ldd, Index: ldd, Scale: 2}, ldd3)
	c.LEAQ(Mem{Base: lds, Index: lds, Scale: 2}, lds3)
	row := func(base, ld, ld3 reg.GPPhysical, i int) Mem {
		switch i {
		case 0:
			return Mem{Base: base}
		case 3:
			return Mem{Base: base, Index: ld3, Scale: 1}
		}
		return Mem{Base: base, Index: ld, Scale: uint8(i)}
	}
	n := 16 / t.size // rows, and results: 4 or 2
	c.JMP(LabelRef("check"))
	c.Label("loop")
	// The rows lie on different pages, where the hardware does not look ahead:
	// fetch those of the next group.
	c.LEAQ(Mem{Base: src, Index: lds, Scale: uint8(n)}, next)
	for i := range n {
		c.PREFETCHT0(row(next, lds, lds3, i))
	}
	for i := range n {
		c.VMOVUPS(row(src, lds, lds3, i), t.V(i))
	}
	out := func(i int) reg.VecPhysical { return t.V(8 + i) }
	if n == 4 {
		c.VUNPCKLPS(t.V(1), t.V(0), t.V(4))
		c.VUNPCKHPS(t.V(1), t.V(0), t.V(5))
		c.VUNPCKLPS(t.V(3), t.V(2), t.V(6))
		c.VUNPCKHPS(t.V(3), t.V(2), t.V(7))
		c.VUNPCKLPD(t.V(6), t.V(4), out(0))
		c.VUNPCKHPD(t.V(6), t.V(4), out(1))
		c.VUNPCKLPD(t.V(7), t.V(5), out(2))
		c.VUNPCKHPD(t.V(7), t.V(5), out(3))
	} else {
		c.VUNPCKLPD(t.V(1), t.V(0), out(0))
		c.VUNPCKHPD(t.V(1), t.V(0), out(1))
	}
	for lane := range t.Bytes / 16 {
		for i := range n {
			to := row(dst, ldd, ldd3, i)
			if lane == 0 {
				c.VMOVUPS(out(i).AsX(), to)
			} else {
				c.VEXTRACTF128(Imm(1), out(i), to)
			}
		}
		c.LEAQ(Mem{Base: dst, Index: ldd, Scale: uint8(n)}, dst)
	}
	c.ADDQ(U32(t.Bytes), src)
	c.SUBQ(U32(t.lanes()), k)
	c.Label("check")
	c.TESTQ(k, k)
	c.JG(LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}

// copyRows writes dst[p*nr+j] = src[p*lds+j] for the nr columns of a panel.
func (t target) copyRows(c *build.Context) {
	dst, src, lds, k := reg.RDI, reg.RDX, reg.RCX, reg.R8
	vecs := tile(t).vecs
	t.function(c, "CopyRows", "dst, src *T, lds, k int")
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	c.Load(c.Param("k"), k)
	t.elements(c, "lds", lds)
	c.JMP(LabelRef("check"))
	c.Label("loop")
	for j := range vecs {
		c.VMOVUPS(Mem{Base: src, Disp: j * t.Bytes}, t.V(j))
	}
	for j := range vecs {
		c.VMOVUPS(t.V(j), Mem{Base: dst, Disp: j * t.Bytes})
	}
	c.ADDQ(lds, src)
	c.ADDQ(U32(vecs*t.Bytes), dst)
	c.DECQ(k)
	c.Label("check")
	c.TESTQ(k, k)
	c.JG(LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}
