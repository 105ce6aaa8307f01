package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// matrix is an element-wise function over m rows of n elements. Its operands are
// matrices with leading dimensions, or rows that all rows meet.
type matrix struct {
	*build.Context
	isa   simd.ISA
	lanes int           // elements of a vector: of 32 bits each, or of 16
	at    reg.GPVirtual // element of the row
	left  reg.GPVirtual // elements that are left of it

	numbers Mem // those of the lanes, which AVX2 makes masks of
}

func newMatrix(c *build.Context, isa simd.ISA, name, signature string, numbers Mem) *matrix {
	function(c, name+camel(isa.Name), signature)
	return &matrix{Context: c, isa: isa, lanes: isa.Bytes / 4, at: c.GP64(), left: c.GP64(), numbers: numbers}
}

// laneNumbers is a table of them.
func laneNumbers(c *build.Context) Mem {
	return order(c, "laneNumbers", func(add func(Constant, int)) {
		for i := range uint32(8) {
			add(U32(i), 4)
		}
	})
}

func (x *matrix) load(name string) reg.GPVirtual {
	r := x.GP64()
	x.Load(x.Param(name), r)
	return r
}

func (x *matrix) vector() reg.VecVirtual {
	if x.isa.Bytes == 64 {
		return x.ZMM()
	}
	return x.YMM()
}

// vector u, counted from the present element, of an operand with elements of so many
// bytes.
func (x *matrix) of(base reg.Register, size, u int) Mem {
	return Mem{Base: base, Index: x.at, Scale: uint8(size), Disp: u * x.lanes * size}
}

// walk runs vectors over each row: as many at once as unroll says, then single ones,
// then one of which the mask selects the first lanes. next moves the operands on to the
// next row.
func (x *matrix) walk(unroll int, vectors func(count int, mask reg.Register), next func()) {
	x.walkAs("", unroll, vectors, next)
}

// walkAs does so under a name, of one way of several that a function has.
func (x *matrix) walkAs(way string, unroll int, vectors func(count int, mask reg.Register), next func()) {
	m, n := x.load("m"), x.load("n")
	x.Label(way + "row")
	x.MOVQ(n, x.left)
	x.XORQ(x.at, x.at)
	for _, step := range []struct {
		name  string
		count int
	}{{way + "several", unroll}, {way + "one", 1}} {
		x.SUBQ(I32(step.count*x.lanes), x.left)
		x.JLT(LabelRef(step.name + "done"))
		x.Label(step.name)
		vectors(step.count, nil)
		x.ADDQ(I32(step.count*x.lanes), x.at)
		x.SUBQ(I32(step.count*x.lanes), x.left)
		x.JGE(LabelRef(step.name))
		x.Label(step.name + "done")
		x.ADDQ(I32(step.count*x.lanes), x.left)
	}
	x.JZ(LabelRef(way + "next"))
	vectors(1, x.mask())
	x.Label(way + "next")
	next()
	x.DECQ(m)
	x.JNZ(LabelRef(way + "row"))
	x.VZEROUPPER()
	x.RET()
}

// mask selects the first lanes, as many as are left: an opmask, or lanes of ones.
func (x *matrix) mask() reg.Register {
	if x.isa.Bytes == 64 {
		k, bits := x.K(), x.GP32()
		x.MOVL(U32(1<<32-1), bits)
		x.BZHIL(x.left.As32(), bits, bits)
		x.KMOVD(bits, k)
		return k
	}
	v := x.YMM()
	x.VMOVD(x.left.As32(), v.AsX())
	x.VPBROADCASTD(v.AsX(), v)
	x.VPCMPGTD(x.numbers, v, v)
	return v
}

// spread fills a vector with a parameter of 32 bits.
func (x *matrix) spread(name string) reg.VecVirtual {
	v := x.vector()
	x.VBROADCASTSS(param(x.Context, name), v)
	return v
}

// get loads a vector of 32 bits each; the lanes left out are 0.
func (x *matrix) get(from Mem, mask reg.Register) reg.VecVirtual {
	v := x.vector()
	switch {
	case mask == nil:
		x.VMOVUPS(from, v)
	case x.isa.Bytes == 64:
		x.VMOVUPS_Z(from, mask, v)
	default:
		x.VPMASKMOVD(from, mask, v)
	}
	return v
}

// put stores one.
func (x *matrix) put(v reg.VecVirtual, mask reg.Register, to Mem) {
	switch {
	case mask == nil:
		x.VMOVUPS(v, to)
	case x.isa.Bytes == 64:
		x.VMOVUPS(v, mask, to)
	default:
		x.VPMASKMOVD(v, mask, to)
	}
}

// constant fills a vector with 32 bits.
func (x *matrix) constant(bits uint32) reg.VecVirtual {
	v, r := x.vector(), x.GP32()
	x.MOVL(U32(bits), r)
	x.VMOVD(r, v.AsX())
	x.VPBROADCASTD(v.AsX(), v)
	return v
}
