package main

import (
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
)

func (g *gen) symbol(name string) operand.Symbol {
	return operand.NewStaticSymbol("vec" + name + g.name + g.isa.Name)
}

// room is what a constant takes in their table: AVX2 has no embedded broadcast and reads whole vectors.
func (g *gen) room(bits []uint64) int {
	if g.wide() {
		return len(bits) * g.size
	}
	return g.isa.Bytes
}

// mem is the address of a constant.
func (g *gen) mem(k konst) operand.Mem { return g.lanesMem(uint64(k)) }

// lanesMem is the address of a constant, or of a vector of one for each lane. It enters the table at its
// first use.
func (g *gen) lanesMem(bits ...uint64) operand.Mem {
	at := 0
	for _, other := range g.table {
		if slices.Equal(other, bits) {
			return operand.NewDataAddr(g.symbol("Const"), at)
		}
		at += g.room(other)
	}
	g.table = append(g.table, bits)
	return operand.NewDataAddr(g.symbol("Const"), at)
}

// constants writes the tables after the functions that use them.
func (g *gen) constants() {
	g.StaticGlobal(g.symbol("Const").Name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	at := 0
	for _, bits := range g.table {
		for off := 0; off < g.room(bits); off += g.size {
			k := bits[off/g.size%len(bits)]
			if g.size == 4 {
				g.AddDatum(at+off, operand.U32(k))
			} else {
				g.AddDatum(at+off, operand.U64(k))
			}
		}
		at += g.room(bits)
	}
	if g.wide() {
		return
	}
	g.StaticGlobal(g.symbol("Mask").Name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for off := 0; off < 2*g.isa.Bytes; off += 8 {
		bits := ^uint64(0)
		if off >= g.isa.Bytes {
			bits = 0
		}
		g.AddDatum(off, operand.U64(bits))
	}
}
