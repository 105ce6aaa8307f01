package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transpose writes dst[p*ldd+i] = src[i*lds+p] for as many rows i as a lane of
// 16 bytes has elements: the shuffles that cross no lane are the cheap ones, and
// each lane of a result is one store. k is a multiple of the vector length.
func (t target) transpose(c *build.Context) {
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
			switch {
			case lane == 0:
				c.VMOVUPS(out(i).AsX(), to)
			case t.Bytes == 64:
				c.VEXTRACTF32X4(Imm(uint64(lane)), out(i), to)
			default:
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
		// As far ahead as packB has rows in a group.
		c.PREFETCHT0(Mem{Base: src, Index: lds, Scale: 4, Disp: j * t.Bytes})
	}
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

// addBias writes c[i*ldc+j] = max(c[i*ldc+j] + bias, floor), where the bias is
// that of the column or of the row. cols is a multiple of the vector length.
func (t target) addBias(c *build.Context) {
	rows, cols, out, ldc, bias := reg.R8, reg.R9, reg.RDI, reg.RCX, reg.RDX
	at := reg.RAX
	add := pick(t, c.VADDPS, c.VADDPD)
	maximum := pick(t, c.VMAXPS, c.VMAXPD)
	spread := pick(t, c.VBROADCASTSS, c.VBROADCASTSD)
	for _, by := range []string{"Col", "Row"} {
		t.function(c, "Bias"+by, "rows, cols int, c *T, ldc int, bias *T, floor T")
		c.Load(c.Param("rows"), rows)
		c.Load(c.Param("c"), out)
		c.Load(c.Param("bias"), bias)
		t.elements(c, "cols", cols)
		t.elements(c, "ldc", ldc)
		floor, err := c.Param("floor").Resolve()
		if err != nil {
			panic(err)
		}
		spread(floor.Addr, t.V(0))
		c.Label("row")
		if by == "Row" {
			spread(Mem{Base: bias}, t.V(1))
			c.ADDQ(U32(t.size), bias)
		}
		c.XORQ(at, at)
		c.Label("vector")
		from := Mem{Base: out, Index: at, Scale: 1}
		if by == "Row" {
			add(from, t.V(1), t.V(2))
		} else {
			c.VMOVUPS(from, t.V(2))
			add(Mem{Base: bias, Index: at, Scale: 1}, t.V(2), t.V(2))
		}
		// The last source wins if it is NaN, so a NaN stays one.
		maximum(t.V(2), t.V(0), t.V(2))
		c.VMOVUPS(t.V(2), from)
		c.ADDQ(U32(t.Bytes), at)
		c.CMPQ(at, cols)
		c.JLT(LabelRef("vector"))
		c.ADDQ(ldc, out)
		c.DECQ(rows)
		c.JNZ(LabelRef("row"))
		c.VZEROUPPER()
		c.RET()
	}
}
