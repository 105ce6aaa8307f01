package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mask selects the lanes of a vector that lie within a row. A nil mask selects
// all. AVX-512 has it in an opmask register, AVX2 in the sign bits of a vector;
// both suppress the faults of the lanes left out.
type mask struct{ reg reg.Register }

// mask selects the first n lanes, 0 < n < lanes.
func (g *gen) mask(n reg.GPVirtual) *mask {
	if g.wide() {
		k, bits := g.K(), g.GP64()
		g.MOVQ(n, reg.RCX)
		g.MOVQ(operand.U32(1), bits)
		g.SHLQ(reg.CL, bits)
		g.DECQ(bits)
		g.KMOVW(bits.As32(), k)
		return &mask{k}
	}
	v := g.YMM()
	g.firstLanes(n, v)
	return &mask{v}
}

// firstLanes makes v the mask of AVX2 of the first n lanes, 0 <= n <= lanes. The table holds a vector of ones
// and one of zeros: a load n elements before their border gives n lanes of ones.
func (g *gen) firstLanes(n reg.GPVirtual, v reg.Register) {
	base, at := g.GP64(), g.GP64()
	g.LEAQ(operand.NewDataAddr(g.symbol("Mask"), g.isa.Bytes), base)
	g.MOVQ(n, at)
	g.bytes(at)
	g.SUBQ(at, base)
	g.VMOVUPS(operand.Mem{Base: base}, v)
}

// maskRegister is a new register for a mask.
func (g *gen) maskRegister() reg.Register {
	if g.wide() {
		return g.K()
	}
	return g.vector()
}

// get loads a vector from memory; the lanes left out are 0.
func (g *gen) get(m operand.Mem, k *mask, v reg.Register) {
	switch g.name {
	case bf16s.name: // the upper half of fp32
		g.getHalves("VPMOVZXWD", m, k, v)
		g.emit("VPSLLD", immediate(16), v, v)
	case fp16s.name:
		g.getHalves("VCVTPH2PS", m, k, v)
	default:
		g.getT(m, k, v)
	}
}

func (g *gen) getHalves(convert string, m operand.Mem, k *mask, v reg.Register) {
	if k == nil {
		g.emit(convert, m, v)
	} else {
		g.emit(convert+"_Z", m, k.reg, v)
	}
}

// getT loads one of what is computed in.
func (g *gen) getT(m operand.Mem, k *mask, v reg.Register) {
	switch {
	case k == nil:
		g.op("VMOVU", m, v)
	case g.wide():
		g.emit("VMOVUP"+g.mnemonic+"_Z", m, k.reg, v)
	default:
		g.op("VMASKMOV", m, k.reg, v)
	}
}

// loaded is a vector of memory as an operand: itself, if instructions can compute with it.
func (g *gen) loaded(m operand.Mem) operand.Op {
	if !g.half() {
		return m
	}
	v := g.vector()
	g.get(m, nil, v)
	return v
}

// put stores a vector: one of halves rounded to nearest, ties to even. bf16 takes what is below the normal numbers
// for 0.
func (g *gen) put(v reg.Register, k *mask, m operand.Mem) { g.store(v, k, false, m) }

// store is put, or a store past the caches.
func (g *gen) store(v reg.Register, k *mask, nt bool, m operand.Mem) {
	if g.half() {
		g.storeHalves(v, k, nt, m)
		return
	}
	if nt {
		g.op("VMOVNT", v, m)
		return
	}
	g.putT(v, k, m)
}

func (g *gen) storeHalves(v reg.Register, k *mask, nt bool, m operand.Mem) {
	half := g.YMM()
	if g.name == bf16s.name {
		g.emit("VCVTNEPS2BF16", v, half)
	} else {
		const nearest = 0
		g.emit("VCVTPS2PH", immediate(nearest), v, half)
	}
	switch {
	case nt:
		g.emit("VMOVNTDQ", half, m)
	case k == nil:
		g.emit("VMOVDQU16", half, m)
	default:
		g.emit("VMOVDQU16", half, k.reg, m)
	}
}

// putT stores one of what is computed in.
func (g *gen) putT(v reg.Register, k *mask, m operand.Mem) {
	switch {
	case k == nil:
		g.op("VMOVU", v, m)
	case g.wide():
		g.op("VMOVU", v, k.reg, m)
	default:
		g.op("VMASKMOV", v, k.reg, m)
	}
}

// only replaces the lanes left out by those of other.
func (g *gen) only(k *mask, other, v reg.Register) {
	switch {
	case k == nil:
	case g.wide():
		g.op("VBLENDM", v, other, k.reg, v)
	default:
		g.op("VBLENDV", k.reg, v, other, v)
	}
}
