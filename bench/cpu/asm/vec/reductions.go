package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// accumulators is the number of independent partial results of a reduction.
const accumulators = 4

func (g *gen) reductions() {
	g.rowMax()
	g.rowSum()
	g.rowSquares()
	g.expSum()
}

// strip walks the n elements of a row: accumulators vectors at a time, single
// ones, then the rest under a mask. at is the offset in bytes.
func (g *gen) strip(n, at reg.GPVirtual, vectors func(count int, mask *mask)) {
	g.XORQ(at, at)
	for _, step := range []struct {
		name  string
		count int
	}{{"main", accumulators}, {"single", 1}} {
		g.SUBQ(operand.I32(step.count*g.lanes()), n)
		g.JLT(operand.LabelRef(step.name + "done"))
		g.Label(step.name)
		vectors(step.count, nil)
		g.ADDQ(operand.I32(step.count*g.isa.Bytes), at)
		g.SUBQ(operand.I32(step.count*g.lanes()), n)
		g.JGE(operand.LabelRef(step.name))
		g.Label(step.name + "done")
		g.ADDQ(operand.I32(step.count*g.lanes()), n)
	}
	g.JZ(operand.LabelRef("stripdone"))
	vectors(1, g.mask(n))
	g.Label("stripdone")
}

// fold reduces the accumulators to the lowest lane of the first and returns it.
func (g *gen) fold(mnemonic string, acc []reg.VecVirtual) {
	for width := len(acc) / 2; width > 0; width /= 2 {
		for i := range width {
			g.op(mnemonic, acc[i+width], acc[i], acc[i])
		}
	}
	v, other := acc[0], g.vector()
	if g.wide() {
		g.VEXTRACTF64X4(operand.U8(1), v, other.AsY())
		g.op(mnemonic, other.AsY(), v.AsY(), v.AsY())
	}
	g.VEXTRACTF128(operand.U8(1), v.AsY(), other.AsX())
	g.op(mnemonic, other.AsX(), v.AsX(), v.AsX())
	shuffles := []int{0b01_00_11_10, 0b10_11_00_01}
	if g.size == 8 {
		shuffles = []int{0b01}
	}
	for _, s := range shuffles {
		g.op("VPERMIL", operand.U8(s), v.AsX(), other.AsX())
		g.op(mnemonic, other.AsX(), v.AsX(), v.AsX())
	}
	result, err := g.ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	g.emit("VMOVS"+g.mnemonic, v.AsX(), result.Addr)
	g.end()
}

// following is where the row behind this one begins: what takes long for a row fetches
// the next one meanwhile.
func (g *gen) following(src, n reg.GPVirtual) reg.GPVirtual {
	next := g.GP64()
	g.LEAQ(operand.Mem{Base: src, Index: n, Scale: uint8(g.size)}, next)
	return next
}

func (g *gen) accumulate(k konst) []reg.VecVirtual {
	acc := make([]reg.VecVirtual, accumulators)
	for i := range acc {
		acc[i] = g.vector()
		g.set(k, acc[i])
	}
	return acc
}

// rowMax writes the maximum of a row, and of the sum with another row that it keeps.
func (g *gen) rowMax() {
	lowest := g.num(math.Inf(-1))
	g.rowFold("RowMax", "func(src *T, n int) T", "VMAX", lowest, false)
	g.rowFold("AddRowMax", "func(dst, src, y *T, n int) T", "VMAX", lowest, true)
}

// rowSum is rowMax with the sum.
func (g *gen) rowSum() {
	g.rowFold("RowSum", "func(src *T, n int) T", "VADD", g.num(0), false)
	g.rowFold("AddRowSum", "func(dst, src, y *T, n int) T", "VADD", g.num(0), true)
}

// rowFold reduces a row, or dst = src + y, by an operation with its neutral element.
func (g *gen) rowFold(name, signature, mnemonic string, neutral konst, add bool) {
	g.begin(name, signature)
	src, n, at := g.load("src"), g.load("n"), g.GP64()
	var dst, y reg.GPVirtual
	if add {
		dst, y = g.load("dst"), g.load("y")
	}
	g.pin(neutral)
	acc := g.accumulate(neutral)
	g.strip(n, at, func(count int, mask *mask) {
		for u := range count {
			vector := func(base reg.Register) operand.Mem {
				return operand.Mem{Base: base, Index: at, Scale: 1, Disp: u * g.isa.Bytes}
			}
			if mask == nil && !add {
				g.op(mnemonic, vector(src), acc[u], acc[u])
				continue
			}
			x := g.vector()
			g.get(vector(src), mask, x)
			if add {
				z := g.vector()
				g.get(vector(y), mask, z)
				g.op("VADD", z, x, x)
				g.put(x, mask, vector(dst))
			}
			g.only(mask, g.pinned[uint64(neutral)], x)
			g.op(mnemonic, x, acc[u], acc[u])
		}
	})
	g.fold(mnemonic, acc)
}

func (g *gen) rowSquares() {
	g.begin("RowSquares", "func(src *T, n int, mean T) T")
	src, n, at := g.load("src"), g.load("n"), g.GP64()
	mean := g.vector()
	g.broadcast(g.argument("mean"), mean)
	acc := g.accumulate(g.num(0))
	g.strip(n, at, func(count int, mask *mask) {
		for u := range count {
			x := g.vector()
			g.get(operand.Mem{Base: src, Index: at, Scale: 1, Disp: u * g.isa.Bytes}, mask, x)
			g.op("VSUB", mean, x, x)
			if mask == nil {
				g.op("VFMADD231", x, x, acc[u])
				continue
			}
			g.op("VMUL", x, x, x)
			g.accumulateMasked(x, mask, acc[u])
		}
	})
	g.fold("VADD", acc)
}

func (g *gen) expSum() {
	g.begin("ExpSum", "func(dst, src *T, n int, scale, max T) T")
	dst, src, n, at := g.load("dst"), g.load("src"), g.load("n"), g.GP64()
	scale, max := g.vector(), g.vector()
	g.broadcast(g.argument("scale"), scale)
	g.broadcast(g.argument("max"), max)
	g.pin(g.expMinFlushed(), g.num(g.magic()))
	acc := g.accumulate(g.num(0))
	next := g.following(src, n)
	g.strip(n, at, func(count int, mask *mask) {
		g.interleave(count, func(u int) {
			x := g.vector()
			g.get(operand.Mem{Base: src, Index: at, Scale: 1, Disp: u * g.isa.Bytes}, mask, x)
			g.emit("PREFETCHT0", operand.Mem{Base: next, Index: at, Scale: 1, Disp: u * g.isa.Bytes})
			g.op("VFMSUB213", max, scale, x)
			p := g.expNonPositive(x)
			g.put(p, mask, operand.Mem{Base: dst, Index: at, Scale: 1, Disp: u * g.isa.Bytes})
			g.accumulateMasked(p, mask, acc[u])
		})
	})
	g.fold("VADD", acc)
}

// accumulateMasked adds the selected lanes of x.
func (g *gen) accumulateMasked(x reg.Register, mask *mask, acc reg.Register) {
	switch {
	case mask == nil:
		g.op("VADD", x, acc, acc)
	case g.wide():
		g.op("VADD", x, acc, mask.reg, acc)
	default:
		g.op("VAND", mask.reg, x, x)
		g.op("VADD", x, acc, acc)
	}
}
