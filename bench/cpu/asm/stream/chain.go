package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chains emits loops of dependent scalar instructions. The operands are
// registers: a chain of additions of a constant is folded at rename on recent
// cores. Multiplications are of 32 bits: those of 64 take 3 cycles on some cores, 4 on
// others and 5 on Gracemont. Additions stand beside them, as a chain of those alone leaves
// the scheduler no time to spare: a neighbour on a core of Zen 5 slows that by 2%, without
// a change of the clock. The loop's own counter runs beside the chain, once in 1024 links.
func chains(ctx *build.Context) {
	for _, c := range []struct {
		name string
		link func(from, to reg.GPPhysical)
	}{
		{"chainAddMul", func(from, to reg.GPPhysical) {
			ctx.ADDQ(from, to)
			ctx.IMULL(from.As32(), to.As32())
			ctx.ADDQ(from, to)
		}},
		{"chainMul", func(from, to reg.GPPhysical) { ctx.IMULL(from.As32(), to.As32()) }},
	} {
		function(ctx, c.name, "func(iters int)")
		iters := ctx.Load(ctx.Param("iters"), reg.RCX)
		ctx.MOVQ(operand.U32(1), reg.RBX)
		ctx.MOVQ(operand.U32(1), reg.RAX)
		ctx.Label("links")
		for range 1024 {
			c.link(reg.RBX, reg.RAX)
		}
		ctx.DECQ(iters)
		ctx.JNZ(operand.LabelRef("links"))
		ctx.RET()
	}
}
