package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// accumulators is the number of independent partial results of a reduction.
const accumulators = 4

// strip walks the n elements of a row: accumulators vectors at a time, single
// ones, then the rest under a mask. at is the offset in bytes.
func (g *gen) strip(pass string, n, at reg.GPVirtual, vectors func(count int, mask *mask)) {
	g.Load(g.Param("n"), n)
	g.XORQ(at, at)
	for _, step := range []struct {
		name  string
		count int
	}{{pass + "main", accumulators}, {pass + "single", 1}} {
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
	g.JZ(operand.LabelRef(pass + "done"))
	vectors(1, g.mask(n))
	g.Label(pass + "done")
}

// fold reduces the accumulators to one element and fills a vector with it.
func (g *gen) fold(mnemonic string, acc []reg.VecVirtual) reg.VecVirtual {
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
	g.broadcast(v.AsX(), v)
	return v
}

func (g *gen) accumulate(k konst) []reg.VecVirtual {
	acc := make([]reg.VecVirtual, accumulators)
	for i := range acc {
		acc[i] = g.vector()
		g.set(k, acc[i])
	}
	return acc
}

// softmax passes over each row three times: the maximum; the exponentials of the
// distance to it, and their sum; the division. The rows come from far: while the
// exponentials keep the units busy, the next row is fetched.
func (g *gen) softmax() {
	g.begin("Softmax", "func(dst, src *T, ldd, lds, m, n int, scale T)")
	dst, src, ldd, lds, m := g.load("dst"), g.load("src"), g.load("ldd"), g.load("lds"), g.load("m")
	n, at, next := g.GP64(), g.GP64(), g.GP64()
	g.bytes(ldd)
	g.bytes(lds)
	memory := func(base reg.Register, u int) operand.Mem {
		return operand.Mem{Base: base, Index: at, Scale: 1, Disp: u * g.isa.Bytes}
	}
	g.pin(g.expMinFlushed(), g.num(g.magic()))
	g.Label("row")
	g.LEAQ(operand.Mem{Base: src, Index: lds, Scale: 1}, next)

	lowest := g.num(math.Inf(-1))
	acc := g.accumulate(lowest)
	g.strip("max", n, at, func(count int, mask *mask) {
		for u := range count {
			if mask == nil {
				g.op("VMAX", memory(src, u), acc[u], acc[u])
				continue
			}
			x, low := g.vector(), g.vector()
			g.get(memory(src, u), mask, x)
			g.set(lowest, low)
			g.only(mask, low, x)
			g.op("VMAX", x, acc[u], acc[u])
		}
	})
	largest, scale := g.fold("VMAX", acc), g.vector()
	g.broadcast(g.argument("scale"), scale)
	g.op("VMUL", scale, largest, largest)

	acc = g.accumulate(g.num(0))
	g.strip("exp", n, at, func(count int, mask *mask) {
		for line := 0; line < count*g.isa.Bytes; line += 64 {
			g.PREFETCHT0(operand.Mem{Base: next, Index: at, Scale: 1, Disp: line})
		}
		g.interleave(count, func(u int) {
			x := g.vector()
			g.get(memory(src, u), mask, x)
			g.op("VFMSUB213", largest, scale, x)
			p := g.expNonPositive(x)
			g.put(p, mask, memory(dst, u))
			g.accumulateMasked(p, mask, acc[u])
		})
	})
	sum, inverse := g.fold("VADD", acc), g.vector()
	g.set(g.num(1), inverse)
	g.op("VDIV", sum, inverse, inverse)

	g.strip("scale", n, at, func(count int, mask *mask) {
		for u := range count {
			x := g.vector()
			g.get(memory(dst, u), mask, x)
			g.op("VMUL", inverse, x, x)
			g.put(x, mask, memory(dst, u))
		}
	})
	g.ADDQ(ldd, dst)
	g.MOVQ(next, src)
	g.DECQ(m)
	g.JNZ(operand.LabelRef("row"))
	g.end()
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
