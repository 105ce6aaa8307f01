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
// which memory has them.
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
		g.storeRows("", g.transposed(g.rowsOf(from, below, lds, lanes)), to, ldd, nt, lanes)
		return
	}
	for _, half := range []string{"L", "H"} {
		pairs := g.pairsOfRows("VPUNPCK"+half+"WD", from, below, lds, lanes/2)
		first := g.GP64()
		g.MOVQ(to, first)
		if half == "H" {
			g.LEAQ(operand.Mem{Base: to, Index: ldd, Scale: halfRun}, first)
		}
		g.storeRows(half, g.transposed(pairs), first, ldd, nt, halfRun)
	}
}

// rowsOf loads so many rows.
func (g *gen) rowsOf(from, below, lds reg.GPVirtual, count int) []reg.VecVirtual {
	rows := make([]reg.VecVirtual, count)
	g.MOVQ(from, below)
	for i := range rows {
		rows[i] = g.vector()
		g.op("VMOVU", operand.Mem{Base: below}, rows[i])
		g.ADDQ(lds, below)
	}
	return rows
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

// transposed are the columns of a square. First those of 16 bytes by 4 or 2 rows, in each
// part of 16 bytes of the vectors; then the parts change places as elements of a square
// of 2 or 4 parts.
func (g *gen) transposed(v []reg.VecVirtual) []reg.VecVirtual {
	each := 16 / g.size // elements of a part, rows of a small square
	pair := func(mnemonic string, a, b reg.VecVirtual) (low, high reg.VecVirtual) {
		low, high = g.vector(), g.vector()
		g.emit("VUNPCKL"+mnemonic, b, a, low)
		g.emit("VUNPCKH"+mnemonic, b, a, high)
		return low, high
	}
	small := make([]reg.VecVirtual, len(v))
	for i := 0; i < len(v); i += each {
		if g.size == 8 {
			small[i], small[i+1] = pair("PD", v[i], v[i+1])
			continue
		}
		a, b := pair("PS", v[i], v[i+1])
		c, d := pair("PS", v[i+2], v[i+3])
		small[i], small[i+1] = pair("PD", a, c)
		small[i+2], small[i+3] = pair("PD", b, d)
	}
	// small[i+k] has column p*each + k of the rows i... in part p.
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
		// Parts 0 and 2, or 1 and 3, of two vectors; and again.
		pick := func(parts int, a, b reg.VecVirtual) reg.VecVirtual {
			x := g.vector()
			g.VSHUFF64X2(operand.U8(parts), b, a, x)
			return x
		}
		const even, odd = 0b10_00_10_00, 0b11_01_11_01
		e0, e1 := pick(even, small[k], small[each+k]), pick(even, small[2*each+k], small[3*each+k])
		o0, o1 := pick(odd, small[k], small[each+k]), pick(odd, small[2*each+k], small[3*each+k])
		out[k], out[2*each+k] = pick(even, e0, e1), pick(odd, e0, e1)
		out[each+k], out[3*each+k] = pick(even, o0, o1), pick(odd, o0, o1)
	}
	return out
}
