package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// panelsAtOnce is how many panels of B gemvPanels walks at a time: as many streams as the hardware follows by
// itself, and enough sums to keep the units busy.
const panelsAtOnce = 4

// gemvPanels is a row of y, or adds to it, of x and packed panels of B, stride elements apart, each as wide as a
// tile. The sums of a group of panels stay in registers.
func (t target) gemvPanels(c *build.Context, name string, vecs int) {
	x, b, y, stride, stride3 := reg.RSI, reg.RDX, reg.RBX, reg.RCX, reg.R8
	panels, add, steps, at, xAt := reg.R9, reg.R10, reg.R11, reg.R12, reg.R13
	t.function(c, name, "panels, k int, x, b *T, stride int, y *T, add bool")
	c.Load(c.Param("panels"), panels)
	c.Load(c.Param("x"), x)
	c.Load(c.Param("b"), b)
	c.Load(c.Param("y"), y)
	c.Load(c.Param("add"), add)
	t.elements(c, "stride", stride)
	c.LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)

	load := pick(t, c.VMOVUPS, c.VMOVUPD)
	broadcast := pick(t, c.VBROADCASTSS, c.VBROADCASTSD)
	fma := pick(t, c.VFMADD231PS, c.VFMADD231PD)
	sum := func(i int) reg.VecPhysical { return t.V(i) }
	factor := t.V(panelsAtOnce * vecs)
	width := vecs * t.Bytes
	// group multiplies so many panels.
	group := func(count int, label string) {
		for i := range count * vecs {
			c.VXORPS(sum(i), sum(i), sum(i))
		}
		c.TESTB(add.As8(), add.As8())
		c.JZ(LabelRef(label + "zero"))
		for i := range count * vecs {
			load(Mem{Base: y, Disp: i * t.Bytes}, sum(i))
		}
		c.Label(label + "zero")
		c.Load(c.Param("k"), steps)
		c.MOVQ(b, at)
		c.MOVQ(x, xAt)
		c.Label(label + "step")
		broadcast(Mem{Base: xAt}, factor)
		for p := range count {
			for j := range vecs {
				fma(simd.Nth(at, stride, stride3, p, j*t.Bytes), factor, sum(p*vecs+j))
			}
		}
		c.ADDQ(U32(t.size), xAt)
		c.ADDQ(U32(width), at)
		c.DECQ(steps)
		c.JNZ(LabelRef(label + "step"))
		for i := range count * vecs {
			load(sum(i), Mem{Base: y, Disp: i * t.Bytes})
		}
		c.LEAQ(Mem{Base: b, Index: stride, Scale: uint8(count)}, b)
		c.ADDQ(U32(count*width), y)
	}

	c.SUBQ(U32(panelsAtOnce), panels)
	c.JLT(LabelRef("rest"))
	c.Label("group")
	group(panelsAtOnce, "group_")
	c.SUBQ(U32(panelsAtOnce), panels)
	c.JGE(LabelRef("group"))
	c.Label("rest")
	c.ADDQ(U32(panelsAtOnce), panels)
	c.JZ(LabelRef("done"))
	c.Label("panel")
	group(1, "panel_")
	c.DECQ(panels)
	c.JNZ(LabelRef("panel"))
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}
