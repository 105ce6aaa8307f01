package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// softmax passes over each row three times: the maximum, of src or of src + y; the exponentials of the
// distance to it, and their sum; the division. While the exponentials of one row keep the units busy, the
// maximum of the next is found and the row before is divided, so that memory is read and written at all times.
// The exponentials are kept in dst, or if there is room for a row, there, as there always is for halves: they are
// rounded but once. Then the result may be stored past the caches.
type softmax struct {
	*gen
	add           bool          // whether there is a y
	dst, src, y   reg.GPVirtual // of the row whose exponentials are taken
	kept          reg.GPVirtual // where they are kept
	next, nextY   reg.GPVirtual // of the row whose maximum is found
	far           reg.GPVirtual // what is fetched
	last, lastDst reg.GPVirtual // of the row that is divided
	at, n         reg.GPVirtual // the offset in a row in bytes, the elements left
	scale         reg.VecVirtual
	highest       reg.VecVirtual   // of the next row, so far
	largest       reg.VecVirtual   // of the row, scaled
	sums          []reg.VecVirtual // of the row
	inverse       reg.VecVirtual   // of the sum of the row before
}

func (g *gen) softmax() {
	g.begin("Softmax", "func(dst, src, y *S, room *T, ldd, lds, ldy, m, n int, scale T, nt uint8)")
	g.pinExp2NonPositive(16)
	k := &softmax{
		gen: g, dst: g.load("dst"), src: g.GP64(), y: g.GP64(), kept: g.load("room"),
		next: g.load("src"), nextY: g.load("y"), far: g.GP64(), last: g.GP64(), lastDst: g.GP64(),
		at: g.GP64(), n: g.GP64(),
		scale: g.vector(), highest: g.vector(), largest: g.vector(), sums: g.partial(), inverse: g.vector(),
	}
	g.broadcast(g.argument("scale"), k.scale)
	g.op("VMUL", g.num(math.Log2E), k.scale, k.scale)
	g.set(k.lowest(), k.highest)
	g.TESTQ(k.kept, k.kept)
	g.CMOVQEQ(k.dst, k.kept)
	g.TESTQ(k.nextY, k.nextY)
	g.JZ(operand.LabelRef("plain"))
	k.add = true
	k.rows("add")
	g.JMP(operand.LabelRef("rest"))
	k.add = false
	g.Label("plain")
	k.rows("plain")
	g.Label("rest")
	k.eitherWay("rest", func(name string, nt bool) {
		k.strip(name, accumulators, k.n, k.at, func(count int, mask *mask) {
			most := k.together(count)
			for u := 0; u < count; u += most {
				k.divide(u, most, mask, nt)
			}
		})
	})
	g.end()
}

func (k *softmax) lowest() konst { return k.num(math.Inf(-1)) }

// rows leaves the last row to be divided.
func (k *softmax) rows(name string) {
	k.strip(name+"max", accumulators, k.n, k.at, k.raise)
	k.turn()
	k.exponentialsOf(name+"alone", nil)
	k.JMP(operand.LabelRef(name + "taken"))
	k.Label(name + "row")
	k.turn()
	k.eitherWay(name, func(name string, nt bool) {
		k.exponentialsOf(name, func(u, count int, mask *mask) { k.divide(u, count, mask, nt) })
	})
	k.Label(name + "taken")
	k.finish()
	k.DECQ(k.argument("m"))
	k.JNZ(operand.LabelRef(name + "row"))
}

// eitherWay writes what stores the row that is divided past the caches, if it is to be and begins with a cache
// line, and what does not.
func (k *softmax) eitherWay(name string, pass func(name string, nt bool)) {
	k.skipUnlessNT(k.lastDst, name+"kept")
	pass(name+"nt", true)
	k.JMP(operand.LabelRef(name + "passed"))
	k.Label(name + "kept")
	pass(name+"in", false)
	k.Label(name + "passed")
}

// turn makes the next row the one whose exponentials are taken. Behind the last one, which is its own
// next, what follows is only fetched.
func (k *softmax) turn() {
	highest := k.fold("VMAX", []reg.VecVirtual{k.highest})
	k.op("VMUL", k.scale, highest, k.largest)
	k.set(k.lowest(), k.highest)
	k.MOVQ(k.next, k.src)
	k.MOVQ(k.nextY, k.y)
	k.advance(k.next, "lds")
	k.advance(k.nextY, "ldy")
	k.LEAQ(operand.Mem{Base: k.next, Disp: 2 * simd.MatrixDistance}, k.far)
	k.CMPQ(k.argument("m"), operand.U8(1))
	k.CMOVQEQ(k.src, k.next)
	k.CMOVQEQ(k.y, k.nextY)
	for _, sum := range k.sums {
		k.set(k.num(0), sum)
	}
}

// finish makes the row whose exponentials are known the one that is divided.
func (k *softmax) finish() {
	k.set(k.num(1), k.inverse)
	k.op("VDIV", k.fold("VADD", k.sums), k.inverse, k.inverse)
	k.MOVQ(k.kept, k.last)
	k.MOVQ(k.dst, k.lastDst)
	k.advance(k.dst, "ldd")
	k.CMPQ(k.argument("room"), operand.U8(0))
	k.CMOVQEQ(k.dst, k.kept)
}

// raise raises the maximum of the next row to some of its vectors.
func (k *softmax) raise(count int, mask *mask) {
	raise := func(_ int, x operand.Op) { k.join("VMAX", x, mask, k.lowest(), k.highest) }
	if !k.add {
		k.eachVector(k.row(k.next, k.at), count, mask, raise)
		return
	}
	most := k.together(count)
	for u := 0; u < count; u += most {
		for _, x := range k.x(k.next, k.nextY, u, most, mask).v {
			raise(u, x)
		}
	}
}

// x is as many vectors of src, or of src + y, in any order.
func (k *softmax) x(src, y reg.GPVirtual, u, count int, mask *mask) pair {
	x := k.getPair(k.row(src, k.at)(u), count, mask)
	if k.add {
		for i, z := range k.getPair(k.row(y, k.at)(u), count, mask).v {
			k.op("VADD", z, x.v[i], x.v[i])
		}
	}
	return x
}

// exponentialsOf takes those of a row, and meanwhile does what else is due to vector u. What is loaded of the row comes
// first: behind stores at the same offset in another page a load may have to wait for them. With pairs of vectors all
// that comes before the exponentials, which are kept in the order of the pairs.
func (k *softmax) exponentialsOf(name string, meanwhile func(u, count int, mask *mask)) {
	k.strip(name, accumulators, k.n, k.at, func(count int, mask *mask) {
		k.fetchLines(k.far, k.at, 0, count)
		k.raise(count, mask)
		most := k.together(count)
		var xs []reg.Register
		for u := 0; most > 1 && u < count; u += most {
			xs = append(xs, k.x(k.src, k.y, u, most, mask).v...)
		}
		for u := 0; meanwhile != nil && most > 1 && u < count; u += most {
			meanwhile(u, most, mask)
		}
		k.exponentials(count, func(u int) {
			var x reg.Register
			if most > 1 {
				x = xs[u]
			} else {
				x = k.x(k.src, k.y, u, 1, mask).v[0]
			}
			k.op("VFMSUB213", k.largest, k.scale, x)
			p := k.exp2NonPositive(x)
			if meanwhile != nil && most == 1 {
				meanwhile(u, 1, mask)
			}
			k.putT(p, mask, k.rowOfT(k.kept, k.at)(u))
			k.accumulateMasked(p, mask, k.sums[u%len(k.sums)])
		})
	})
}

// divide stores as many vectors of the result of the row before.
func (k *softmax) divide(u, count int, mask *mask, nt bool) {
	p := pair{order: k.orderOf(count)}
	for i := range count {
		x := k.vector()
		k.getT(k.rowOfT(k.last, k.at)(u+i), mask, x)
		k.op("VMUL", k.inverse, x, x)
		p.v = append(p.v, x)
	}
	k.storePair(p, mask, nt && mask == nil, k.row(k.lastDst, k.at)(u))
}
