package main

import (
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// beginEvenOdd begins the function and loads its parameters, distances in bytes.
func (t target) beginEvenOdd(c *build.Context, dst, ldd, beside, src, lds, rows, n, ahead reg.GPPhysical) {
	t.function(c, "EvenOdd", "dst *T, ldd, beside int, src *T, lds, rows, n, ahead int")
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	c.Load(c.Param("rows"), rows)
	c.Load(c.Param("n"), n)
	for _, p := range []struct {
		name string
		to   reg.GPPhysical
	}{{"ldd", ldd}, {"lds", lds}, {"ahead", ahead}, {"beside", beside}} {
		t.elements(c, p.name, p.to)
	}
}

// evenOdd writes the even columns of rows of n elements to dst, and the odd ones `beside` elements
// further, unless that is 0. It fetches what is `ahead` elements further, unless that is 0.
func (t target) evenOdd(c *build.Context) {
	dst, ldd, src, lds, rows, n := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.R8, reg.R9
	left, from, to, count, ahead, beside := reg.R10, reg.R11, reg.R12, reg.R13, reg.R14, reg.RBX
	tables := t.columns(c)
	t.beginEvenOdd(c, dst, ldd, beside, src, lds, rows, n, ahead)
	every := [2]reg.VecPhysical{t.V(30), t.V(31)}
	for i, columns := range every {
		c.VMOVUPS(tables[i], columns)
	}
	// The last vector of each kind comes from 1 to two vectors of elements.
	c.LEAQ(Mem{Base: n, Disp: -1}, count)
	c.ANDQ(Imm(uint64(2*t.lanes()-1)), count)
	c.SUBQ(count, n)
	c.DECQ(n)
	c.SHRQ(Imm(uint64(bits.Len(uint(2*t.lanes()))-1)), n) // pairs of whole vectors before it
	c.INCQ(count)
	c.MOVQ(I32(-1), reg.RAX)
	first := func(mask reg.OpmaskPhysical) {
		c.BZHIQ(count, reg.RAX, left)
		c.KMOVQ(left, mask)
	}
	first(reg.K1)
	c.KSHIFTRQ(Imm(uint64(t.lanes())), reg.K1, reg.K2)
	c.MOVQ(count, from)
	c.SHRQ(Imm(1), count)
	first(reg.K4)
	c.MOVQ(from, count)
	c.INCQ(count)
	c.SHRQ(Imm(1), count)
	first(reg.K3)
	move, zero, permute := pick(t, c.VMOVUPS, c.VMOVUPD), pick(t, c.VMOVUPS_Z, c.VMOVUPD_Z), pick(t, c.VPERMT2PS, c.VPERMT2PD)
	pair := func(label string, masked bool) {
		stored := [2][]Op{{t.V(0)}, {t.V(2)}}
		if masked {
			zero(Mem{Base: from}, reg.K1, t.V(0))
			zero(Mem{Base: from, Disp: t.Bytes}, reg.K2, t.V(1))
			stored = [2][]Op{{t.V(0), reg.K3}, {t.V(2), reg.K4}}
		} else {
			move(Mem{Base: from}, t.V(0))
			move(Mem{Base: from, Disp: t.Bytes}, t.V(1))
		}
		c.TESTQ(ahead, ahead)
		c.JZ(LabelRef(label + "near"))
		c.PREFETCHT0(Mem{Base: from, Index: ahead, Scale: 1})
		c.PREFETCHT0(Mem{Base: from, Index: ahead, Scale: 1, Disp: t.Bytes})
		c.Label(label + "near")
		c.TESTQ(beside, beside)
		c.JZ(LabelRef(label + "even"))
		c.VMOVAPS(t.V(0), t.V(2))
		permute(t.V(1), every[1], t.V(2))
		move(append(stored[1], Mem{Base: to, Index: beside, Scale: 1})...)
		c.Label(label + "even")
		permute(t.V(1), every[0], t.V(0))
		move(append(stored[0], Mem{Base: to})...)
	}
	c.Label("row")
	c.MOVQ(src, from)
	c.MOVQ(dst, to)
	c.MOVQ(n, left)
	c.TESTQ(left, left)
	c.JZ(LabelRef("last"))
	c.Label("vector")
	pair("whole", false)
	c.ADDQ(U32(2*t.Bytes), from)
	c.ADDQ(U32(t.Bytes), to)
	c.DECQ(left)
	c.JNZ(LabelRef("vector"))
	c.Label("last")
	pair("part", true)
	c.ADDQ(lds, src)
	c.ADDQ(ldd, dst)
	c.DECQ(rows)
	c.JNZ(LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}

// columns are the indices of the even elements of two vectors, and of the odd ones.
func (t target) columns(c *build.Context) (tables [2]Mem) {
	for odd, name := range [2]string{"gemmEven", "gemmOdd"} {
		name = t.prefix + name
		c.StaticGlobal(name)
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range t.lanes() {
			if t.size == 4 {
				c.AddDatum(4*i, U32(2*i+odd))
			} else {
				c.AddDatum(8*i, U64(2*i+odd))
			}
		}
		tables[odd] = Mem{Symbol: Symbol{Name: name, Static: true}, Base: reg.StaticBase}
	}
	return tables
}

// evenOddLanes is evenOdd for AVX2: pairs of vectors, then of half ones, then single elements.
// Without odd columns the even ones overwrite them.
func (t target) evenOddLanes(c *build.Context) {
	dst, ldd, src, lds, rows, n := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.R8, reg.R9
	left, from, to, ahead, beside := reg.R10, reg.R11, reg.R12, reg.R14, reg.RBX
	t.beginEvenOdd(c, dst, ldd, beside, src, lds, rows, n, ahead)
	even, odd := Mem{Base: to}, Mem{Base: to, Index: beside, Scale: 1}
	move := pick(t, c.VMOVUPS, c.VMOVUPD)
	c.Label("row")
	c.MOVQ(src, from)
	c.MOVQ(dst, to)
	c.MOVQ(n, left)
	for _, step := range []struct {
		label string
		v     func(i int) reg.Register
		bytes int
	}{
		{"whole", func(i int) reg.Register { return t.V(i) }, t.Bytes},
		{"half", func(i int) reg.Register { return t.V(i).AsX() }, t.Bytes / 2},
	} {
		a, b, high := step.v(0), step.v(1), step.v(2)
		elements := 2 * step.bytes / t.size
		c.SUBQ(U32(elements), left)
		c.JL(LabelRef(step.label + "done"))
		c.Label(step.label)
		move(Mem{Base: from}, a)
		move(Mem{Base: from, Disp: step.bytes}, b)
		c.PREFETCHT0(Mem{Base: from, Index: ahead, Scale: 1})
		if t.size == 4 {
			c.VSHUFPS(Imm(0b11_01_11_01), b, a, high)
			c.VSHUFPS(Imm(0b10_00_10_00), b, a, a)
		} else {
			c.VUNPCKHPD(b, a, high)
			c.VUNPCKLPD(b, a, a)
		}
		if step.bytes == t.Bytes {
			c.VPERMPD(Imm(0b11_01_10_00), high, high) // the halves took turns
			c.VPERMPD(Imm(0b11_01_10_00), a, a)
		}
		move(high, odd)
		move(a, even)
		c.ADDQ(U32(2*step.bytes), from)
		c.ADDQ(U32(step.bytes), to)
		c.SUBQ(U32(elements), left)
		c.JGE(LabelRef(step.label))
		c.Label(step.label + "done")
		c.ADDQ(U32(elements), left)
	}
	one := pick(t, c.VMOVSS, c.VMOVSD)
	c.JZ(LabelRef("next"))
	c.Label("pair")
	one(Mem{Base: from}, reg.X0)
	c.DECQ(left)
	c.JZ(LabelRef("last"))
	one(Mem{Base: from, Disp: t.size}, reg.X1)
	one(reg.X1, odd)
	one(reg.X0, even)
	c.ADDQ(U32(2*t.size), from)
	c.ADDQ(U32(t.size), to)
	c.DECQ(left)
	c.JNZ(LabelRef("pair"))
	c.JMP(LabelRef("next"))
	c.Label("last")
	one(reg.X0, even)
	c.Label("next")
	c.ADDQ(lds, src)
	c.ADDQ(ldd, dst)
	c.DECQ(rows)
	c.JNZ(LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}
