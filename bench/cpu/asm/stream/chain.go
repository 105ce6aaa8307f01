package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chains emits loops of dependent scalar instructions. The operands are
// registers: a chain of additions of a constant is folded at rename on recent
// cores. The loop's own counter runs beside the chain, once in 1024 links.
func chains(ctx *build.Context) {
	for _, c := range []struct {
		name string
		link func(operand.Op, operand.Op)
	}{
		{"chainAdd", ctx.ADDQ},
		{"chainMul", func(a, b operand.Op) { ctx.IMULQ(a, b) }},
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
