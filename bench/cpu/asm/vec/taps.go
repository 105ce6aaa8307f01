package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tapRows is the number of rows that are reduced together: each weight that is
// broadcast serves all of them.
const tapRows = 4

// taps writes the depthwise convolution
//
//	dst[i*ldd+j] = max(bias + sum over t of weights[t] src[i*lds+offsets[t]+j], floor)
//
// and the pool
//
//	dst[i*ldd+j] = max over t of src[i*lds+offsets[t]+j]
//
// for i < m and j < n. They read whole vectors of src.
func (g *gen) taps() {
	g.begin("Taps", "func(dst, src *T, ldd, lds, m, n int, offsets *int, weights *T, taps int, bias, floor T)")
	weights, w, floor := g.load("weights"), g.vector(), g.vector()
	g.broadcast(g.argument("floor"), floor)
	g.reduceTaps(tapReduction{
		start: func(acc reg.Register) { g.broadcast(g.argument("bias"), acc) },
		tap:   func(t reg.Register) { g.broadcast(operand.Mem{Base: weights, Index: t, Scale: uint8(g.size)}, w) },
		take:  func(x operand.Mem, acc reg.Register) { g.op("VFMADD231", x, w, acc) },
		// The last source wins if it is NaN, so a NaN stays one.
		finish: func(acc reg.Register) { g.op("VMAX", acc, floor, acc) },
	})
	g.begin("MaxTaps", "func(dst, src *T, ldd, lds, m, n int, offsets *int, taps int)")
	g.reduceTaps(tapReduction{
		start:  func(acc reg.Register) { g.set(g.num(math.Inf(-1)), acc) },
		tap:    func(reg.Register) {},
		take:   func(x operand.Mem, acc reg.Register) { g.op("VMAX", x, acc, acc) },
		finish: func(reg.Register) {},
	})
}

// tapReduction starts the results of some rows, takes a tap of each, and finishes them. tap prepares to take t.
type tapReduction struct {
	start, finish func(acc reg.Register)
	tap           func(t reg.Register)
	take          func(x operand.Mem, acc reg.Register)
}

func (g *gen) reduceTaps(r tapReduction) {
	dst, src, ldd, lds := g.load("dst"), g.load("src"), g.load("ldd"), g.load("lds")
	m, offsets := g.load("m"), g.load("offsets")
	g.bytes(ldd)
	g.bytes(lds)
	lds3, left, to, from := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.LEAQ(operand.Mem{Base: lds, Index: lds, Scale: 2}, lds3)
	row := func(base, ld, ld3 reg.Register, i int) operand.Mem {
		switch i {
		case 0:
			return operand.Mem{Base: base}
		case 3:
			return operand.Mem{Base: base, Index: ld3, Scale: 1}
		}
		return operand.Mem{Base: base, Index: ld, Scale: uint8(i)}
	}
	vector := func(label string, rows int, masked bool) {
		var results []reg.VecVirtual
		for range rows {
			result := g.vector()
			r.start(result)
			results = append(results, result)
		}
		t, at := g.GP64(), g.GP64()
		g.XORQ(t, t)
		g.Label(label)
		g.MOVQ(operand.Mem{Base: offsets, Index: t, Scale: 8}, at)
		g.LEAQ(operand.Mem{Base: from, Index: at, Scale: uint8(g.size)}, at)
		r.tap(t)
		for i, result := range results {
			r.take(row(at, lds, lds3, i), result)
		}
		g.INCQ(t)
		g.CMPQ(t, g.argument("taps"))
		g.JLT(operand.LabelRef(label))
		var k *mask
		if masked {
			k = g.mask(left)
		}
		ldd3 := g.GP64()
		g.LEAQ(operand.Mem{Base: ldd, Index: ldd, Scale: 2}, ldd3)
		for i, result := range results {
			r.finish(result)
			g.put(result, k, row(to, ldd, ldd3, i))
		}
	}
	for _, rows := range []int{tapRows, 1} {
		name := map[int]string{tapRows: "several", 1: "single"}[rows]
		g.Label(name)
		g.CMPQ(m, operand.U32(uint64(rows)))
		g.JLT(operand.LabelRef(name + "done"))
		g.MOVQ(g.argument("n"), left)
		g.MOVQ(dst, to)
		g.MOVQ(src, from)
		g.SUBQ(operand.I32(int32(g.lanes())), left)
		g.JLT(operand.LabelRef(name + "rest"))
		g.Label(name + "vectors")
		vector(name+"taps", rows, false)
		g.ADDQ(operand.U32(uint64(g.isa.Bytes)), to)
		g.ADDQ(operand.U32(uint64(g.isa.Bytes)), from)
		g.SUBQ(operand.I32(int32(g.lanes())), left)
		g.JGE(operand.LabelRef(name + "vectors"))
		g.Label(name + "rest")
		g.ADDQ(operand.I32(int32(g.lanes())), left)
		g.JZ(operand.LabelRef(name + "next"))
		vector(name+"masked", rows, true)
		g.Label(name + "next")
		for range rows {
			g.ADDQ(ldd, dst)
			g.ADDQ(lds, src)
		}
		g.SUBQ(operand.U32(uint64(rows)), m)
		g.JMP(operand.LabelRef(name))
		g.Label(name + "done")
		if rows > 1 {
			// What is left of many rows is reduced together with some of those before, again.
			g.TESTQ(m, m)
			g.JZ(operand.LabelRef("end"))
			g.CMPQ(g.argument("m"), operand.U32(uint64(rows)))
			g.JLT(operand.LabelRef("single"))
			g.Label("back")
			g.SUBQ(ldd, dst)
			g.SUBQ(lds, src)
			g.INCQ(m)
			g.CMPQ(m, operand.U32(uint64(rows)))
			g.JLT(operand.LabelRef("back"))
			g.JMP(operand.LabelRef(name))
		}
	}
	g.Label("end")
	g.end()
}
