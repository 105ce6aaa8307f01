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
	const finish = "func(dst *uint16, src, bias *float32, y *uint16, ldd, lds, ldy, m, n int, floor float32)"
	for _, e := range []ending{
		{name: "round", signature: round},
		{name: "roundAhead", signature: round, ahead: true},
		{name: "finishRows", signature: finish, bias: ofRows},
		{name: "finishCols", signature: finish, bias: ofCols},
	} {
		e.roundBF16(c, quarters)
		e.roundBF16AtOnce(c)
		e.roundFP16(c)
	}
}

// widening fills a vector with as many numbers of 16 bits; the lanes left out are 0.
type widening func(x *matrix, from Mem, mask, to reg.Register)

func widenBF16(x *matrix, from Mem, mask, to reg.Register) {
	if mask == nil {
		x.VPMOVZXWD(from, to)
	} else {
		x.VPMOVZXWD_Z(from, mask, to)
	}
	x.VPSLLD(Imm(16), to, to)
}

func widenFP16(x *matrix, from Mem, mask, to reg.Register) {
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

// widen writes dst[i*ldd+j] = src[i*lds+j]. It prefetches src n elements ahead, or simd.MatrixDistance if that is more: its
// caller goes on to compute on the widened row, in L1, and memory would be idle meanwhile.
func widen(c *build.Context, name string, convert widening) {
	x := newMatrix(c, simd.AVX512, "widen"+name, "func(dst *float32, src *uint16, ldd, lds, m, n int)", Mem{})
	dst, src, ldd, lds := x.load("dst"), x.load("src"), x.load("ldd"), x.load("lds")
	behind := x.load("n")
	x.LEAQ(Mem{Base: src, Index: behind, Scale: 2}, behind)
	far := x.GP64()
	x.LEAQ(Mem{Base: src, Disp: simd.MatrixDistance}, far)
	x.CMPQ(behind, far)
	x.CMOVQLT(far, behind)
	x.walk(4, func(count int, mask reg.Register) {
		for u := range count {
			v := x.vector()
			convert(x, x.of(src, 2, u), mask, v)
			x.put(v, mask, x.of(dst, 4, u))
			if u%2 == 0 { // two vectors fill a line
				x.PREFETCHT1(x.of(behind, 2, u))
			}
		}
	}, func() {
		x.LEAQ(Mem{Base: dst, Index: ldd, Scale: 4}, dst)
		x.LEAQ(Mem{Base: src, Index: lds, Scale: 2}, src)
		x.LEAQ(Mem{Base: behind, Index: lds, Scale: 2}, behind)
	})
}

// ending writes dst[i*ldd+j] = src[i*lds+j], rounded to nearest, ties to even; with a bias, of
// max(src[i*lds+j] + bias + y[i*ldy+j], floor), and of NaN for NaN. There may be no y.
type ending struct {
	name, signature string
	bias            bias
	ahead           bool // fetches as much behind each row of dst: what is stored there next
}

// bias is what an ending adds to elements: one number to each row or column, or nothing.
type bias int

const (
	noBias bias = iota
	ofRows
	ofCols
)

// Registers by name, see roundBF16AtOnce.
var (
	floorOf = reg.Z31
	addend  = reg.Z30 // a vector of y
)

// finishing is an ending at work: what it needs beside src.
type finishing struct {
	ending
	*matrix
	dst, src, ldd, lds reg.GPVirtual
	behind             reg.GPVirtual // where dst goes on behind the n elements of a row
	biases             reg.GPVirtual
	y, ldy             reg.GPVirtual
	widen              widening
}

// write writes the function: vectors ends some of them, and rounds.
func (e ending) write(x *matrix, unroll int, widen widening, vectors func(f finishing, count int, mask reg.Register)) {
	f := finishing{ending: e, matrix: x, dst: x.load("dst"), src: x.load("src"), ldd: x.load("ldd"), lds: x.load("lds")}
	if e.ahead {
		f.behind = x.load("n")
		x.LEAQ(Mem{Base: f.dst, Index: f.behind, Scale: 2}, f.behind)
	}
	walk := func(way string) {
		x.walkAs(way, unroll, func(count int, mask reg.Register) { vectors(f, count, mask) }, f.next)
	}
	if e.bias != noBias {
		x.VBROADCASTSS(param(x.Context, "floor"), floorOf)
		f.biases, f.y, f.ldy = x.load("bias"), x.load("y"), x.load("ldy")
		x.TESTQ(f.y, f.y)
		x.JZ(LabelRef("alone"))
		f.widen = widen
		walk("add")
		x.Label("alone")
		f.widen = nil
	}
	walk("")
}

// apply does to vector u what comes before rounding.
func (f finishing) apply(u int, mask, v reg.Register) {
	switch {
	case f.bias == noBias:
		return
	case f.bias == ofRows:
		f.VADDPS_BCST(Mem{Base: f.biases}, v, v)
	case mask == nil:
		f.VADDPS(f.of(f.biases, 4, u), v, v)
	default:
		f.VADDPS(f.of(f.biases, 4, u), v, mask, v)
	}
	if f.widen != nil {
		f.widen(f.matrix, f.of(f.y, 2, u), mask, addend)
		f.VADDPS(addend, v, v)
		if u%2 == 0 { // two vectors fill a line
			f.PREFETCHT1(f.of(f.y, 2, u).Offset(simd.TilesAhead))
		}
	}
	f.VMAXPS(v, floorOf, v) // of NaN and a number the one that comes first here
}

// fetch fetches behind, once for each line of two vectors.
func (f finishing) fetch(u int) {
	if f.ahead && u%2 == 0 {
		f.PREFETCHT0(f.of(f.behind, 2, u))
	}
}

// next moves on to the next row.
func (f finishing) next() {
	f.LEAQ(Mem{Base: f.dst, Index: f.ldd, Scale: 2}, f.dst)
	f.LEAQ(Mem{Base: f.src, Index: f.lds, Scale: 4}, f.src)
	if f.ahead {
		f.LEAQ(Mem{Base: f.behind, Index: f.ldd, Scale: 2}, f.behind)
	}
	if f.bias == ofRows {
		f.ADDQ(Imm(4), f.biases)
	}
	if f.widen != nil {
		f.LEAQ(Mem{Base: f.y, Index: f.ldy, Scale: 2}, f.y)
	}
}

func (e ending) roundFP16(c *build.Context) {
	x := newMatrix(c, simd.AVX512, e.name+"FP16", e.signature, Mem{})
	e.write(x, 4, widenFP16, func(f finishing, count int, mask reg.Register) {
		for u := range count {
			v := x.get(x.of(f.src, 4, u), mask)
			f.apply(u, mask, v)
			x.putFP16(v, mask, x.of(f.dst, 2, u))
			f.fetch(u)
		}
	})
}

// roundBF16 does the same for bf16, which is the upper half of fp32: what is added
// carries into it if the lower half is more than the middle, or is the middle and the
// upper one odd. NaN gets its quiet bit set instead, as a carry could make it a number.
func (e ending) roundBF16(c *build.Context, quarters Mem) {
	x := newMatrix(c, simd.AVX512, e.name+"BF16", e.signature, Mem{})
	odd, below, one, quiet := x.constant(1<<16), x.constant(1<<15-1), x.constant(1), x.constant(1<<22)
	// Packing works within 16 bytes: the quarters of both vectors come in turn.
	lanes := x.ZMM()
	x.VMOVDQU64(quarters, lanes)
	e.write(x, 2, widenBF16, func(f finishing, count int, mask reg.Register) {
		upper := func(u int) reg.VecVirtual {
			v, sum, isOdd, isNaN := x.get(x.of(f.src, 4, u), mask), x.ZMM(), x.K(), x.K()
			const unordered = 3
			f.apply(u, mask, v)
			x.VPTESTMD(odd, v, isOdd)
			x.VCMPPS(Imm(unordered), v, v, isNaN)
			x.VPADDD(below, v, sum)
			x.VPADDD(one, sum, isOdd, sum)
			x.VPORD(quiet, v, isNaN, sum)
			x.VPSRLD(Imm(16), sum, sum)
			return sum
		}
		f.fetch(0)
		v := upper(0)
		switch {
		case count == 2:
			x.VPACKUSDW(upper(1), v, v)
			x.VPERMQ(v, lanes, v)
			x.VMOVDQU64(v, x.of(f.dst, 2, 0))
		case mask == nil:
			x.VPMOVDW(v, x.of(f.dst, 2, 0))
		default:
			x.VPMOVDW(v, mask, x.of(f.dst, 2, 0))
		}
	})
}

// roundBF16AtOnce has AVX512-BF16 do it, which takes what is below the normal numbers for
// 0.
func (e ending) roundBF16AtOnce(c *build.Context) {
	function(c, e.name+"BF16AVX512BF16", e.signature)
	x := &matrix{Context: c, isa: simd.AVX512, lanes: 16, at: c.GP64(), left: c.GP64()}
	// In registers by name, as only they can be encoded here.
	low, high, both := reg.Z0, reg.Z1, reg.Z2
	e.write(x, 2, widenBF16, func(f finishing, count int, mask reg.Register) {
		f.fetch(0)
		if mask == nil {
			x.VMOVUPS(x.of(f.src, 4, 0), low)
		} else {
			x.VMOVUPS_Z(x.of(f.src, 4, 0), mask, low)
		}
		f.apply(0, mask, low)
		if count == 2 {
			x.VMOVUPS(x.of(f.src, 4, 1), high)
			f.apply(1, nil, high)
			simd.Emit(c, "VCVTNE2PS2BF16", low, high, both)
			x.VMOVDQU16(both, x.of(f.dst, 2, 0))
			return
		}
		simd.Emit(c, "VCVTNEPS2BF16", low, reg.Y2)
		if mask == nil {
			x.VMOVDQU16(reg.Y2, x.of(f.dst, 2, 0))
		} else {
			x.VMOVDQU16(reg.Y2, mask, x.of(f.dst, 2, 0))
		}
	})
}
