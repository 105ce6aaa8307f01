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

// widerBF16 splits 32 numbers into those of the upper and of the lower halves, which
// become fp32 by themselves: the one by clearing the lower half, the other by a shift.
type widerBF16 struct {
	*matrix
	odd, below, one, upper reg.VecVirtual
}

func newWiderBF16(x *matrix) widerBF16 {
	return widerBF16{x, x.constant(1 << 16), x.constant(1<<15 - 1), x.constant(1), x.constant(0xffff << 16)}
}

func (x widerBF16) split(v reg.VecVirtual) (hi, lo reg.VecVirtual) {
	hi, lo = x.ZMM(), x.ZMM()
	x.VPANDD(x.upper, v, hi)
	x.VPSLLD(Imm(16), v, lo)
	return hi, lo
}

// join rounds both and puts them together again. Rounding is that of roundBF16, but for
// NaN, of which the lower half must be zero, as that of its operands is: it carries
// nothing.
func (x widerBF16) join(hi, lo reg.VecVirtual) reg.VecVirtual {
	for _, v := range []reg.VecVirtual{hi, lo} {
		isOdd := x.K()
		x.VPTESTMD(x.odd, v, isOdd)
		x.VPADDD(x.below, v, v)
		x.VPADDD(x.one, v, isOdd, v)
	}
	const merge = 0xf8 // lo | hi & upper
	x.VPSRLD(Imm(16), lo, lo)
	x.VPTERNLOGD(Imm(merge), x.upper, hi, lo)
	return lo
}

// operation on vectors of fp32, by its name.
type operation struct {
	name    string
	combine func(x *matrix, a, b, to reg.VecVirtual) // to = b op a
}

// operations on two matrices.
var operations = []operation{
	{"add", func(x *matrix, a, b, to reg.VecVirtual) { x.VADDPS(a, b, to) }},
	{"sub", func(x *matrix, a, b, to reg.VecVirtual) { x.VSUBPS(a, b, to) }},
	{"mul", func(x *matrix, a, b, to reg.VecVirtual) { x.VMULPS(a, b, to) }},
	{"div", func(x *matrix, a, b, to reg.VecVirtual) { x.VDIVPS(a, b, to) }},
}

const operationSignature = "func(dst, src, y *uint16, ldd, lds, ldy, m, n int)"

// bf16 writes dst[i*ldd+j] = src[i*lds+j] op y[i*ldy+j].
func (op operation) bf16(c *build.Context) {
	x := newHalves(c, op.name+"BF16", operationSignature)
	dst, src, y := x.load("dst"), x.load("src"), x.load("y")
	ldd, lds, ldy := x.load("ldd"), x.load("lds"), x.load("ldy")
	wider := newWiderBF16(x)
	x.walk(2, func(count int, mask reg.Register) {
		for u := range count {
			hi, lo := wider.split(x.getHalves(x.of(src, 2, u), mask))
			yHi, yLo := wider.split(x.getHalves(x.of(y, 2, u), mask))
			op.combine(x, yHi, hi, hi)
			op.combine(x, yLo, lo, lo)
			x.putHalves(wider.join(hi, lo), mask, x.of(dst, 2, u))
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

const affineSignature = "func(dst, src *uint16, a, b *float32, ldd, lds, m, n int)"

// affineBF16 writes dst[i*ldd+j] = a[i] src[i*lds+j] + b[i].
func affineBF16(c *build.Context) {
	x := newHalves(c, "affineBF16", affineSignature)
	dst, src, a, b := x.load("dst"), x.load("src"), x.load("a"), x.load("b")
	ldd, lds := x.load("ldd"), x.load("lds")
	wider := newWiderBF16(x)
	x.walk(2, func(count int, mask reg.Register) {
		for u := range count {
			hi, lo := wider.split(x.getHalves(x.of(src, 2, u), mask))
			x.affine(a, b, hi, lo)
			x.putHalves(wider.join(hi, lo), mask, x.of(dst, 2, u))
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 2}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 2}, src)
		x.nextMet(rows, a)
		x.nextMet(rows, b)
	})
}

// affineFP16 does the same in fp16.
func affineFP16(c *build.Context) {
	x := newMatrix(c, simd.AVX512, "affineFP16", affineSignature, Mem{})
	dst, src, a, b := x.load("dst"), x.load("src"), x.load("a"), x.load("b")
	ldd, lds := x.load("ldd"), x.load("lds")
	x.walk(4, func(count int, mask reg.Register) {
		for u := range count {
			v := x.ZMM()
			widenFP16(x, x.of(src, 2, u), mask, v)
			x.affine(a, b, v)
			x.putFP16(v, mask, x.of(dst, 2, u))
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 2}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 2}, src)
		x.nextMet(rows, a)
		x.nextMet(rows, b)
	})
}

// affine multiplies vectors of fp32 by the number at a and adds that at b.
func (x *matrix) affine(a, b reg.Register, vs ...reg.VecVirtual) {
	factor, summand := x.meet(rows, a, 0, nil), x.meet(rows, b, 0, nil)
	for _, v := range vs {
		x.VFMADD213PS(summand, factor, v)
	}
}

const scaleSignature = "func(dst, src *uint16, ldd, lds, m, n int, a float32)"

// scaleBF16 writes dst[i*ldd+j] = a src[i*lds+j].
func scaleBF16(c *build.Context) {
	x := newHalves(c, "scaleBF16", scaleSignature)
	dst, src, ldd, lds, a := x.load("dst"), x.load("src"), x.load("ldd"), x.load("lds"), x.spread("a")
	wider := newWiderBF16(x)
	x.walk(4, func(count int, mask reg.Register) {
		for u := range count {
			hi, lo := wider.split(x.getHalves(x.of(src, 2, u), mask))
			x.VMULPS(a, hi, hi)
			x.VMULPS(a, lo, lo)
			x.putHalves(wider.join(hi, lo), mask, x.of(dst, 2, u))
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 2}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 2}, src)
	})
}

// scaleFP16 does the same in fp16.
func scaleFP16(c *build.Context) {
	x := newMatrix(c, simd.AVX512, "scaleFP16", scaleSignature, Mem{})
	dst, src, ldd, lds, a := x.load("dst"), x.load("src"), x.load("ldd"), x.load("lds"), x.spread("a")
	x.walk(4, func(count int, mask reg.Register) {
		for u := range count {
			v := x.ZMM()
			widenFP16(x, x.of(src, 2, u), mask, v)
			x.VMULPS(a, v, v)
			x.putFP16(v, mask, x.of(dst, 2, u))
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 2}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 2}, src)
	})
}
