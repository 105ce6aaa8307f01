package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// flushes emits what drives cache lines out to memory: in order, and where the CPU
// has it, several at once.
func flushes(ctx *build.Context) {
	for _, f := range []struct {
		name string
		line func(operand.Op)
	}{
		{"flushInOrder", ctx.CLFLUSH},
		{"flushInAnyOrder", ctx.CLFLUSHOPT},
	} {
		function(ctx, f.name, "func(at *byte, lines int)")
		ctx.Load(ctx.Param("at"), reg.RSI)
		ctx.Load(ctx.Param("lines"), reg.RCX)
		ctx.Label("line")
		f.line(operand.Mem{Base: reg.RSI})
		ctx.ADDQ(operand.U32(64), reg.RSI)
		ctx.DECQ(reg.RCX)
		ctx.JNZ(operand.LabelRef("line"))
		ctx.MFENCE()
		ctx.RET()
	}
	function(ctx, "storeFence", "func()")
	ctx.SFENCE()
	ctx.RET()
	function(ctx, "cpuid7", "func() uint32")
	ctx.MOVL(operand.U32(7), reg.EAX)
	ctx.XORL(reg.ECX, reg.ECX)
	ctx.CPUID()
	ctx.Store(reg.EBX, ctx.ReturnIndex(0))
	ctx.RET()
}
