package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pixelLoads prepares the loads of a vector of columns, and loads those of a row.
type pixelLoads struct{ masks, row func() }

// pixels loads into x what is left of a vector of columns, in it and right of it. Those of a stride of
// 2 are every other one of twice as many, for AVX2 in the order of everyOther.
func (g *gen) pixels(stride int, whole bool, x [3]reg.VecVirtual, from, j reg.GPVirtual) pixelLoads {
	switch {
	case stride == 1:
		return g.adjacentPixels(x, from, j)
	case whole:
		return g.wholePixels(x, from, j)
	}
	return g.alternatePixels(x, from, j)
}

func (g *gen) adjacentPixels(x [3]reg.VecVirtual, from, j reg.GPVirtual) pixelLoads {
	var k [3]reg.Register
	for i := range k {
		k[i] = g.maskRegister()
	}
	return pixelLoads{
		masks: func() {
			for i := range k {
				g.lanesOf(k[i], "w", 1-i, 1, j, i == 0)
			}
		},
		row: func() {
			g.fetchBeside(from)
			for i := range x {
				g.get(operand.Mem{Base: from, Disp: (i - 1) * g.size}, &mask{k[i]}, x[i])
			}
		},
	}
}

// wholePixels have one mask, for the pixel left of the first column.
func (g *gen) wholePixels(x [3]reg.VecVirtual, from, j reg.GPVirtual) pixelLoads {
	everyOther, k := g.everyOther(), g.maskRegister()
	return pixelLoads{
		masks: func() { g.lanesOf(k, "w", 1, 2, j, true) },
		row: func() {
			g.fetchBeside(from)
			g.get(operand.Mem{Base: from}, nil, x[1])
			everyOther(1, operand.Mem{Base: from, Disp: g.isa.Bytes}, x[1], x[2])
			everyOther(0, operand.Mem{Base: from, Disp: g.isa.Bytes}, x[1], x[1])
			g.get(operand.Mem{Base: from, Disp: -g.size}, &mask{k}, x[0])
			everyOther(0, operand.Mem{Base: from, Disp: g.isa.Bytes - g.size}, x[0], x[0])
		},
	}
}

func (g *gen) alternatePixels(x [3]reg.VecVirtual, from, j reg.GPVirtual) pixelLoads {
	everyOther := g.everyOther()
	half := g.vector()
	var k [4]reg.Register // two vectors from the column on, two from the one left of it
	for i := range k {
		k[i] = g.maskRegister()
	}
	return pixelLoads{
		masks: func() {
			for i := range k {
				left := i / 2
				g.lanesOf(k[i], "w", left-i%2*g.lanes(), 2, j, i == 2)
			}
		},
		row: func() {
			get := func(i int, to reg.VecVirtual) {
				g.get(operand.Mem{Base: from, Disp: i%2*g.isa.Bytes - i/2*g.size}, &mask{k[i]}, to)
			}
			g.fetchBeside(from)
			get(0, x[1])
			get(1, half)
			everyOther(1, half, x[1], x[2])
			everyOther(0, half, x[1], x[1])
			get(2, x[0])
			get(3, half)
			everyOther(0, half, x[0], x[0])
		},
	}
}

// fetchBeside fetches what a row has a line behind the columns: the hardware does not look ahead across the
// rows that a vector of columns is read from. AVX-512 does without.
func (g *gen) fetchBeside(from reg.GPVirtual) {
	if !g.wide() {
		g.PREFETCHT0(operand.Mem{Base: from, Disp: 64})
	}
}

// everyOther gives every other lane of a vector and one behind it, from the first or the second on. AVX2
// leaves its middle quarters in each other's place: see inOrder.
func (g *gen) everyOther() func(first int, behind operand.Op, v, to reg.VecVirtual) {
	if g.wide() {
		index := [2]reg.VecVirtual{g.vector(), g.vector()}
		for first, v := range index {
			g.VMOVUPS(g.alternate(first), v)
		}
		return func(first int, behind operand.Op, v, to reg.VecVirtual) {
			if to != v {
				g.op("VMOVA", v, to)
			}
			g.op("VPERMT2", behind, index[first], to)
		}
	}
	lanes := [2]operand.U8{0b10_00_10_00, 0b11_01_11_01}
	if g.size == 8 {
		lanes = [2]operand.U8{0b0000, 0b1111}
	}
	return func(first int, behind operand.Op, v, to reg.VecVirtual) {
		g.op("VSHUF", lanes[first], behind, v, to)
	}
}

// inOrder puts what AVX2 has computed of pixels of everyOther in their order: one swap for an output, instead
// of one for each vector of pixels.
func (g *gen) inOrder(v reg.VecVirtual) { g.VPERMPD(operand.U8(0b11_01_10_00), v, v) }

// lanesOf makes k a mask of the lanes that lie before the end of a row of so many elements, an argument,
// from more elements before `scale` j on; the first lane of the first vector may be before the row.
func (g *gen) lanesOf(k reg.Register, row string, more, scale int, j reg.GPVirtual, before bool) {
	n, bound := g.GP64(), g.GP64()
	g.MOVQ(g.argument(row), n)
	for range scale {
		g.SUBQ(j, n)
	}
	g.ADDQ(operand.I32(int32(more)), n)
	g.XORQ(bound, bound)
	g.CMPQ(n, bound)
	g.CMOVQLT(bound, n)
	g.MOVQ(operand.I32(int32(g.lanes())), bound)
	g.CMPQ(n, bound)
	g.CMOVQGT(bound, n)
	if !g.wide() {
		g.firstLanes(n, k)
		if before {
			zero := g.vector()
			g.TESTQ(j, j)
			g.JNE(operand.LabelRef("within"))
			g.op("VXOR", zero, zero, zero)
			g.op("VBLEND", operand.U8(1), zero, k, k)
			g.Label("within")
		}
		return
	}
	g.MOVQ(operand.I32(-1), bound)
	g.BZHIQ(n, bound, bound)
	if before {
		g.MOVQ(bound, n)
		g.ANDQ(operand.I32(-2), n)
		g.TESTQ(j, j)
		g.CMOVQEQ(n, bound)
	}
	g.KMOVW(bound.As32(), k)
}

// alternate is an index of VPERMT2: every other lane of two vectors, from the first or the second on.
func (g *gen) alternate(first int) operand.Mem {
	s := g.symbol([]string{"Even", "Odd"}[first])
	g.StaticGlobal(s.Name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range g.lanes() {
		if g.size == 4 {
			g.AddDatum(4*i, operand.U32(2*i+first))
		} else {
			g.AddDatum(8*i, operand.U64(2*i+first))
		}
	}
	return operand.NewDataAddr(s, 0)
}
