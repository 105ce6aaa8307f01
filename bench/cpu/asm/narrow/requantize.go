package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// sums writes what is done to int32 sums.
func sums(c *build.Context, isa simd.ISA) {
	var numbers, turns Mem
	if isa.Bytes == 64 {
		turns = order(c, "turns", func(add func(Constant, int)) {
			for i := range uint32(16) {
				add(U32(i%4*4+i/4), 4)
			}
		})
	} else {
		numbers = laneNumbers(c)
	}
	for _, along := range []axis{columns, rows} {
		addFloor(c, isa, along, numbers)
		requantize(c, isa, along, numbers, turns)
	}
}

// axis is that along which a matrix meets a vector: element j for column j, or element i
// for row i.
type axis string

const (
	columns axis = ""
	rows    axis = "Rows"
)

// meet gets of the vector what vector u of the matrix meets.
func (x *matrix) meet(along axis, base reg.Register, u int, mask reg.Register) reg.VecVirtual {
	if along == columns {
		return x.get(x.of(base, 4, u), mask)
	}
	v := x.vector()
	x.VPBROADCASTD(Mem{Base: base}, v)
	return v
}

// nextMet moves the vector on to the next row.
func (x *matrix) nextMet(along axis, base reg.GPVirtual) {
	if along == rows {
		x.ADDQ(Imm(4), base)
	}
}

// addFloor writes dst[i*ldd+j] = max(src[i*lds+j] + row[j], floor), in int32; with row[i]
// if along rows.
func addFloor(c *build.Context, isa simd.ISA, along axis, numbers Mem) {
	x := newMatrix(c, isa, "addFloor"+string(along), "func(dst, src, row *int32, ldd, lds, m, n int, floor int32)", numbers)
	dst, src, row, ldd, lds := x.load("dst"), x.load("src"), x.load("row"), x.load("ldd"), x.load("lds")
	floor := x.spread("floor")
	x.walk(4, func(count int, mask reg.Register) {
		for u := range count {
			v := x.get(x.of(src, 4, u), mask)
			if mask == nil && along == columns {
				x.VPADDD(x.of(row, 4, u), v, v)
			} else {
				x.VPADDD(x.meet(along, row, u, mask), v, v)
			}
			x.VPMAXSD(floor, v, v)
			x.put(v, mask, x.of(dst, 4, u))
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 4}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 4}, src)
		x.nextMet(along, row)
	})
}

// requantize writes dst[i*ldd+j] = (src[i*lds+j] + row[j]) * factors[j], rounded to
// nearest, ties to even, and limited to floor and 127 before, as that is the same. With
// AVX-512 four vectors become one: packing works within 16 bytes, where each has four
// in turn. Along rows it is row[i] and factors[i].
func requantize(c *build.Context, isa simd.ISA, along axis, numbers, turns Mem) {
	x := newMatrix(c, isa, "requantize"+string(along), "func(dst *int8, src, row *int32, factors *float32, ldd, lds, m, n int, floor float32)", numbers)
	dst, src, row, factors := x.load("dst"), x.load("src"), x.load("row"), x.load("factors")
	ldd, lds := x.load("ldd"), x.load("lds")
	floor, ceiling := x.spread("floor"), x.constant(0x42fe0000) // 127
	var inTurn reg.VecVirtual
	if isa.Bytes == 64 {
		inTurn = x.ZMM()
		x.VMOVDQU64(turns, inTurn)
	}
	x.walk(4, func(count int, mask reg.Register) {
		var vs []reg.VecVirtual
		for u := range count {
			v := x.get(x.of(src, 4, u), mask)
			x.VPADDD(x.meet(along, row, u, mask), v, v)
			x.VCVTDQ2PS(v, v)
			x.VMULPS(x.meet(along, factors, u, mask), v, v)
			x.VMINPS(ceiling, v, v)
			x.VMAXPS(floor, v, v)
			x.VCVTPS2DQ(v, v)
			vs = append(vs, v)
		}
		if count == 4 && isa.Bytes == 64 {
			x.VPACKSSDW(vs[1], vs[0], vs[0])
			x.VPACKSSDW(vs[3], vs[2], vs[2])
			x.VPACKSSWB(vs[2], vs[0], vs[0])
			x.VPERMD(vs[0], inTurn, vs[0])
			x.VMOVDQU64(vs[0], x.of(dst, 1, 0))
			return
		}
		for u, v := range vs {
			x.putBytes(v, mask, x.of(dst, 1, u))
		}
	}, func() {
		x.ADDQ(ldd, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 4}, src)
		x.nextMet(along, row)
		x.nextMet(along, factors)
	})
}

// putBytes stores the lowest byte of each lane, which holds all of it.
func (x *matrix) putBytes(v reg.VecVirtual, mask reg.Register, to Mem) {
	if x.isa.Bytes == 64 {
		if mask == nil {
			x.VPMOVDB(v, to)
		} else {
			x.VPMOVDB(v, mask, to)
		}
		return
	}
	high := x.XMM()
	x.VEXTRACTI128(Imm(1), v, high)
	x.VPACKSSDW(high, v.AsX(), high)
	x.VPACKSSWB(high, high, high)
	if mask == nil {
		x.VMOVQ(high, to)
		return
	}
	bytes, at := x.GP64(), x.GP64()
	x.VMOVQ(high, bytes)
	x.LEAQ(to, at)
	x.Label("byte")
	x.MOVB(bytes.As8(), Mem{Base: at})
	x.SHRQ(Imm(8), bytes)
	x.INCQ(at)
	x.DECQ(x.left)
	x.JNZ(LabelRef("byte"))
}
