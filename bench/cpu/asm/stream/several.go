package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// The kernels of this file walk four streams in turn, two lines of each: stream
// j begins j*stride bytes behind a. n, the elements of one stream, is a multiple
// of 16; the destination is aligned to a line.
const (
	several = 4
	turn    = 128 // bytes of one stream
)

// streamAt addresses stream j of tensor base; R9 holds the stride, R10 three times that.
func streamAt(base reg.Register, j, disp int) operand.Mem {
	return simd.Nth(base, reg.R9, reg.R10, j, disp)
}

func copyStreams(ctx *build.Context, isa simd.ISA) {
	function(ctx, "streamCopyNT4"+suffix(isa), "func(n, stride int, a, b *float64)")
	ctx.Load(ctx.Param("a"), reg.RDI)
	ctx.Load(ctx.Param("b"), reg.RSI)
	walk(ctx, func() {
		per := turn / isa.Bytes
		for j := range several {
			for i := range per {
				ctx.VMOVUPD(streamAt(reg.RSI, j, i*isa.Bytes), isa.V(j*per+i))
			}
		}
		for j := range several {
			for i := range per {
				ctx.VMOVNTPD(isa.V(j*per+i), streamAt(reg.RDI, j, i*isa.Bytes))
			}
		}
		ctx.ADDQ(operand.U32(turn), reg.RSI)
		ctx.ADDQ(operand.U32(turn), reg.RDI)
	})
	ctx.SFENCE()
	ctx.VZEROUPPER()
	ctx.RET()
}

func readStreams(ctx *build.Context, isa simd.ISA) {
	function(ctx, "streamRead4"+suffix(isa), "func(n, stride int, a *float64) (sum uint64)")
	ctx.Load(ctx.Param("a"), reg.RDI)
	for i := range sums {
		ctx.VXORPD(isa.V(i), isa.V(i), isa.V(i))
	}
	walk(ctx, func() {
		per := turn / isa.Bytes
		for j := range several {
			if isa == simd.AVX512 {
				xorPair(ctx, j, streamAt(reg.RDI, j, 0), streamAt(reg.RDI, j, isa.Bytes))
				continue
			}
			for i := range per {
				xor(ctx, isa, streamAt(reg.RDI, j, i*isa.Bytes), isa.V((j*per+i)%sums))
			}
		}
		ctx.ADDQ(operand.U32(turn), reg.RDI)
	})
	reduce(ctx, isa)
	ctx.VZEROUPPER()
	ctx.RET()
}

// walk repeats body for each turn of n elements.
func walk(ctx *build.Context, body func()) {
	ctx.Load(ctx.Param("n"), left)
	ctx.Load(ctx.Param("stride"), reg.R9)
	ctx.LEAQ(operand.Mem{Base: reg.R9, Index: reg.R9, Scale: 2}, reg.R10)
	ctx.SHRQ(operand.U8(log2(turn/8)), left)
	ctx.JZ(operand.LabelRef("done"))
	ctx.Label("turn")
	body()
	ctx.DECQ(left)
	ctx.JNZ(operand.LabelRef("turn"))
	ctx.Label("done")
}
