package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// epilogue adds the residual, if there is one, and cuts off below the floor.
func (u ukernel) epilogue(c *build.Context, at func(string) string, rows, vecs int, mask []reg.OpmaskPhysical, acc func(i, j int) reg.VecPhysical) {
	add := pick(u.target, c.VADDPS, c.VADDPD)
	spare := u.V(rows * vecs)
	c.MOVQ(param(c, "residual"), regTemp)
	c.TESTQ(regTemp, regTemp)
	c.JZ(LabelRef(at("floor")))
	// It lies as C does.
	c.ADDQ(regC, regTemp)
	c.SUBQ(param(c, "c"), regTemp)
	for i := range rows {
		for j := range vecs {
			from := Mem{Base: regTemp, Disp: j * u.lanes() * u.bytesC()}
			if u.rounds {
				c.VPMOVZXWD_Z(from, mask[j], spare)
				c.VPSLLD(Imm(16), spare, spare)
				add(spare, acc(i, j), acc(i, j))
			} else if u.masked() {
				pick(u.target, c.VMOVUPS_Z, c.VMOVUPD_Z)(from, mask[j], spare)
				add(spare, acc(i, j), acc(i, j))
			} else {
				add(from, acc(i, j), acc(i, j))
			}
		}
		if i < rows-1 {
			c.ADDQ(regLDC, regTemp)
		}
	}
	c.Label(at("floor"))
	pick(u.target, c.VBROADCASTSS, c.VBROADCASTSD)(param(c, "floor"), spare)
	for i := range rows {
		for j := range vecs {
			// The last source wins if it is NaN, so a NaN stays one.
			pick(u.target, c.VMAXPS, c.VMAXPD)(acc(i, j), spare, acc(i, j))
		}
	}
}

// round rounds the sums to bf16 and stores them, a row of two vectors in one.
func (u ukernel) round(c *build.Context, rows, vecs int, mask []reg.OpmaskPhysical, acc func(i, j int) reg.VecPhysical) {
	both := reg.K7
	if vecs == 2 {
		c.KUNPCKWD(mask[0], mask[1], both)
	}
	u.eachOfC(c, rows, 1, func(i, _ int, to Mem) {
		if vecs == 2 {
			simd.Emit(c, "VCVTNE2PS2BF16", acc(i, 0), acc(i, 1), acc(i, 0))
			c.VMOVDQU16(acc(i, 0), both, to)
		} else {
			low := acc(i, 0).AsY()
			simd.Emit(c, "VCVTNEPS2BF16", acc(i, 0), low)
			c.VMOVDQU16(low, mask[0], to)
		}
	})
}
