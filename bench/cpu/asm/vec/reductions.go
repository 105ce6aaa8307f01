package main

import (
	"math"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// accumulators is the number of independent partial results of a reduction.
const accumulators = 4

func (g *gen) reductions() {
	g.reduceRows("RowSums", "VADD", g.num(0))
	g.reduceRows("RowMaxes", "VMAX", g.num(math.Inf(-1)))
	g.rowExpSums()
	g.rowDistance()
}

// strip walks the n elements of a row: many vectors at a time, single
// ones, then the rest under a mask. at is the offset in bytes.
func (g *gen) strip(pass string, many int, n, at reg.GPVirtual, vectors func(count int, mask *mask)) {
	g.Load(g.Param("n"), n)
	g.XORQ(at, at)
	for _, step := range []struct {
		name  string
		count int
	}{{pass + "main", many}, {pass + "single", 1}} {
		g.SUBQ(operand.I32(step.count*g.lanes()), n)
		g.JLT(operand.LabelRef(step.name + "done"))
		g.Label(step.name)
		vectors(step.count, nil)
		g.ADDQ(operand.I32(step.count*g.step()), at)
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
	v := acc[0]
	join := func(shuffle string, operands ...any) {
		other := g.vector()
		g.emit(shuffle, append(operands, other)...)
		g.op(mnemonic, other, v, v)
	}
	// Halves, quarters, and what they have left are exchanged, so that all lanes come to the same.
	if g.wide() {
		join("VSHUFF64X2", operand.U8(0b01_00_11_10), v, v)
		join("VSHUFF64X2", operand.U8(0b10_11_00_01), v, v)
	} else {
		join("VPERM2F128", operand.U8(1), v, v)
	}
	if g.size == 8 {
		join("VPERMILPD", operand.U8(0b01010101), v)
	} else {
		join("VPERMILPS", operand.U8(0b01_00_11_10), v)
		join("VPERMILPS", operand.U8(0b10_11_00_01), v)
	}
	return v
}

// result folds the accumulators to what the function returns.
func (g *gen) result(mnemonic string, acc []reg.VecVirtual) {
	v := g.fold(mnemonic, acc)
	g.emit("VMOVS"+g.mnemonic, v.AsX(), g.returned(0))
	g.end()
}

// returned is the memory operand of a result of the function.
func (g *gen) returned(i int) operand.Mem {
	r, err := g.ReturnIndex(i).Resolve()
	if err != nil {
		panic(err)
	}
	return r.Addr
}

// partial are the partial results of a sum beside much else that is in registers.
func (g *gen) partial() []reg.VecVirtual {
	if g.wide() {
		return []reg.VecVirtual{g.vector(), g.vector(), g.vector(), g.vector()}
	}
	return []reg.VecVirtual{g.vector(), g.vector()}
}

func (g *gen) accumulate(k konst) []reg.VecVirtual {
	acc := make([]reg.VecVirtual, accumulators)
	for i := range acc {
		acc[i] = g.vector()
		g.set(k, acc[i])
	}
	return acc
}

// farAhead is where to fetch while the row at src is worked on: as far into the row behind it,
// or a distance away if rows are shorter.
func (g *gen) farAhead(src, next, ahead reg.GPVirtual, distance int) {
	g.LEAQ(operand.Mem{Base: src, Disp: distance}, ahead)
	g.CMPQ(ahead, next)
	g.CMOVQLT(next, ahead)
}

// row is the vectors of a row at an offset, rowOfT those of what is computed in at the same elements.
func (g *gen) row(base, at reg.Register) func(u int) operand.Mem {
	return func(u int) operand.Mem {
		return operand.Mem{Base: base, Index: at, Scale: 1, Disp: u * g.step()}
	}
}

func (g *gen) rowOfT(base, at reg.Register) func(u int) operand.Mem {
	return func(u int) operand.Mem {
		return operand.Mem{Base: base, Index: at, Scale: uint8(g.size / g.storedSize), Disp: u * g.isa.Bytes}
	}
}

// fetchLines fetches the lines of some vectors far behind those of a row.
func (g *gen) fetchLines(base, at reg.Register, distance, vectors int) {
	for line := 0; line < vectors*g.step(); line += 64 {
		g.fetchFar(operand.Mem{Base: base, Index: at, Scale: 1, Disp: distance + line})
	}
}

// advance moves a pointer on by an argument, a stride in elements.
func (g *gen) advance(p reg.GPVirtual, stride string) {
	bytes := g.load(stride)
	g.bytes(bytes)
	g.ADDQ(bytes, p)
}

// storeOne writes the first element of a vector and moves the pointer on.
func (g *gen) storeOne(v reg.VecVirtual, to reg.GPVirtual) {
	g.emit("VMOVS"+g.mnemonic, v.AsX(), operand.Mem{Base: to})
	g.ADDQ(operand.I32(g.size), to)
}

// reduceRows writes a number of each row.
func (g *gen) reduceRows(name, mnemonic string, empty konst) {
	g.begin(name, "func(dst *T, src *S, lds, m, n int)")
	dst, src, lds, m := g.load("dst"), g.load("src"), g.load("lds"), g.load("m")
	n, at := g.GP64(), g.GP64()
	g.bytes(lds)
	from := g.row(src, at)
	g.Label("row")
	acc := g.accumulate(empty)
	g.strip("strip", accumulators, n, at, func(count int, mask *mask) {
		g.eachVector(from, count, mask, func(u int, v operand.Op) { g.join(mnemonic, v, mask, empty, acc[u]) })
	})
	g.storeOne(g.fold(mnemonic, acc), dst)
	g.ADDQ(lds, src)
	g.DECQ(m)
	g.JNZ(operand.LabelRef("row"))
	g.end()
}

// eachVector calls f with some vectors of a row in any order: where instructions can compute with them, in memory.
func (g *gen) eachVector(row func(u int) operand.Mem, count int, mask *mask, f func(u int, v operand.Op)) {
	most := g.together(count)
	for u := 0; u < count; u += most {
		if most == 1 {
			f(u, row(u))
			continue
		}
		for i, v := range g.getPair(row(u), most, mask).v {
			f(u+i, v)
		}
	}
}

// join adds the selected lanes of a vector, which may be in memory, to acc, or raises acc
// to them; the others count as empty.
func (g *gen) join(mnemonic string, v operand.Op, mask *mask, empty konst, acc reg.Register) {
	m, inMemory := v.(operand.Mem)
	if mask == nil {
		if inMemory {
			v = g.loaded(m)
		}
		g.op(mnemonic, v, acc, acc)
		return
	}
	x, inRegister := v.(reg.Register)
	if !inRegister {
		x = g.vector()
		g.get(m, mask, x)
	}
	others := g.vector()
	g.set(empty, others)
	g.only(mask, others, x)
	g.op(mnemonic, x, acc, acc)
}

// rowDistance is the sum of (src - y)^2. What is far is waited for: a Zen 4 reads 30 GB/s from memory so, and 26
// otherwise, but from the caches half as much.
func (g *gen) rowDistance() {
	g.begin("RowDistance", "func(src, y *S, n int, far bool) T")
	src, y, n, at := g.load("src"), g.load("y"), g.load("n"), g.GP64()
	acc := g.accumulate(g.num(0))
	g.strip("strip", accumulators, n, at, func(count int, mask *mask) {
		// The loads keep up with L2, and with L3 as far as it is read ahead: a Zen 3 takes .7 of the time where they
		// share their ports with no prefetches.
		near := count > 1
		if near {
			g.CMPB(g.argument("far"), operand.U8(0))
			g.JEQ(operand.LabelRef("unfetched"))
		}
		for _, p := range []reg.GPVirtual{src, y} {
			g.fetchLines(p, at, simd.MatrixDistance, count)
		}
		if near {
			g.Label("unfetched")
		}
		most := g.together(count)
		for u := 0; u < count; u += most {
			x, z := g.getPair(g.row(src, at)(u), most, mask), g.getPair(g.row(y, at)(u), most, mask)
			for i, v := range x.v {
				g.op("VSUB", z.v[i], v, v) // 0 in the lanes left out
				g.op("VFMADD231", v, v, acc[u+i])
			}
		}
		if count > 1 {
			g.CMPB(g.argument("far"), operand.U8(0))
			g.JEQ(operand.LabelRef("near"))
			g.pace()
			g.Label("near")
		}
	})
	g.result("VADD", acc)
}

// rowExpSums writes the maximum of each row and the sum of the exponentials of the distance
// to it. While they keep the units busy, the maximum of the next row is found, so that
// memory is read at all times; behind the last row, the one that follows is only fetched. So
// much is done for a line that the loads themselves never run ahead: it is fetched early.
func (g *gen) rowExpSums() {
	g.begin("RowExpSums", "func(sums, largest *T, src *S, lds, m, n int)")
	sums, maxima, src, lds, m := g.load("sums"), g.load("largest"), g.load("src"), g.load("lds"), g.load("m")
	n, at, next, far := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.bytes(lds)
	lowest := g.num(math.Inf(-1))
	g.pinExp2NonPositive(32)
	g.pin(g.num(math.Log2E))
	if g.wide() {
		g.pin(g.num(1))
	}
	from, behind := g.row(src, at), g.row(next, at)
	highest := g.vector()
	g.set(lowest, highest)
	g.strip("max", accumulators, n, at, func(count int, mask *mask) {
		g.eachVector(from, count, mask, func(_ int, v operand.Op) { g.join("VMAX", v, mask, lowest, highest) })
	})
	g.Label("row")
	largest := g.fold("VMAX", []reg.VecVirtual{highest})
	g.storeOne(largest, maxima)
	scaled := g.vector()
	g.op("VMUL", g.num(math.Log2E), largest, scaled)
	g.set(lowest, highest)
	g.LEAQ(operand.Mem{Base: src, Index: lds, Scale: 1}, next)
	g.LEAQ(operand.Mem{Base: next, Disp: 2 * simd.MatrixDistance}, far)
	g.DECQ(m)
	g.CMOVQEQ(src, next)
	acc := g.accumulate(g.num(0))
	g.strip("exp", accumulators, n, at, func(count int, mask *mask) {
		g.fetchLines(far, at, 0, count)
		g.eachVector(behind, count, mask, func(_ int, v operand.Op) { g.join("VMAX", v, mask, lowest, highest) })
		g.exponentials(count, func(u int) {
			x := g.vector()
			g.get(from(u), mask, x)
			g.op("VFMSUB213", scaled, g.num(math.Log2E), x)
			g.accumulateMasked(g.exp2NonPositive(x), mask, acc[u])
		})
	})
	// The scaled maximum is rounded: the sum so far is that of exponentials which are all off by the same
	// factor.
	sum, off := g.fold("VADD", acc), g.vector()
	g.broadcast(operand.Mem{Base: maxima, Disp: -g.size}, off)
	g.op("VFNMADD213", scaled, g.num(math.Log2E), off)
	g.op("VMUL", g.exp2NonPositive(off), sum, sum)
	g.storeOne(sum, sums)
	g.CMPQ(next, src)
	g.MOVQ(next, src)
	g.JNE(operand.LabelRef("row"))
	g.end()
}

// exponentials interleaves n instances, of which each takes three registers for an
// exponential: as many at a time as there are registers for beside the partial results.
func (g *gen) exponentials(n int, instance func(u int)) {
	most := accumulators
	if !g.wide() {
		most = accumulators / 2
	}
	for first := 0; first < n; first += most {
		g.interleave(min(most, n-first), func(u int) { instance(first + u) })
	}
}

// accumulateMasked adds the selected lanes of x; as a product with 1 if that is pinned, for which a Zen 4 has other
// units than for the maxima and the scaling of exponentials.
func (g *gen) accumulateMasked(x reg.Register, mask *mask, acc reg.Register) {
	into := []any{acc}
	switch {
	case mask != nil && g.wide():
		into = []any{mask.reg, acc}
	case mask != nil:
		g.op("VAND", mask.reg, x, x)
	}
	if one := g.pinned[uint64(g.num(1))]; one != nil {
		g.op("VFMADD231", slices.Concat([]any{one, x}, into)...)
		return
	}
	g.op("VADD", slices.Concat([]any{x, acc}, into)...)
}
