package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// accumulators is the number of independent partial results of a reduction.
const accumulators = 4

func (g *gen) reductions() {
	g.rowSum("RowSum", "func(src *T, n int) T", false)
	g.rowSum("AddRowSum", "func(dst, src, y *T, n int) T", true)
	g.rowSquares()
	g.rowMax()
	g.rowDistance()
	g.rowExpSum()
}

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

// result folds the accumulators to what the function returns.
func (g *gen) result(mnemonic string, acc []reg.VecVirtual) {
	v := g.fold(mnemonic, acc)
	to, err := g.ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	g.emit("VMOVS"+g.mnemonic, v.AsX(), to.Addr)
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

// rowSum sums up a row, or dst = src + y.
func (g *gen) rowSum(name, signature string, add bool) {
	g.begin(name, signature)
	src, n, at := g.load("src"), g.load("n"), g.GP64()
	var dst, y reg.GPVirtual
	if add {
		dst, y = g.load("dst"), g.load("y")
	}
	acc := g.accumulate(g.num(0))
	next := g.following(src, n)
	g.strip("strip", n, at, func(count int, mask *mask) {
		for u := range count {
			vector := func(base reg.Register) operand.Mem {
				return operand.Mem{Base: base, Index: at, Scale: 1, Disp: u * g.isa.Bytes}
			}
			g.PREFETCHT0(vector(next))
			if mask == nil && !add {
				g.op("VADD", vector(src), acc[u], acc[u])
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
			g.accumulateMasked(x, mask, acc[u])
		}
	})
	g.result("VADD", acc)
}

func (g *gen) rowSquares() {
	g.begin("RowSquares", "func(src *T, n int, mean T) T")
	src, n, at := g.load("src"), g.load("n"), g.GP64()
	mean := g.vector()
	g.broadcast(g.argument("mean"), mean)
	acc := g.accumulate(g.num(0))
	g.strip("strip", n, at, func(count int, mask *mask) {
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
	g.result("VADD", acc)
}

// rowMax is the largest element of a row.
func (g *gen) rowMax() {
	g.begin("RowMax", "func(src *T, n int) T")
	src, n, at := g.load("src"), g.load("n"), g.GP64()
	acc := g.accumulate(g.num(math.Inf(-1)))
	next := g.following(src, n)
	g.strip("strip", n, at, func(count int, mask *mask) {
		for u := range count {
			g.PREFETCHT0(operand.Mem{Base: next, Index: at, Scale: 1, Disp: u * g.isa.Bytes})
			g.maximum(operand.Mem{Base: src, Index: at, Scale: 1, Disp: u * g.isa.Bytes}, mask, acc[u])
		}
	})
	g.result("VMAX", acc)
}

// maximum raises acc to the selected lanes of a vector, which may be in memory.
func (g *gen) maximum(v operand.Op, mask *mask, acc reg.Register) {
	if mask == nil {
		g.op("VMAX", v, acc, acc)
		return
	}
	x, inRegister := v.(reg.Register)
	if !inRegister {
		x = g.vector()
		g.get(v.(operand.Mem), mask, x)
	}
	low := g.vector()
	g.set(g.num(math.Inf(-1)), low)
	g.only(mask, low, x)
	g.op("VMAX", x, acc, acc)
}

// rowDistance is the sum of (src - y)^2.
func (g *gen) rowDistance() {
	g.begin("RowDistance", "func(src, y *T, n int) T")
	src, y, n, at := g.load("src"), g.load("y"), g.load("n"), g.GP64()
	acc := g.accumulate(g.num(0))
	g.strip("strip", n, at, func(count int, mask *mask) {
		for u := range count {
			x, z := g.vector(), g.vector()
			g.get(operand.Mem{Base: src, Index: at, Scale: 1, Disp: u * g.isa.Bytes}, mask, x)
			g.get(operand.Mem{Base: y, Index: at, Scale: 1, Disp: u * g.isa.Bytes}, mask, z)
			g.op("VSUB", z, x, x) // 0 in the lanes left out
			g.op("VFMADD231", x, x, acc[u])
		}
	})
	g.result("VADD", acc)
}

// rowExpSum is the sum of e^(src - largest). The next row is fetched meanwhile.
func (g *gen) rowExpSum() {
	g.begin("RowExpSum", "func(src *T, n int, largest T) T")
	src, n, at := g.load("src"), g.load("n"), g.GP64()
	largest := g.vector()
	g.broadcast(g.argument("largest"), largest)
	g.pin(g.exp2MinFlushed(), g.num(g.magic()), g.num(math.Log2E))
	g.op("VMUL", g.num(math.Log2E), largest, largest)
	acc := g.accumulate(g.num(0))
	next := g.following(src, n)
	g.strip("strip", n, at, func(count int, mask *mask) {
		for line := 0; line < count*g.isa.Bytes; line += 64 {
			g.PREFETCHT0(operand.Mem{Base: next, Index: at, Scale: 1, Disp: line})
		}
		g.interleave(count, func(u int) {
			x := g.vector()
			g.get(operand.Mem{Base: src, Index: at, Scale: 1, Disp: u * g.isa.Bytes}, mask, x)
			g.op("VFMSUB213", largest, g.num(math.Log2E), x)
			g.accumulateMasked(g.exp2NonPositive(x), mask, acc[u])
		})
	})
	g.result("VADD", acc)
}

// softmax passes over each row three times: the maximum, of src or of dst = src + y; the
// exponentials of the distance to it, and their sum; the division. The rows come from
// far: while the exponentials keep the units busy, the next row is fetched. If there is
// room for a row, the first passes write there and the last one stores past the caches.
func (g *gen) softmax() {
	g.begin("Softmax", "func(dst, src, y, room *T, ldd, lds, ldy, m, n int, scale T)")
	dst, src, y, m := g.load("dst"), g.load("src"), g.load("y"), g.load("m")
	ldd, lds, ldy := g.load("ldd"), g.load("lds"), g.load("ldy")
	n, at, next, from := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.bytes(ldd)
	g.bytes(lds)
	g.bytes(ldy)
	memory := func(base reg.Register, u int) operand.Mem {
		return operand.Mem{Base: base, Index: at, Scale: 1, Disp: u * g.isa.Bytes}
	}
	g.pin(g.exp2MinFlushed(), g.num(g.magic()))
	g.Label("row")
	g.LEAQ(operand.Mem{Base: src, Index: lds, Scale: 1}, next)
	row := g.GP64()
	g.Load(g.Param("room"), row)
	g.TESTQ(row, row)
	g.CMOVQEQ(dst, row)

	acc := g.accumulate(g.num(math.Inf(-1)))
	g.TESTQ(y, y)
	g.JZ(operand.LabelRef("plain"))
	g.strip("add", n, at, func(count int, mask *mask) {
		for u := range count {
			x, z := g.vector(), g.vector()
			g.get(memory(src, u), mask, x)
			g.get(memory(y, u), mask, z)
			g.op("VADD", z, x, x)
			g.put(x, mask, memory(row, u))
			g.maximum(x, mask, acc[u])
		}
	})
	g.ADDQ(ldy, y)
	g.MOVQ(row, from)
	g.JMP(operand.LabelRef("known"))
	g.Label("plain")
	g.strip("max", n, at, func(count int, mask *mask) {
		for u := range count {
			g.maximum(memory(src, u), mask, acc[u])
		}
	})
	g.MOVQ(src, from)
	g.Label("known")
	largest, scale := g.fold("VMAX", acc), g.vector()
	g.broadcast(g.argument("scale"), scale)
	g.op("VMUL", g.num(math.Log2E), scale, scale)
	g.op("VMUL", scale, largest, largest)

	acc = g.accumulate(g.num(0))
	g.strip("exp", n, at, func(count int, mask *mask) {
		for line := 0; line < count*g.isa.Bytes; line += 64 {
			g.PREFETCHT0(operand.Mem{Base: next, Index: at, Scale: 1, Disp: line})
		}
		g.interleave(count, func(u int) {
			x := g.vector()
			g.get(memory(from, u), mask, x)
			g.op("VFMSUB213", largest, scale, x)
			p := g.exp2NonPositive(x)
			g.put(p, mask, memory(row, u))
			g.accumulateMasked(p, mask, acc[u])
		})
	})
	sum, inverse := g.fold("VADD", acc), g.vector()
	g.set(g.num(1), inverse)
	g.op("VDIV", sum, inverse, inverse)

	scaled := func(nt bool) func(count int, mask *mask) {
		return func(count int, mask *mask) {
			for u := range count {
				x := g.vector()
				g.get(memory(row, u), mask, x)
				g.op("VMUL", inverse, x, x)
				g.store(x, mask, nt && count > 1, memory(dst, u))
			}
		}
	}
	g.CMPQ(row, dst)
	g.JEQ(operand.LabelRef("kept"))
	g.TESTQ(operand.U32(63), dst)
	g.JNE(operand.LabelRef("kept"))
	g.strip("stream", n, at, scaled(true))
	g.JMP(operand.LabelRef("written"))
	g.Label("kept")
	g.strip("scale", n, at, scaled(false))
	g.Label("written")
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
