package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dotKeys is the number of keys whose products with a query are summed up at once:
// their vectors of sums become one of 4 elements.
const dotKeys = 4

// dots writes the products of queries and keys that lie in rows, 4 keys at a time:
// s[i*row + j/4*step + j%4] = q[i*ldq:] . k[j*ldk:]. Each key is read once from memory
// and meets as many queries at a time as there are registers for sums. What lies that many elements ahead is fetched, to L2 if
// it is far.
func (g *gen) dots() {
	g.begin("Dots", "func(m, n, d int, q *T, ldq int, k *T, ldk int, s *T, row, step, ahead int, far bool)")
	queries := 4
	if !g.wide() {
		queries = 2
	}
	ldq, k, ldk, s, row := g.load("ldq"), g.load("k"), g.load("ldk"), g.load("s"), g.load("row")
	for _, r := range []reg.GPVirtual{ldq, ldk, row} {
		g.bytes(r)
	}
	g.Label("keys")
	x, to, left := g.GP64(), g.GP64(), g.GP64()
	g.Load(g.Param("q"), x)
	g.MOVQ(s, to)
	g.Load(g.Param("m"), left)
	for count := queries; count > 0; count /= 2 {
		name := map[int]string{4: "four", 2: "two", 1: "one"}[count]
		g.Label(name)
		g.CMPQ(left, operand.I32(count))
		g.JLT(operand.LabelRef(name + "done"))
		g.dotGroup(name, count, x, ldq, k, ldk, to, row)
		g.SUBQ(operand.I32(count), left)
		g.JMP(operand.LabelRef(name))
		g.Label(name + "done")
	}
	g.LEAQ(operand.Mem{Base: k, Index: ldk, Scale: dotKeys}, k)
	step := g.load("step")
	g.bytes(step)
	g.ADDQ(step, s)
	g.SUBQ(operand.I32(dotKeys), g.argument("n"))
	g.JG(operand.LabelRef("keys"))
	g.end()
}

// dotGroup is count queries from x on against 4 keys; it moves x and to behind them.
func (g *gen) dotGroup(name string, count int, x, ldq, k, ldk, to, row reg.GPVirtual) {
	sums := make([][dotKeys]reg.VecVirtual, count)
	for i := range sums {
		for j := range sums[i] {
			sums[i][j] = g.vector()
			g.op("VXOR", sums[i][j], sums[i][j], sums[i][j])
		}
	}
	kAt, xAt, left := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(k, kAt)
	g.MOVQ(x, xAt)
	g.Load(g.Param("d"), left)
	vectors := func(mask *mask) {
		var key [dotKeys]reg.VecVirtual
		for j := range key {
			key[j] = g.vector()
		}
		at := g.GP64()
		g.LEAQ(operand.Mem{Base: kAt, Index: ldk, Scale: 1}, at)
		g.get(operand.Mem{Base: kAt}, mask, key[0])
		g.get(operand.Mem{Base: kAt, Index: ldk, Scale: 1}, mask, key[1])
		g.get(operand.Mem{Base: kAt, Index: ldk, Scale: 2}, mask, key[2])
		g.get(operand.Mem{Base: at, Index: ldk, Scale: 2}, mask, key[3])
		fetched := name + map[bool]string{false: "vector", true: "masked"}[mask != nil] + "fetched"
		fetch := func(line func(m operand.Mem)) {
			for j := range key {
				line(operand.Mem{Base: at})
				if j+1 < len(key) {
					g.ADDQ(ldk, at)
				}
			}
		}
		ahead := g.load("ahead")
		g.LEAQ(operand.Mem{Base: kAt, Index: ahead, Scale: uint8(g.size)}, at)
		g.CMPB(g.argument("far"), operand.U8(0))
		g.JNE(operand.LabelRef(fetched + "far"))
		fetch(func(m operand.Mem) { g.PREFETCHT0(m) })
		g.JMP(operand.LabelRef(fetched))
		g.Label(fetched + "far")
		fetch(g.fetchFar)
		g.Label(fetched)
		row := g.GP64()
		g.MOVQ(xAt, row)
		for i := range sums {
			v := g.vector()
			g.get(operand.Mem{Base: row}, mask, v)
			for j := range key {
				g.op("VFMADD231", key[j], v, sums[i][j])
			}
			if i+1 < count {
				g.ADDQ(ldq, row)
			}
		}
	}
	g.SUBQ(operand.I32(g.lanes()), left)
	g.JLT(operand.LabelRef(name + "rest"))
	g.Label(name + "vector")
	vectors(nil)
	g.ADDQ(operand.I32(g.isa.Bytes), kAt)
	g.ADDQ(operand.I32(g.isa.Bytes), xAt)
	g.SUBQ(operand.I32(g.lanes()), left)
	g.JGE(operand.LabelRef(name + "vector"))
	g.Label(name + "rest")
	g.ADDQ(operand.I32(g.lanes()), left)
	g.JZ(operand.LabelRef(name + "sum"))
	vectors(g.mask(left))
	g.Label(name + "sum")
	for i := range sums {
		g.storeSums(sums[i], operand.Mem{Base: to})
		g.ADDQ(row, to)
		g.ADDQ(ldq, x)
	}
}

// storeSums adds up each of 4 vectors and stores the 4 sums.
func (g *gen) storeSums(v [dotKeys]reg.VecVirtual, to operand.Mem) {
	// In each lane of 16 bytes: neighbouring elements of two vectors become one each.
	pair := func(mnemonic string, a, b reg.VecVirtual) reg.VecVirtual {
		high := g.vector()
		g.emit("VUNPCKH"+mnemonic, b, a, high)
		g.emit("VUNPCKL"+mnemonic, b, a, a)
		g.op("VADD", high, a, a)
		return a
	}
	// Both halves of a vector of 64 bytes become one of 32.
	half := func(a reg.VecVirtual) reg.Register {
		if g.wide() {
			high := g.YMM()
			g.VEXTRACTF64X4(operand.U8(1), a, high)
			g.op("VADD", high, a.AsY(), a.AsY())
		}
		return a.AsY()
	}
	if g.size == 4 {
		all := pair("PD", pair("PS", v[0], v[1]), pair("PS", v[2], v[3]))
		y, high := half(all), g.XMM()
		g.VEXTRACTF128(operand.U8(1), y, high)
		g.op("VADD", high, all.AsX(), all.AsX())
		g.op("VMOVU", all.AsX(), to)
		return
	}
	a, b := half(pair("PD", v[0], v[1])), half(pair("PD", v[2], v[3]))
	low, high := g.YMM(), g.YMM()
	g.VPERM2F128(operand.U8(0x20), b, a, low)
	g.VPERM2F128(operand.U8(0x31), b, a, high)
	g.op("VADD", high, low, low)
	g.op("VMOVU", low, to)
}
