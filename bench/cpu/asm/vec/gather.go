package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// gathered are rows of a table that lie anywhere, so that the hardware predicts nothing. They are fetched
// simd.FarDistance ahead, as if one lay behind the other: a row ahead is a whole number of pages where rows are, see
// there, and too near where they are short.
type gathered struct {
	*gen
	src, table, lds reg.GPVirtual
	index           reg.GPVirtual // of the row behind that which is copied
	ahead           reg.GPVirtual // what is fetched
	left            reg.GPVirtual // bytes of its row from there on
	aheadIndex      reg.GPVirtual // of its row
	following       reg.GPVirtual // the known rows behind that
}

// newGathered goes to where fetching begins.
func (g *gen) newGathered(src, lds reg.GPVirtual) *gathered {
	r := &gathered{
		gen: g, src: src, table: g.GP64(), lds: lds, index: g.load("index"),
		ahead: g.GP64(), left: g.GP64(), aheadIndex: g.GP64(), following: g.load("known"),
	}
	g.MOVQ(src, r.table)
	g.bytes(lds)
	g.MOVQ(r.index, r.aheadIndex)
	g.DECQ(r.following)
	r.find(r.aheadIndex, r.ahead)
	g.ADDQ(operand.I32(simd.FarDistance), r.ahead)
	r.rowBytes(r.left)
	g.SUBQ(operand.I32(simd.FarDistance), r.left)
	r.settle("begin")
	return r
}

func (r *gathered) rowBytes(to reg.GPVirtual) {
	r.Load(r.Param("n"), to)
	r.bytes(to)
}

// settle goes on to the row, of those that are known, which is to be fetched when nothing is left of one, or less. The
// last one is fetched again and again. The flags tell whether something is left.
func (r *gathered) settle(name string) {
	r.JG(operand.LabelRef(name + "left"))
	whole := r.GP64()
	r.rowBytes(whole)
	r.Label(name + "next")
	r.TESTQ(r.following, r.following)
	r.JZ(operand.LabelRef(name + "last"))
	r.DECQ(r.following)
	r.ADDQ(operand.U8(4), r.aheadIndex)
	r.Label(name + "last")
	r.find(r.aheadIndex, r.ahead)
	r.SUBQ(r.left, r.ahead)
	r.ADDQ(whole, r.left)
	r.JLE(operand.LabelRef(name + "next"))
	r.Label(name + "left")
}

// find points to the row of an index.
func (r *gathered) find(index, row reg.GPVirtual) {
	r.MOVLQSX(operand.Mem{Base: index}, row)
	r.IMULQ(r.lds, row)
	r.ADDQ(r.table, row)
}

// turn finds the next row to copy.
func (r *gathered) turn() {
	r.find(r.index, r.src)
	r.ADDQ(operand.U8(4), r.index)
}

// fetch fetches a vector: into L2 if it comes from memory.
func (r *gathered) fetch(at int, nt bool) {
	m := operand.Mem{Base: r.ahead, Disp: at}
	if nt {
		r.fetchFar(m)
	} else {
		r.PREFETCHT0(m)
	}
}

// advance goes on behind some bytes that were fetched.
func (r *gathered) advance(loop string, bytes operand.Op) {
	r.ADDQ(bytes, r.ahead)
	r.SUBQ(bytes, r.left)
	r.settle(loop + "ahead")
}
