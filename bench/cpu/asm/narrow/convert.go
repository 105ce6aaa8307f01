package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// conversions writes the functions between 16 bits and fp32. All units that compute in
// 16 bits have AVX-512.
func conversions(c *build.Context) {
	quarters := order(c, "quarters", func(add func(Constant, int)) {
		for i := range uint64(4) {
			add(U64(2*i), 8)
		}
		for i := range uint64(4) {
			add(U64(2*i+1), 8)
		}
	})
	widen(c, "BF16", widenBF16)
	widen(c, "FP16", widenFP16)
	const round = "func(dst *uint16, src *float32, ldd, lds, m, n int)"
	for _, e := range []ending{
		{name: "round", signature: round},
		{name: "roundAhead", signature: round, ahead: true},
		{name: "finish", signature: "func(dst *uint16, src, bias *float32, ldd, lds, m, n int, floor float32)", finishes: true},
	} {
		e.roundBF16(c, quarters)
		e.roundBF16AtOnce(c)
		e.roundFP16(c)
	}
}

func widenBF16(x *matrix, from Mem, mask reg.Register, to reg.VecVirtual) {
	if mask == nil {
		x.VPMOVZXWD(from, to)
	} else {
		x.VPMOVZXWD_Z(from, mask, to)
	}
	x.VPSLLD(Imm(16), to, to)
}

func widenFP16(x *matrix, from Mem, mask reg.Register, to reg.VecVirtual) {
	if mask == nil {
		x.VCVTPH2PS(from, to)
	} else {
		x.VCVTPH2PS_Z(from, mask, to)
	}
}

// putFP16 rounds to nearest, ties to even.
func (x *matrix) putFP16(v reg.VecVirtual, mask reg.Register, to Mem) {
	const nearest = 0
	if mask == nil {
		x.VCVTPS2PH(Imm(nearest), v, to)
	} else {
		x.VCVTPS2PH(Imm(nearest), v, mask, to)
	}
}

// widen writes dst[i*ldd+j] = src[i*lds+j]. It fetches as many elements behind: what is
// widened is worked on in L1 next, and meanwhile memory would have nothing to do.
func widen(c *build.Context, name string, convert func(x *matrix, from Mem, mask reg.Register, to reg.VecVirtual)) {
	x := newMatrix(c, simd.AVX512, "widen"+name, "func(dst *float32, src *uint16, ldd, lds, m, n int)", Mem{})
	dst, src, ldd, lds := x.load("dst"), x.load("src"), x.load("ldd"), x.load("lds")
	behind := x.load("n")
	x.LEAQ(Mem{Base: src, Index: behind, Scale: 2}, behind)
	x.walk(4, func(count int, mask reg.Register) {
		for u := range count {
			v := x.vector()
			convert(x, x.of(src, 2, u), mask, v)
			x.put(v, mask, x.of(dst, 4, u))
			if u%2 == 0 { // two vectors fill a line
				x.PREFETCHT0(x.of(behind, 2, u))
			}
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 4}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 2}, src)
		x.LEAQ(Mem{Base: behind, Index: lds, Scale: 2}, behind)
	})
}

// ending writes dst[i*ldd+j] = src[i*lds+j], rounded to nearest, ties to even; of
// max(src[i*lds+j] + bias[i], floor) if it finishes, and of NaN for NaN.
type ending struct {
	name, signature string
	finishes        bool
	ahead           bool // fetches as much behind each row of dst: what is stored there next
}

// floorOf is where the floor is, in a register by name; see roundBF16AtOnce.
var floorOf = reg.Z31

// behind is where dst goes on behind the n elements of a row.
func (e ending) behind(x *matrix, dst reg.GPVirtual) reg.GPVirtual {
	if !e.ahead {
		return nil
	}
	behind := x.load("n")
	x.LEAQ(Mem{Base: dst, Index: behind, Scale: 2}, behind)
	return behind
}

// fetch fetches there, once for each line of two vectors.
func (e ending) fetch(x *matrix, behind reg.GPVirtual, u int) {
	if e.ahead && u%2 == 0 {
		x.PREFETCHT0(x.of(behind, 2, u))
	}
}

// begin loads what it needs beside the matrices.
func (e ending) begin(x *matrix) (bias reg.GPVirtual) {
	if e.finishes {
		x.VBROADCASTSS(param(x.Context, "floor"), floorOf)
		bias = x.load("bias")
	}
	return bias
}

// apply does to a vector what comes before rounding.
func (e ending) apply(x *matrix, bias reg.GPVirtual, v reg.Register) {
	if e.finishes {
		x.VADDPS_BCST(Mem{Base: bias}, v, v)
		x.VMAXPS(v, floorOf, v) // of NaN and a number the one that comes first here
	}
}

// next moves on to the next row, of which dst is ldd elements further.
func (e ending) next(x *matrix, bias, behind, ldd reg.GPVirtual) {
	if e.finishes {
		x.ADDQ(Imm(4), bias)
	}
	if e.ahead {
		x.LEAQ(Mem{Base: behind, Index: ldd, Scale: 2}, behind)
	}
}

func (e ending) roundFP16(c *build.Context) {
	x := newMatrix(c, simd.AVX512, e.name+"FP16", e.signature, Mem{})
	dst, src, ldd, lds := x.load("dst"), x.load("src"), x.load("ldd"), x.load("lds")
	bias, behind := e.begin(x), e.behind(x, dst)
	x.walk(4, func(count int, mask reg.Register) {
		for u := range count {
			v := x.get(x.of(src, 4, u), mask)
			e.apply(x, bias, v)
			x.putFP16(v, mask, x.of(dst, 2, u))
			e.fetch(x, behind, u)
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 2}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 4}, src)
		e.next(x, bias, behind, ldd)
	})
}

// roundBF16 does the same for bf16, which is the upper half of fp32: what is added
// carries into it if the lower half is more than the middle, or is the middle and the
// upper one odd. NaN gets its quiet bit set instead, as a carry could make it a number.
func (e ending) roundBF16(c *build.Context, quarters Mem) {
	x := newMatrix(c, simd.AVX512, e.name+"BF16", e.signature, Mem{})
	dst, src, ldd, lds := x.load("dst"), x.load("src"), x.load("ldd"), x.load("lds")
	bias, behind := e.begin(x), e.behind(x, dst)
	odd, below, one, quiet := x.constant(1<<16), x.constant(1<<15-1), x.constant(1), x.constant(1<<22)
	// Packing works within 16 bytes: the quarters of both vectors come in turn.
	lanes := x.ZMM()
	x.VMOVDQU64(quarters, lanes)
	upper := func(from Mem, mask reg.Register) reg.VecVirtual {
		v, sum, isOdd, isNaN := x.get(from, mask), x.ZMM(), x.K(), x.K()
		const unordered = 3
		e.apply(x, bias, v)
		x.VPTESTMD(odd, v, isOdd)
		x.VCMPPS(Imm(unordered), v, v, isNaN)
		x.VPADDD(below, v, sum)
		x.VPADDD(one, sum, isOdd, sum)
		x.VPORD(quiet, v, isNaN, sum)
		x.VPSRLD(Imm(16), sum, sum)
		return sum
	}
	x.walk(2, func(count int, mask reg.Register) {
		e.fetch(x, behind, 0)
		if count == 1 {
			v := upper(x.of(src, 4, 0), mask)
			if mask == nil {
				x.VPMOVDW(v, x.of(dst, 2, 0))
			} else {
				x.VPMOVDW(v, mask, x.of(dst, 2, 0))
			}
			return
		}
		v, w := upper(x.of(src, 4, 0), nil), upper(x.of(src, 4, 1), nil)
		x.VPACKUSDW(w, v, v)
		x.VPERMQ(v, lanes, v)
		x.VMOVDQU64(v, x.of(dst, 2, 0))
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 2}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 4}, src)
		e.next(x, bias, behind, ldd)
	})
}

// roundBF16AtOnce has AVX512-BF16 do it, which takes what is below the normal numbers for
// 0.
func (e ending) roundBF16AtOnce(c *build.Context) {
	function(c, e.name+"BF16AVX512BF16", e.signature)
	x := &matrix{Context: c, isa: simd.AVX512, lanes: 16, at: c.GP64(), left: c.GP64()}
	dst, src, ldd, lds := x.load("dst"), x.load("src"), x.load("ldd"), x.load("lds")
	bias, behind := e.begin(x), e.behind(x, dst)
	// In registers by name, as only they can be encoded here.
	low, high, both := reg.Z0, reg.Z1, reg.Z2
	x.walk(2, func(count int, mask reg.Register) {
		e.fetch(x, behind, 0)
		switch {
		case count == 2:
			x.VMOVUPS(x.of(src, 4, 0), low)
			x.VMOVUPS(x.of(src, 4, 1), high)
			e.apply(x, bias, low)
			e.apply(x, bias, high)
			simd.Emit(c, "VCVTNE2PS2BF16", low, high, both)
			x.VMOVDQU16(both, x.of(dst, 2, 0))
		case mask == nil:
			x.VMOVUPS(x.of(src, 4, 0), low)
			e.apply(x, bias, low)
			simd.Emit(c, "VCVTNEPS2BF16", low, reg.Y2)
			x.VMOVDQU16(reg.Y2, x.of(dst, 2, 0))
		default:
			x.VMOVUPS_Z(x.of(src, 4, 0), mask, low)
			e.apply(x, bias, low)
			simd.Emit(c, "VCVTNEPS2BF16", low, reg.Y2)
			x.VMOVDQU16(reg.Y2, mask, x.of(dst, 2, 0))
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 2}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 4}, src)
		e.next(x, bias, behind, ldd)
	})
}
