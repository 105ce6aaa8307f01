package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// gemvRows is the number of rows of B of a step of gemv.
const gemvRows = 8

// gemv is skinny for one row of y and eight rows of B a step, of whole cache lines: the elements
// of x stay in registers for a whole row, and B goes from memory into the FMA. What comes from far
// comes as eight streams. Either the hardware looks ahead into them, or each is fetched as far ahead
// as memory takes, into L2, as L1 has no room for that of eight: one thread of a Zen 3 reads 20 GB/s
// the one way, and 16 the other.
func (t target) gemv(c *build.Context, name string, fetches bool) {
	const ahead = 2048 // bytes
	vecs := 64 / t.Bytes
	x, y, ldb, ldb3 := reg.RSI, reg.RBX, reg.RCX, reg.R8
	low, high, next, nextHigh := reg.RDX, reg.RDI, reg.R14, reg.R15 // rows 0 to 3, and 4 to 7
	steps, cols, temp := reg.R9, reg.R10, reg.RAX
	t.function(c, name, "m, n, steps int, x, b *T, ldb int, y *T, ldy int")
	c.Load(c.Param("x"), x)
	c.Load(c.Param("b"), low)
	c.Load(c.Param("steps"), steps)
	t.elements(c, "ldb", ldb)
	c.LEAQ(Mem{Base: ldb, Index: ldb, Scale: 2}, ldb3)
	c.LEAQ(Mem{Base: low, Index: ldb, Scale: 4}, high)

	factor := func(p int) reg.VecPhysical { return t.V(gemvRows + p) }
	sum := func(half, j int) reg.VecPhysical { return t.V(half*vecs + j) }
	row := func(bases [2]reg.GPPhysical, p, disp int) Mem {
		return simd.Nth(bases[p/4], ldb, ldb3, p%4, disp)
	}
	load := pick(t, c.VMOVUPS, c.VMOVUPD)
	fma := pick(t, c.VFMADD231PS, c.VFMADD231PD)
	mul := pick(t, c.VMULPS, c.VMULPD)
	add := pick(t, c.VADDPS, c.VADDPD)
	// chunk is a line of each row. Behind the end of these rows come the next.
	chunk := func(ends bool) {
		at, far, disp := [2]reg.GPPhysical{low, high}, [2]reg.GPPhysical{low, high}, ahead
		if ends {
			far, disp = [2]reg.GPPhysical{next, nextHigh}, 0
		}
		for j := range vecs {
			load(Mem{Base: y, Disp: j * t.Bytes}, sum(0, j))
		}
		for p := range gemvRows {
			if fetches {
				c.PREFETCHT1(row(far, p, disp))
			}
			for j := range vecs {
				switch from := row(at, p, j*t.Bytes); p {
				case 4:
					mul(from, factor(p), sum(1, j))
				default:
					fma(from, factor(p), sum(p/4, j))
				}
			}
		}
		for j := range vecs {
			add(sum(1, j), sum(0, j), sum(0, j))
			load(sum(0, j), Mem{Base: y, Disp: j * t.Bytes})
		}
		moving := []reg.GPPhysical{low, high, y}
		if ends {
			moving = append(moving, next, nextHigh)
		}
		for _, r := range moving {
			c.ADDQ(U32(vecs*t.Bytes), r)
		}
		c.SUBQ(U32(vecs*t.lanes()), cols)
	}

	c.Label("step")
	c.Load(c.Param("n"), cols)
	c.Load(c.Param("y"), y)
	broadcast := pick(t, c.VBROADCASTSS, c.VBROADCASTSD)
	for p := range gemvRows {
		broadcast(Mem{Base: x, Disp: p * t.size}, factor(p))
	}
	if fetches {
		// next are the rows behind those of this step.
		c.LEAQ(Mem{Base: low, Index: ldb, Scale: 8}, next)
		c.LEAQ(Mem{Base: high, Index: ldb, Scale: 8}, nextHigh)
		c.CMPQ(cols, U32(ahead/t.size))
		c.JLE(LabelRef("end"))
	}
	c.Label("whole")
	chunk(false)
	if fetches {
		c.CMPQ(cols, U32(ahead/t.size))
		c.JG(LabelRef("whole"))
		c.Label("end")
		chunk(true)
		c.JG(LabelRef("end"))
	} else {
		c.JG(LabelRef("whole"))
	}
	c.Load(c.Param("n"), temp)
	t.bytes(c, temp)
	for _, r := range []reg.GPPhysical{low, high} {
		c.SUBQ(temp, r)
		c.LEAQ(Mem{Base: r, Index: ldb, Scale: 8}, r)
	}
	c.ADDQ(U32(gemvRows*t.size), x)
	c.DECQ(steps)
	c.JNZ(LabelRef("step"))
	c.VZEROUPPER()
	c.RET()
}
