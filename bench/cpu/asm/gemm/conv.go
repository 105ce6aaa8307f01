package main

import (
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// runs is the number of runs in the struct lanes: 4 offsets of 4 bytes, then 4
// masks of 2 bytes.
const runs = 4

var regMask = [4]reg.Register{reg.K1, reg.K2, reg.K3, reg.K4}

// loadRuns writes a vector made of up to four masked loads for each of n channels.
func (t target) loadRuns(c *build.Context) {
	dst, ldd, src, channel, n, l := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.R8, reg.R9
	offset := [runs]reg.GPPhysical{reg.R10, reg.R11, reg.R12, reg.R13}
	t.function(c, "LoadRuns", "dst *T, ldd int, src *T, channel, n int, l *byte")
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	c.Load(c.Param("n"), n)
	c.Load(c.Param("l"), l)
	t.elements(c, "ldd", ldd)
	t.elements(c, "channel", channel)
	for r := range runs {
		c.MOVLQSX(Mem{Base: l, Disp: 4 * r}, offset[r])
		c.MOVWLZX(Mem{Base: l, Disp: 4*runs + 2*r}, reg.EAX)
		t.setMask(c, r)
	}
	from := func(r int) Mem { return Mem{Base: src, Index: offset[r], Scale: uint8(t.size)} }
	body := func(label string, count int) {
		c.Label(label)
		if t.Bytes == 64 {
			zero := pick(t, c.VMOVUPS_Z, c.VMOVUPD_Z)
			merge := pick(t, c.VMOVUPS, c.VMOVUPD)
			zero(from(0), regMask[0], t.V(0))
			for r := 1; r < count; r++ {
				merge(from(r), regMask[r], t.V(0))
			}
		} else {
			load := pick(t, c.VMASKMOVPS, c.VMASKMOVPD)
			for r := range count {
				load(from(r), t.V(8+r), t.V(r))
			}
			for r := 1; r < count; r++ {
				c.VORPS(t.V(r), t.V(0), t.V(0))
			}
		}
		c.VMOVUPS(t.V(0), Mem{Base: dst})
		c.ADDQ(channel, src)
		c.ADDQ(ldd, dst)
		c.DECQ(n)
		c.JNZ(LabelRef(label))
		c.VZEROUPPER()
		c.RET()
	}
	c.MOVL(Mem{Base: l, Disp: 4*runs + 4}, reg.EAX)
	c.TESTL(reg.EAX, reg.EAX)
	c.JNZ(LabelRef("four"))
	body("two", 2)
	body("four", 4)
}

// setMask turns the bits in EAX into mask i.
func (t target) setMask(c *build.Context, i int) {
	if t.Bytes == 64 {
		c.KMOVW(reg.EAX, regMask[i])
		return
	}
	// Without mask registers: a lane is all ones where its bit is set.
	bits := Mem{Symbol: Symbol{Name: t.prefix + "gemmLaneBits", Static: true}, Base: reg.StaticBase}
	c.VMOVD(reg.EAX, reg.X7)
	if t.size == 4 {
		c.VPBROADCASTD(reg.X7, reg.Y7)
		c.VPAND(bits, reg.Y7, reg.Y7)
		c.VPCMPEQD(bits, reg.Y7, t.V(8+i))
	} else {
		c.VPBROADCASTQ(reg.X7, reg.Y7)
		c.VPAND(bits, reg.Y7, reg.Y7)
		c.VPCMPEQQ(bits, reg.Y7, t.V(8+i))
	}
}

// laneBits is the table of setMask.
func (t target) laneBits(c *build.Context) {
	if t.Bytes == 64 {
		return
	}
	c.StaticGlobal(t.prefix + "gemmLaneBits")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range t.lanes() {
		if t.size == 4 {
			c.AddDatum(4*i, U32(1<<i))
		} else {
			c.AddDatum(8*i, U64(1<<i))
		}
	}
}

// gather writes a vector of gathered elements for each of n channels.
func (t target) gather(c *build.Context) {
	dst, ldd, src, channel, n, index := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.R8, reg.R9
	t.function(c, "Gather", "dst *T, ldd int, src *T, channel, n int, index *[16]int32, mask int")
	c.Load(c.Param("dst"), dst)
	c.Load(c.Param("src"), src)
	c.Load(c.Param("n"), n)
	c.Load(c.Param("index"), index)
	c.Load(c.Param("mask"), reg.RAX)
	t.elements(c, "ldd", ldd)
	t.elements(c, "channel", channel)
	t.setMask(c, 0)
	// An index has 4 bytes: as many of them as a vector has lanes.
	indices := map[int]reg.VecPhysical{16: reg.Z1, 8: reg.Y1, 4: reg.X1}[t.lanes()]
	if t.lanes() == 16 {
		c.VMOVDQU32(Mem{Base: index}, indices)
	} else {
		c.VMOVDQU(Mem{Base: index}, indices)
	}
	from := Mem{Base: src, Index: indices, Scale: uint8(t.size)}
	c.Label("loop")
	if t.Bytes == 64 {
		c.VPXORD(t.V(0), t.V(0), t.V(0))
		c.KMOVW(regMask[0], regMask[1]) // a gather clears its mask
		pick(t, c.VGATHERDPS, c.VGATHERDPD)(from, regMask[1], t.V(0))
	} else {
		c.VXORPS(t.V(0), t.V(0), t.V(0))
		c.VMOVAPS(t.V(8), t.V(9))
		if t.size == 4 {
			c.VGATHERDPS(t.V(9), from, t.V(0))
		} else {
			c.VGATHERDPD(t.V(9), from, t.V(0))
		}
	}
	c.VMOVUPS(t.V(0), Mem{Base: dst})
	c.ADDQ(channel, src)
	c.ADDQ(ldd, dst)
	c.DECQ(n)
	c.JNZ(LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}

// evenOddLanes is evenOdd for AVX2: pairs of vectors, then of half ones, then single elements.
// Without odd columns the even ones overwrite them.
func (t target) evenOddLanes(c *build.Context) {
	dst, ldd, src, lds, rows, n := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.R8, reg.R9
	left, from, to, ahead, beside := reg.R10, reg.R11, reg.R12, reg.R14, reg.RBX
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

// evenOdd writes the even columns of rows of n elements to dst, and the odd ones `beside` elements
// further, unless that is 0. It fetches what is `ahead` elements further, unless that is 0.
func (t target) evenOdd(c *build.Context) {
	dst, ldd, src, lds, rows, n := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.R8, reg.R9
	left, from, to, count, ahead, beside := reg.R10, reg.R11, reg.R12, reg.R13, reg.R14, reg.RBX
	tables := t.columns(c)
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
	body := func(label string, vecs int) {
		c.Label(label)
		for i := range vecs {
			load(Mem{Base: src, Disp: i * t.Bytes}, present[i], t.V(i))
			store(t.V(i), whole[i], Mem{Base: dst, Disp: i * t.Bytes})
			c.PREFETCHT0(Mem{Base: src, Index: ahead, Scale: 1, Disp: i * t.Bytes})
		}
		c.ADDQ(row, dst)
		c.ADDQ(channel, src)
		c.DECQ(n)
		c.JNZ(LabelRef(label))
		c.VZEROUPPER()
		c.RET()
	}
	c.CMPQ(row, U32(t.Bytes))
	c.JLE(LabelRef("one"))
	body("two", 2)
	body("one", 1)
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
