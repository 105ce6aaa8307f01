package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// The operations on numbers of 16 bits that are so short that memory is what they wait
// for: conversions by way of memory would cost more than they do.

func newHalves(c *build.Context, name, signature string) *matrix {
	x := newMatrix(c, simd.AVX512, name, signature, Mem{})
	x.lanes = 32
	return x
}

func (x *matrix) getHalves(from Mem, mask reg.Register) reg.VecVirtual {
	v := x.ZMM()
	if mask == nil {
		x.VMOVDQU16(from, v)
	} else {
		x.VMOVDQU16_Z(from, mask, v)
	}
	return v
}

func (x *matrix) putHalves(v reg.VecVirtual, mask reg.Register, to Mem) {
	if mask == nil {
		x.VMOVDQU16(v, to)
	} else {
		x.VMOVDQU16(v, mask, to)
	}
}

// reluHalf writes dst[i*ldd+j] = max(src[i*lds+j], 0), of numbers as of integers, which
// have their sign in the same place. What is beyond the negative infinity is NaN, and
// stays it.
func reluHalf(c *build.Context) {
	x := newHalves(c, "reluHalf", "func(dst, src *uint16, ldd, lds, m, n int, negativeInfinity uint16)")
	dst, src, ldd, lds := x.load("dst"), x.load("src"), x.load("ldd"), x.load("lds")
	zero, limit := x.constant(0), x.ZMM()
	x.VPBROADCASTW(param(c, "negativeInfinity"), limit)
	x.walk(4, func(count int, mask reg.Register) {
		for u := range count {
			const greater = 6
			v, r, isNaN := x.getHalves(x.of(src, 2, u), mask), x.ZMM(), x.K()
			x.VPMAXSW(zero, v, r)
			x.VPCMPUW(Imm(greater), limit, v, isNaN)
			x.VMOVDQU16(v, isNaN, r)
			x.putHalves(r, mask, x.of(dst, 2, u))
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 2}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 2}, src)
	})
}

// operation on vectors of fp32, by its name.
type operation struct {
	name    string
	combine func(x *matrix, a, b, to reg.VecVirtual)
}

// operations on two matrices.
var operations = []operation{
	{"add", func(x *matrix, a, b, to reg.VecVirtual) { x.VADDPS(a, b, to) }},
	{"mul", func(x *matrix, a, b, to reg.VecVirtual) { x.VMULPS(a, b, to) }},
}

const operationSignature = "func(dst, src, y *uint16, ldd, lds, ldy, m, n int)"

// bf16 writes dst[i*ldd+j] = src[i*lds+j] op y[i*ldy+j]. Neighbours become fp32 by
// themselves, the upper one by clearing the lower, the lower one by a shift, and so they
// go back. Rounding is that of roundBF16, but for NaN: the lower half of a result that is
// NaN is zero, as that of its operands is, and carries nothing.
func (op operation) bf16(c *build.Context) {
	x := newHalves(c, op.name+"BF16", operationSignature)
	dst, src, y := x.load("dst"), x.load("src"), x.load("y")
	ldd, lds, ldy := x.load("ldd"), x.load("lds"), x.load("ldy")
	odd, below, one, upper := x.constant(1<<16), x.constant(1<<15-1), x.constant(1), x.constant(0xffff<<16)
	split := func(v reg.VecVirtual) (hi, lo reg.VecVirtual) {
		hi, lo = x.ZMM(), x.ZMM()
		x.VPANDD(upper, v, hi)
		x.VPSLLD(Imm(16), v, lo)
		return hi, lo
	}
	rounded := func(a, b reg.VecVirtual) reg.VecVirtual {
		isOdd := x.K()
		op.combine(x, b, a, a)
		x.VPTESTMD(odd, a, isOdd)
		x.VPADDD(below, a, a)
		x.VPADDD(one, a, isOdd, a)
		return a
	}
	x.walk(2, func(count int, mask reg.Register) {
		for u := range count {
			xHi, xLo := split(x.getHalves(x.of(src, 2, u), mask))
			yHi, yLo := split(x.getHalves(x.of(y, 2, u), mask))
			hi, lo := rounded(xHi, yHi), rounded(xLo, yLo)
			const merge = 0xf8 // lo | hi & upper
			x.VPSRLD(Imm(16), lo, lo)
			x.VPTERNLOGD(Imm(merge), upper, hi, lo)
			x.putHalves(lo, mask, x.of(dst, 2, u))
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 2}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 2}, src)
		x.LEAQ(Mem{Base: y, Index: ldy, Scale: 2}, y)
	})
}

// fp16 does the same in fp16.
func (op operation) fp16(c *build.Context) {
	x := newMatrix(c, simd.AVX512, op.name+"FP16", operationSignature, Mem{})
	dst, src, y := x.load("dst"), x.load("src"), x.load("y")
	ldd, lds, ldy := x.load("ldd"), x.load("lds"), x.load("ldy")
	get := func(from Mem, mask reg.Register) reg.VecVirtual {
		v := x.ZMM()
		widenFP16(x, from, mask, v)
		return v
	}
	x.walk(4, func(count int, mask reg.Register) {
		for u := range count {
			v, w := get(x.of(src, 2, u), mask), get(x.of(y, 2, u), mask)
			op.combine(x, w, v, v)
			x.putFP16(v, mask, x.of(dst, 2, u))
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 2}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 2}, src)
		x.LEAQ(Mem{Base: y, Index: ldy, Scale: 2}, y)
	})
}
