package main

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// norms pass over rows twice: for their sums and for their results. While the result of one is
// written, the sums of the next are taken, so that what comes from far is read at all times. They are
//
//	s1 = sum(x - c), s2 = sum((x - c)^2), mean = c + s1/n, variance = (s2 - s1^2/n) / n
//
// where c is the mean of its first k elements (Chan, Golub and LeVeque, Algorithms for Computing
// the Sample Variance, 1983). The difference costs log2(1 + (c - mean)^2/variance) bits: next to none
// where the first elements are like the others, and log2(n/k) in the most contrived row, as (c - mean)^2
// is at most variance * (n-k)/k. The root mean square needs s2 alone, with c = 0. A sum with y, which
// may come before, is kept in dst, or if there is room for two rows, there, as there always is for halves: then
// the result may be stored past the caches.
func (g *gen) norms() {
	g.begin("LayerNorm", "func(dst, src *S, gamma, beta *T, ldd, lds, m, n int, eps T, nt uint8)")
	g.newNorm(true, false).rows()
	g.begin("AddLayerNorm", "func(dst, src, y *S, gamma, beta, room *T, ldd, lds, ldy, m, n int, eps T, nt uint8)")
	g.newNorm(true, true).rows()
	g.begin("RMSNorm", "func(dst, src *S, gamma *T, ldd, lds, m, n int, eps T, nt uint8)")
	g.newNorm(false, false).rows()
	const block = "func(dst, src, y, next, nextY *S, gamma, beta *T, n int, mean, scale, shift T) (sum, squares T)"
	g.begin("LayerNormBlock", block)
	g.normBlock(true, false, true)
	g.begin("AddLayerNormBlock", block)
	g.normBlock(true, true, true)
	g.begin("RMSNormBlock", block)
	g.normBlock(false, false, true)
	if !g.half() {
		g.begin("LayerNormNearBlock", block)
		g.normBlock(true, false, false)
	}
}

// norm is a normalisation of rows, and its registers.
type norm struct {
	*gen
	layer, add    bool
	again         bool          // a sum is kept nowhere
	dst, src      reg.GPVirtual // of the row whose result is written
	written       reg.GPVirtual // y of that row, if the sum is added again
	next, y       reg.GPVirtual // of the row whose sums are taken
	sum           reg.GPVirtual // where next + y is kept: the row of dst that will be written, or half of room
	far           reg.GPVirtual // what is fetched
	lds           reg.GPVirtual
	at, n         reg.GPVirtual // the offset in a row in bytes, the elements left
	gamma, beta   reg.GPVirtual
	inverse       reg.VecVirtual // 1/n
	shift         reg.VecVirtual // c
	sums, squares []reg.VecVirtual
	mean, scale   reg.VecVirtual
}

func (g *gen) newNorm(layer, add bool) *norm {
	k := &norm{
		gen: g, layer: layer, add: add,
		dst: g.load("dst"), src: g.GP64(), next: g.load("src"), far: g.GP64(), lds: g.load("lds"),
		at: g.GP64(), n: g.load("n"), gamma: g.load("gamma"),
		inverse: g.vector(), shift: g.vector(), sums: g.partial(), squares: g.partial(), mean: g.vector(), scale: g.vector(),
	}
	if layer {
		k.beta = g.load("beta")
	}
	if add {
		k.y, k.sum = g.load("y"), g.load("dst")
		room := g.load("room")
		g.TESTQ(room, room)
		g.CMOVQNE(room, k.sum)
	}
	g.bytes(k.lds)
	elems := g.vector()
	g.emit("VCVTSI2S"+g.mnemonic+"Q", k.n, elems.AsX(), elems.AsX())
	g.broadcast(elems.AsX(), elems)
	g.set(g.num(1), k.inverse)
	g.op("VDIV", elems, k.inverse, k.inverse)
	return k
}

// pacedLines is the number of lines between which loads are waited for: of a row, or of two that are added.
const pacedLines = 12

// paced is the number of vectors of them.
func (k *norm) paced() int { return pacedLines * 64 / k.step() / len(k.summands()) }

// few tells whether a line takes so few instructions that loads overtake what is fetched for them: a Zen 4 ran the root
// mean square at 35 GB/s with rows of 1024, and runs it at 45 paced. AVX2, layer norm and halves gain nothing by that, or
// lose a fifth.
func (k *norm) few() bool { return k.wide() && !k.layer && !k.half() }

func (k *norm) rows() {
	k.start("first")
	k.strip("first", accumulators, k.n, k.at, k.take)
	k.Label("row")
	k.finish()
	k.DECQ(k.argument("m"))
	k.JZ(operand.LabelRef("last"))
	k.start("next")
	k.results("both", k.fetchBehind, func(count int, mask *mask, nt bool) {
		k.take(count, mask)
		k.write(count, mask, nt)
	})
	k.JMP(operand.LabelRef("row"))
	k.Label("last")
	k.results("last", func(bool) func(count int) {
		return func(count int) { k.fetchLines(k.next, k.at, 0, count) }
	}, k.write)
	k.end()
}

// fetchBehind prepares to fetch what lies behind the row whose sums are taken, and y.
func (k *norm) fetchBehind(nt bool) func(count int) {
	distance, fetch := fetchDistance, func(m operand.Mem) { k.PREFETCHT0(m) }
	if nt {
		distance, fetch = simd.MatrixDistance, k.fetchFar
	}
	behind := k.GP64()
	k.LEAQ(operand.Mem{Base: k.next, Index: k.lds, Scale: 1}, behind)
	k.farAhead(k.next, behind, k.far, distance)
	return func(count int) {
		for line := 0; line < count*k.step(); line += 64 {
			fetch(operand.Mem{Base: k.far, Index: k.at, Scale: 1, Disp: line})
			if k.add {
				fetch(operand.Mem{Base: k.y, Index: k.at, Scale: 1, Disp: distance + line})
			}
		}
	}
}

// results walks a row whose result is due. What is stored past the caches comes from memory, and sums
// may: then more is fetched.
func (k *norm) results(name string, fetching func(nt bool) func(count int), vectors func(count int, mask *mask, nt bool)) {
	strip := func(name string, nt bool) {
		many, fetch := accumulators, func(int) {}
		few := nt && k.few()
		if few {
			many = k.paced()
		}
		if nt || k.add {
			fetch = fetching(nt)
		}
		k.strip(name, many, k.n, k.at, func(count int, mask *mask) {
			fetch(count)
			vectors(count, mask, nt && mask == nil)
			if few && count > 1 {
				k.pace()
			}
		})
	}
	k.skipUnlessNT(k.dst, name+"kept")
	strip(name+"nt", true)
	k.JMP(operand.LabelRef(name + "written"))
	k.Label(name + "kept")
	strip(name, false)
	k.Label(name + "written")
	k.advance(k.dst, "ldd")
}

// start prepares to take the sums of a row. Its shift is the mean of its first elements, or in a
// short row the first.
func (k *norm) start(name string) {
	k.clear()
	if !k.layer {
		return
	}
	k.CMPQ(k.argument("n"), operand.I32(accumulators*k.lanes()))
	k.JLT(operand.LabelRef(name + "short"))
	k.set(k.num(0), k.shift)
	for _, from := range k.summands() {
		for u := range accumulators {
			k.op("VADD", k.loaded(operand.Mem{Base: from, Disp: u * k.step()}), k.shift, k.shift)
		}
	}
	k.op("VMUL", k.num(1/float64(accumulators*k.lanes())), k.fold("VADD", []reg.VecVirtual{k.shift}), k.shift)
	k.JMP(operand.LabelRef(name + "shifted"))
	k.Label(name + "short")
	k.set(k.num(0), k.shift)
	for _, from := range k.summands() {
		k.op("VADD", k.first(from), k.shift, k.shift)
	}
	k.Label(name + "shifted")
}

// first fills a vector with the first element of a row.
func (k *norm) first(row reg.GPVirtual) reg.Register {
	v, m := k.vector(), operand.Mem{Base: row}
	if !k.half() {
		k.broadcast(m, v)
		return v
	}
	one := k.GP64()
	k.MOVQ(operand.U32(1), one)
	k.get(m, k.mask(one), v)
	k.broadcast(v.AsX(), v)
	return v
}

// clear sets the sums to 0.
func (k *norm) clear() {
	for _, v := range slices.Concat(k.sums, k.squares) {
		k.set(k.num(0), v)
	}
}

// summands are what a row whose sums are taken is the sum of.
func (k *norm) summands() []reg.GPVirtual {
	if k.add {
		return []reg.GPVirtual{k.next, k.y}
	}
	return []reg.GPVirtual{k.next}
}

// take adds vectors of a row to its sums.
func (k *norm) take(count int, mask *mask) {
	if k.add && !k.again {
		for u := range count {
			x := k.sumOf(k.next, k.y, u, mask)
			k.putT(x, mask, k.rowOfT(k.sum, k.at)(u))
			k.takeOne(u, x, mask)
		}
		return
	}
	most := k.together(count)
	for u := 0; u < count; u += most {
		p := k.getPair(k.row(k.next, k.at)(u), most, mask)
		if k.add {
			for i, z := range k.getPair(k.row(k.y, k.at)(u), most, mask).v {
				k.op("VADD", z, p.v[i], p.v[i])
			}
		}
		for i, x := range p.v {
			k.takeOne(u+i, x, mask)
		}
	}
}

// sumOf is vector u of the sum of two rows.
func (k *norm) sumOf(row, other reg.GPVirtual, u int, mask *mask) reg.Register {
	x, z := k.vector(), k.vector()
	k.get(k.row(row, k.at)(u), mask, x)
	k.get(k.row(other, k.at)(u), mask, z)
	k.op("VADD", z, x, x)
	return x
}

// takeOne adds vector u.
func (k *norm) takeOne(u int, x reg.Register, mask *mask) {
	if k.layer {
		k.only(mask, k.shift, x)
		k.op("VSUB", k.shift, x, x)
		sum := k.sums[u%len(k.sums)]
		k.op("VADD", x, sum, sum)
	}
	k.op("VFMADD231", x, x, k.squares[u%len(k.squares)])
}

// finish turns the sums of a row into its mean and scale, and to the row behind it.
func (k *norm) finish() {
	if k.add {
		k.MOVQ(k.sum, k.src)
		k.turn()
		k.advance(k.y, "ldy")
	} else {
		k.MOVQ(k.next, k.src)
	}
	k.ADDQ(k.lds, k.next)
	variance := k.fold("VADD", k.squares)
	if k.layer {
		sum := k.fold("VADD", k.sums)
		k.op("VMUL", k.inverse, sum, k.mean)
		k.op("VFNMADD231", sum, k.mean, variance)
		k.op("VADD", k.shift, k.mean, k.mean)
		// 0 may come out below it. NaN stays.
		zero := k.vector()
		k.set(k.num(0), zero)
		k.op("VMAX", variance, zero, variance)
	}
	eps := k.vector()
	k.broadcast(k.argument("eps"), eps)
	k.op("VFMADD132", k.inverse, eps, variance)
	k.inverseRoot(variance, k.scale)
}

// inverseRoot is 1/sqrt(x). The results of a row wait for it: in fp32 AVX-512 has it to 14 bits at once, and to all by
// a step of Newton, y + y/2 (1 - (x y) y), in half the time of a root and a division.
func (k *norm) inverseRoot(x, y reg.Register) {
	if !k.wide() || k.size == 8 {
		k.op("VSQRT", x, x)
		k.set(k.num(1), y)
		k.op("VDIV", x, y, y)
		return
	}
	k.op("VRSQRT14", x, y)
	half := k.vector()
	k.op("VMUL", k.num(0.5), y, half)
	k.op("VMUL", y, x, x)
	k.op("VFNMADD213", k.num(1), y, x)
	k.op("VFMADD231", half, x, y)
}

// turn moves on to where the next sum is kept: the next row of dst, or the other half of the room.
func (k *norm) turn() {
	other, room := k.load("n"), k.load("room")
	k.TESTQ(room, room)
	k.JNZ(operand.LabelRef("halves"))
	k.advance(k.sum, "ldd")
	k.JMP(operand.LabelRef("turned"))
	k.Label("halves")
	k.bytesOfT(other)
	k.LEAQ(operand.Mem{Base: other, Index: room, Scale: 2}, other)
	k.SUBQ(k.sum, other)
	k.MOVQ(other, k.sum)
	k.Label("turned")
}

// write stores vectors of the result of a row.
func (k *norm) write(count int, mask *mask, nt bool) {
	most := k.together(count)
	for u := 0; u < count; u += most {
		p := pair{}
		for i := range most {
			p.v = append(p.v, k.result(u+i, mask))
		}
		k.storePair(p, mask, nt, k.row(k.dst, k.at)(u))
	}
}

// result is vector u of it.
func (k *norm) result(u int, mask *mask) reg.Register {
	var x reg.Register
	weights := k.vector()
	switch {
	case k.add && k.again:
		x = k.sumOf(k.src, k.written, u, mask)
	case k.add:
		x = k.vector()
		k.getT(k.rowOfT(k.src, k.at)(u), mask, x)
	default:
		x = k.vector()
		k.get(k.row(k.src, k.at)(u), mask, x)
	}
	k.getT(k.rowOfT(k.gamma, k.at)(u), mask, weights)
	if k.layer {
		k.op("VSUB", k.mean, x, x)
	}
	k.op("VMUL", k.scale, x, x)
	if !k.layer {
		k.op("VMUL", weights, x, x)
		return x
	}
	summands := k.vector()
	k.getT(k.rowOfT(k.beta, k.at)(u), mask, summands)
	k.op("VFMADD213", summands, weights, x)
	return x
}
