package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

const scaleSignature = "func(dst, src *uint16, ldd, lds, m, n int, a float32)"

// scaleBF16 writes dst[i*ldd+j] = a src[i*lds+j]. Neighbours become fp32 by themselves and
// go back as those of a sum do.
func scaleBF16(c *build.Context) {
	x := newHalves(c, "scaleBF16", scaleSignature)
	dst, src, ldd, lds, a := x.load("dst"), x.load("src"), x.load("ldd"), x.load("lds"), x.spread("a")
	odd, below, one, upper := x.constant(1<<16), x.constant(1<<15-1), x.constant(1), x.constant(0xffff<<16)
	rounded := func(v reg.VecVirtual) {
		isOdd := x.K()
		x.VMULPS(a, v, v)
		x.VPTESTMD(odd, v, isOdd)
		x.VPADDD(below, v, v)
		x.VPADDD(one, v, isOdd, v)
	}
	x.walk(4, func(count int, mask reg.Register) {
		for u := range count {
			lo, hi := x.getHalves(x.of(src, 2, u), mask), x.ZMM()
			x.VPANDD(upper, lo, hi)
			x.VPSLLD(Imm(16), lo, lo)
			rounded(hi)
			rounded(lo)
			const merge = 0xf8 // lo | hi & upper
			x.VPSRLD(Imm(16), lo, lo)
			x.VPTERNLOGD(Imm(merge), upper, hi, lo)
			x.putHalves(lo, mask, x.of(dst, 2, u))
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
