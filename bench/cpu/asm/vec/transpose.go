package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transposeFetch is the number of bytes of a row that are fetched in one go: transposeRead of
// bindTranspose.
const transposeFetch = 1024

// transpose writes dst[j*ldd+i] = src[i*lds+j] for i < m and j < n, both multiples of the
// number of lanes: squares of as many vectors as a vector has lanes. The rows of dst are
// written from left to right, so that stores past the caches fill lines.
//
// A square has a line of each of its rows, which lie too far apart for the hardware to look
// ahead. So with each square as many lines of the block at next are fetched, in the order in
// which memory has them; of what is in L2 already next is nil.
func (g *gen) transpose() {
	g.transposition("Transpose", "T", g.size)
	if g.size == 4 {
		g.transposition("TransposeHalves", "uint16", 2)
	}
}

// transposition is that of elements of so many bytes. Halves are transposed in pairs, of elements of two rows that are
// next to each other in a row of dst: half of the columns of a square, and then the others.
func (g *gen) transposition(name, element string, bytes int) {
	g.begin(name, "func(dst, src, next *"+element+", ldd, lds, m, n int, nt uint8)")
	lanes := g.isa.Bytes / bytes
	dst, src, next, ldd, lds := g.load("dst"), g.load("src"), g.load("next"), g.load("ldd"), g.load("lds")
	for _, stride := range []reg.GPVirtual{ldd, lds} {
		g.SHLQ(log2(bytes), stride)
	}
	nt := g.GP64()
	g.MOVBQZX(g.argument("nt"), nt)
	fetched := g.GP64()
	g.XORQ(fetched, fetched)
	g.Label("columns")
	to, from, left := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(dst, to)
	g.MOVQ(src, from)
	g.Load(g.Param("m"), left)
	g.Label("square")
	g.TESTQ(next, next)
	g.JE(operand.LabelRef("fetched"))
	for line := 0; line < lanes*g.isa.Bytes; line += 64 {
		g.fetchFar(operand.Mem{Base: next, Index: fetched, Scale: 1, Disp: line})
	}
	g.ADDQ(operand.I32(lanes*g.isa.Bytes), fetched)
	g.CMPQ(fetched, operand.I32(transposeFetch))
	g.JLT(operand.LabelRef("fetched"))
	g.XORQ(fetched, fetched)
	g.ADDQ(lds, next)
	g.Label("fetched")
	below := g.GP64()
	g.square(bytes, to, from, below, ldd, lds, nt)
	g.MOVQ(below, from) // the next square below
	g.ADDQ(operand.I32(g.isa.Bytes), to)
	g.SUBQ(operand.I32(lanes), left)
	g.JNZ(operand.LabelRef("square"))
	g.ADDQ(operand.I32(g.isa.Bytes), src)
	down := g.GP64()
	g.MOVQ(ldd, down)
	g.SHLQ(log2(lanes), down)
	g.ADDQ(down, dst)
	g.SUBQ(operand.I32(lanes), g.argument("n"))
	g.JNZ(operand.LabelRef("columns"))
	g.end()
}

// square transposes one, at from, and finds what is below it.
func (g *gen) square(bytes int, to, from, below, ldd, lds, nt reg.GPVirtual) {
	lanes := g.isa.Bytes / bytes
	if bytes == g.size {
		left, right := g.halvesOfRows(from, below, lds, lanes)
		g.storeRows("", append(g.columnsOfHalves(left), g.columnsOfHalves(right)...), to, ldd, nt, lanes)
		return
	}
	for _, half := range []string{"L", "H"} {
		pairs := g.pairsOfRows("VPUNPCK"+half+"WD", from, below, lds, lanes/2)
		first := g.GP64()
		g.MOVQ(to, first)
		if half == "H" {
			g.LEAQ(operand.Mem{Base: to, Index: ldd, Scale: halfRun}, first)
		}
		g.storeRows(half, g.columnsOf(pairs), first, ldd, nt, halfRun)
	}
}

// part is the number of elements of 16 bytes, which is what most instructions that change places keep to.
func (g *gen) part() int { return 16 / g.size }

// halvesOfRows loads the left and the right halves of so many rows, two to a vector: that of a row, and that of the row
// `part` rows below. Loads put them there, which else takes one in four of the instructions that change places.
func (g *gen) halvesOfRows(from, below, lds reg.GPVirtual, count int) (left, right []reg.VecVirtual) {
	load := func(disp int) reg.VecVirtual {
		v, first := g.vector(), operand.Mem{Base: below, Disp: disp}
		second := operand.Mem{Base: below, Index: lds, Scale: uint8(g.part()), Disp: disp}
		if g.wide() {
			g.VBROADCASTF64X4(first, v) // to both halves: to avo, a load to one leaves what the other had before
			g.VINSERTF64X4(operand.U8(1), second, v, v)
		} else {
			g.VBROADCASTF128(first, v)
			g.VINSERTF128(operand.U8(1), second, v, v)
		}
		return v
	}
	g.MOVQ(from, below)
	for i := 0; i < count; i += 2 * g.part() {
		for range g.part() {
			left, right = append(left, load(0)), append(right, load(g.isa.Bytes/2))
			g.ADDQ(lds, below)
		}
		g.LEAQ(operand.Mem{Base: below, Index: lds, Scale: uint8(g.part())}, below)
	}
	return left, right
}

// halfRun is the number of columns of halves that one instruction takes together, of 16 bytes of two rows.
const halfRun = 4

// pairsOfRows loads so many vectors of pairs, of an element of a row and that of the next.
func (g *gen) pairsOfRows(mnemonic string, from, below, lds reg.GPVirtual, count int) []reg.VecVirtual {
	pairs := make([]reg.VecVirtual, count)
	g.MOVQ(from, below)
	for i := range pairs {
		pairs[i] = g.vector()
		g.op("VMOVU", operand.Mem{Base: below}, pairs[i])
		g.emit(mnemonic, operand.Mem{Base: below, Index: lds, Scale: 1}, pairs[i], pairs[i])
		g.LEAQ(operand.Mem{Base: below, Index: lds, Scale: 2}, below)
	}
	return pairs
}

// storeRows stores rows from the first on, of which every `run` are followed by as many that are not stored.
func (g *gen) storeRows(name string, rows []reg.VecVirtual, first, ldd, nt reg.GPVirtual, run int) {
	store := func(mnemonic string) {
		at := g.GP64()
		g.MOVQ(first, at)
		for i := range rows {
			g.op(mnemonic, rows[i], operand.Mem{Base: at})
			if i+1 == len(rows) {
				break
			}
			if g.ADDQ(ldd, at); (i+1)%run == 0 {
				g.LEAQ(operand.Mem{Base: at, Index: ldd, Scale: halfRun}, at)
			}
		}
	}
	g.TESTQ(nt, nt)
	g.JNE(operand.LabelRef(name + "nt"))
	store("VMOVU")
	g.JMP(operand.LabelRef(name + "stored"))
	g.Label(name + "nt")
	store("VMOVNT")
	g.Label(name + "stored")
}

// columnsOfParts transposes, in each part of 16 bytes of the vectors, squares of as many rows: vector i+k has column k of
// those of the rows from i on.
func (g *gen) columnsOfParts(v []reg.VecVirtual) []reg.VecVirtual {
	pair := func(mnemonic string, a, b reg.VecVirtual) (low, high reg.VecVirtual) {
		low, high = g.vector(), g.vector()
		g.emit("VUNPCKL"+mnemonic, b, a, low)
		g.emit("VUNPCKH"+mnemonic, b, a, high)
		return low, high
	}
	small := make([]reg.VecVirtual, len(v))
	for i := 0; i < len(v); i += g.part() {
		if g.size == 8 {
			small[i], small[i+1] = pair("PD", v[i], v[i+1])
			continue
		}
		a, b := pair("PS", v[i], v[i+1])
		c, d := pair("PS", v[i+2], v[i+3])
		small[i], small[i+1] = pair("PD", a, c)
		small[i+2], small[i+3] = pair("PD", b, d)
	}
	return small
}

// even and odd are parts 0 and 2, and 1 and 3, of a vector of AVX-512 and then of another.
func (g *gen) even(a, b reg.VecVirtual) reg.VecVirtual { return g.pickParts(0b10_00_10_00, a, b) }
func (g *gen) odd(a, b reg.VecVirtual) reg.VecVirtual  { return g.pickParts(0b11_01_11_01, a, b) }

func (g *gen) pickParts(parts int, a, b reg.VecVirtual) reg.VecVirtual {
	x := g.vector()
	g.VSHUFF64X2(operand.U8(parts), b, a, x)
	return x
}

// columnsOfHalves are the columns of the left or the right halves of the rows of a square.
func (g *gen) columnsOfHalves(v []reg.VecVirtual) []reg.VecVirtual {
	small := g.columnsOfParts(v)
	if !g.wide() {
		return small
	}
	out := make([]reg.VecVirtual, len(v))
	for k := range g.part() {
		a, b := small[k], small[g.part()+k]
		out[k], out[g.part()+k] = g.even(a, b), g.odd(a, b)
	}
	return out
}

// columnsOf are the columns of a square of whole rows.
func (g *gen) columnsOf(v []reg.VecVirtual) []reg.VecVirtual {
	small, each := g.columnsOfParts(v), g.part()
	out := make([]reg.VecVirtual, len(v))
	for k := range each {
		if !g.wide() {
			a, b := small[k], small[each+k]
			low, high := g.vector(), g.vector()
			g.VPERM2F128(operand.U8(0x20), b, a, low)
			g.VPERM2F128(operand.U8(0x31), b, a, high)
			out[k], out[each+k] = low, high
			continue
		}
		e0, e1 := g.even(small[k], small[each+k]), g.even(small[2*each+k], small[3*each+k])
		o0, o1 := g.odd(small[k], small[each+k]), g.odd(small[2*each+k], small[3*each+k])
		out[k], out[2*each+k] = g.even(e0, e1), g.odd(e0, e1)
		out[each+k], out[3*each+k] = g.even(o0, o1), g.odd(o0, o1)
	}
	return out
}
