package main

import (
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
	bits := t.bitsOfLanes()
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

// getPart loads the lanes of mask i, which setMask made; the others are 0.
func (t target) getPart(c *build.Context, from Mem, i int, to reg.VecPhysical) {
	if t.masked() {
		pick(t, c.VMOVUPS_Z, c.VMOVUPD_Z)(from, regMask[i], to)
	} else {
		pick(t, c.VMASKMOVPS, c.VMASKMOVPD)(from, t.V(8+i), to)
	}
}

// putPart stores the lanes of mask i.
func (t target) putPart(c *build.Context, v reg.VecPhysical, i int, to Mem) {
	if t.masked() {
		pick(t, c.VMOVUPS, c.VMOVUPD)(v, regMask[i], to)
	} else {
		pick(t, c.VMASKMOVPS, c.VMASKMOVPD)(v, t.V(8+i), to)
	}
}

// bitsOfLanes has in each lane the bit of it.
func (t target) bitsOfLanes() Mem {
	return Mem{Symbol: Symbol{Name: t.prefix + "gemmLaneBits", Static: true}, Base: reg.StaticBase}
}

// laneBits is the table of bitsOfLanes.
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
