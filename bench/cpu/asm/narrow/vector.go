package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// vector is an element type that a vector unit multiplies.
type vector struct {
	simd.ISA
	dtype, unit string
	mr          int // rows of the highest tile; all have two vectors of columns
	size, group int // bytes of an element, elements of k that one instruction adds
	peakAccs    int
}

// The tiles keep all but four registers busy, as those of fp32 do.
var vectors = []vector{
	{simd.AVX512, "bf16", "avx512_bf16", 14, 2, 2, 16},
	{simd.AVX512, "int8", "avx512_vnni", 14, 1, 4, 16},
	{simd.AVX2, "int8", "avx_vnni", 6, 1, 4, 12},
	{simd.AVX512, "fp16", "avx512_fp16", 14, 2, 1, 16},
}

const vecs = 2

func (v vector) nr() int       { return vecs * v.Bytes / (v.size * v.group) }
func (v vector) halves() bool  { return v.dtype == "fp16" }
func (v vector) accBytes() int { return v.nr() * 4 } // of a row of a tile of C

// dot adds to each element of acc the products of a group of b and one of a.
func (v vector) dot(c *build.Context, b, a, acc reg.VecPhysical) {
	switch {
	case v.unit == "avx512_vnni":
		c.VPDPBUSD(b, a, acc)
	case v.unit == "avx_vnni":
		simd.Emit(c, "VPDPBUSD", b, a, acc)
	case v.halves():
		simd.Emit(c, "VFMADD231PH", b, a, acc)
	default:
		simd.Emit(c, "VDPBF16PS", b, a, acc)
	}
}

// spread broadcasts a group.
func (v vector) spread(c *build.Context, from Mem, to reg.VecPhysical) {
	if v.halves() {
		c.VPBROADCASTW(from, to)
	} else {
		c.VPBROADCASTD(from, to)
	}
}

func (v vector) add(c *build.Context, x, y, sum Op) {
	if v.size == 1 {
		c.VPADDD(x, y, sum)
	} else {
		c.VADDPS(x, y, sum)
	}
}

func (v vector) zero(c *build.Context, r reg.VecPhysical) {
	if v.Bytes == 64 {
		c.VPXORD(r, r, r)
	} else {
		c.VPXOR(r, r, r)
	}
}

// unroll is the number of groups in the body of the loop.
const unroll = 4

// sets is how many sums of each element a tile of that many rows keeps, of every
// other group or every fourth: a low tile has too few to hide the latency of dot. fp16
// has no sums to spare time for, as it adds them up after each step.
func (v vector) sets(rows int) int {
	sets := 1
	for !v.halves() && sets < unroll && 2*sets*rows*vecs <= v.mr*vecs {
		sets *= 2
	}
	return sets
}

// streams says that B is read once: more rows than a tile has become several panels, of
// more than half as many rows each. What comes next is then what comes far ahead, and is
// fetched as that.
func (v vector) streams(rows int) bool { return rows <= v.mr/2 }

// farB is how many bytes ahead a tile fetches B: a high one from L2. For a lower one B
// comes from L3 or memory, as few others use it, and less time passes until it is used.
func (v vector) farB(rows int) int {
	if rows == v.mr {
		return 16 * vecs * v.Bytes
	}
	return 8 << 10
}

// block is a kernel for tiles of any number of rows up to mr.
func (v vector) block(c *build.Context) {
	function(c, v.dtype+"gemmBlock"+camel(v.unit), blockSignature)
	loadBlock(c)
	c.Load(c.Param("rows"), regTemp)
	for rows := 1; rows < v.mr; rows++ {
		c.CMPQ(regTemp, Imm(uint64(rows)))
		c.JEQ(LabelRef(fmt.Sprintf("row%d", rows)))
	}
	for rows := v.mr; rows > 0; rows-- {
		v.blockOf(c, rows)
	}
}

// blockOf keeps a tile of rows x 2 vectors in registers. A group costs 2 loads of B, as
// many broadcasts of A as rows and twice as many multiplications, so that the
// multiplying ports are the bottleneck, not the loads.
//
// int8: a is unsigned and holds A + 128; behind each panel of B there is a row of
// -128 times the sums of its columns, which is added to the tile.
//
// fp16 accumulates in fp16. So that sums stay short, the registers hold those of one
// step, 32 products, and are then added to the tile in acc, in fp32.
func (v vector) blockOf(c *build.Context, rows int) {
	inner, row := reg.RAX, reg.R12
	sets := v.sets(rows)
	sum := func(set, i, j int) reg.VecPhysical { return v.V((set*rows+i)*vecs + j) }
	acc := func(i, j int) reg.VecPhysical { return sum(0, i, j) }
	b := func(j int) reg.VecPhysical { return v.V(v.mr*vecs + j) }
	a := func(i int) reg.VecPhysical { return v.V(v.mr*vecs + vecs + i%2) }
	bytesB := vecs * v.Bytes // of one group
	lines := v.accBytes() / 64
	eachVector := func(f func(i, j int)) {
		for i := range rows {
			for j := range vecs {
				f(i, j)
			}
		}
	}
	inAcc := func(i, at int) Mem { return Mem{Base: regAcc, Disp: i*v.accBytes() + at} }
	suffix := fmt.Sprint(rows)
	label := func(name string) { c.Label(name + suffix) }
	to := func(name string) Op { return LabelRef(name + suffix) }

	blockLoops(c, suffix, rows*v.accBytes(), func() {
		c.MOVQ(regOut, row)
		for i := range rows {
			for line := range lines {
				c.PREFETCHT0(Mem{Base: row, Disp: 64 * line})
			}
			if i < rows-1 {
				c.ADDQ(regLDO, row)
			}
		}
		for set := range sets {
			eachVector(func(i, j int) { v.zero(c, sum(set, i, j)) })
		}
		if v.halves() {
			c.CMPB(param(c, "load"), Imm(0))
			c.JNE(to("step"))
			for i := range rows {
				for at := 0; at < v.accBytes(); at += v.Bytes {
					c.VMOVUPS(acc(0, 0), inAcc(i, at))
				}
			}
		}
		label("step")
		if !v.streams(rows) {
			fetchAhead(c, regAheadA, "secondA")
			fetchAhead(c, regAheadB, "secondB")
		}
		c.MOVQ(U32(64/(v.size*v.group)/unroll), inner)
		label("group")
		for g := range unroll {
			for j := range vecs {
				c.PREFETCHT0(Mem{Base: regB, Disp: v.farB(rows) + g*bytesB + j*v.Bytes})
				c.VMOVUPS(Mem{Base: regB, Disp: g*bytesB + j*v.Bytes}, b(j))
			}
			for i := range rows {
				v.spread(c, Mem{Base: regA, Disp: i*64 + g*v.size*v.group}, a(i))
				for j := range vecs {
					v.dot(c, b(j), a(i), sum(g%sets, i, j))
				}
			}
		}
		c.ADDQ(U32(unroll*v.size*v.group), regA)
		c.ADDQ(U32(unroll*bytesB), regB)
		c.DECQ(inner)
		c.JNZ(to("group"))
		if rows > 1 {
			c.ADDQ(U32(64*rows-64), regA)
		}
		if v.halves() {
			eachVector(func(i, j int) { v.flush(c, acc(i, j), inAcc(i, j*2*v.Bytes), b(0), b(1)) })
		}
		c.DECQ(regSteps)
		c.JNZ(to("step"))

		if v.halves() {
			c.MOVQ(regOut, row)
			for i := range rows {
				for at := 0; at < v.accBytes(); at += v.Bytes {
					c.VMOVUPS(inAcc(i, at), b(0))
					c.VMOVUPS(b(0), Mem{Base: row, Disp: at})
				}
				if i < rows-1 {
					c.ADDQ(regLDO, row)
				}
			}
			return
		}
		for half := sets / 2; half > 0; half /= 2 {
			for set := range half {
				eachVector(func(i, j int) { v.add(c, sum(half+set, i, j), sum(set, i, j), sum(set, i, j)) })
			}
		}
		if v.size == 1 {
			eachVector(func(i, j int) { v.add(c, Mem{Base: regB, Disp: j * v.Bytes}, acc(i, j), acc(i, j)) })
			c.ADDQ(U32(v.accBytes()), regB)
		}
		c.CMPB(param(c, "load"), Imm(0))
		c.JEQ(to("store"))
		eachVector(func(i, j int) { v.add(c, inAcc(i, j*v.Bytes), acc(i, j), acc(i, j)) })
		label("store")
		c.MOVQ(regOut, row)
		for i := range rows {
			for j := range vecs {
				c.VMOVUPS(acc(i, j), Mem{Base: row, Disp: j * v.Bytes})
			}
			if i < rows-1 {
				c.ADDQ(regLDO, row)
			}
		}
	}, func() { nextPanel(c) })
	c.VZEROUPPER()
	c.RET()
}

// flush adds a vector of fp16 to two of fp32 in memory and clears it.
func (v vector) flush(c *build.Context, r reg.VecPhysical, to Mem, low, high reg.VecPhysical) {
	c.VEXTRACTF64X4(Imm(1), r, high.AsY())
	c.VCVTPH2PS(r.AsY(), low)
	c.VCVTPH2PS(high.AsY(), high)
	for i, half := range []reg.VecPhysical{low, high} {
		at := to.Offset(i * v.Bytes)
		c.VADDPS(at, half, half)
		c.VMOVUPS(half, at)
	}
	v.zero(c, r)
}

// peak repeats acc += a*b on independent registers, where all lanes share a group a.
// fp16 repeats acc <- a*acc + b, with one element a and one b.
func (v vector) peak(c *build.Context) {
	function(c, "peak"+camel(v.dtype)+camel(v.unit), peakSignature)
	n, at := reg.RCX, reg.RAX
	a, b := v.V(v.peakAccs), v.V(v.peakAccs+1)
	c.Load(c.Param("from"), at)
	for i := range v.peakAccs {
		c.VMOVUPS(Mem{Base: at, Disp: i * v.Bytes}, v.V(i))
	}
	c.Load(c.Param("a"), at)
	v.spread(c, Mem{Base: at}, a)
	c.Load(c.Param("b"), at)
	if v.halves() {
		v.spread(c, Mem{Base: at}, b)
	} else {
		c.VMOVUPS(Mem{Base: at}, b)
	}
	c.Load(c.Param("n"), n)
	c.Load(c.Param("to"), at)
	c.Label("dot")
	for i := range v.peakAccs {
		if v.halves() {
			simd.Emit(c, "VFMADD213PH", b, a, v.V(i))
		} else {
			v.dot(c, b, a, v.V(i))
		}
	}
	c.DECQ(n)
	c.JNZ(LabelRef("dot"))
	for i := range v.peakAccs {
		if v.halves() {
			c.VEXTRACTF64X4(Imm(1), v.V(i), b.AsY())
			c.VCVTPH2PS(v.V(i).AsY(), a)
			c.VCVTPH2PS(b.AsY(), b)
			c.VMOVUPS(a, Mem{Base: at, Disp: 2 * i * v.Bytes})
			c.VMOVUPS(b, Mem{Base: at, Disp: (2*i + 1) * v.Bytes})
		} else {
			c.VMOVUPS(v.V(i), Mem{Base: at, Disp: i * v.Bytes})
		}
	}
	c.VZEROUPPER()
	c.RET()
}
