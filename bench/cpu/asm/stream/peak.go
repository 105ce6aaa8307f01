package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// accumulators is the number of independent FMA chains. Two FMA a cycle with a
// latency of 4 need 8; 12 and 16 leave room for slower cores.
var accumulators = map[string]int{"avx2": 12, "avx512": 16}

// peaks emits x <- 0.5x + 1 on every element of acc, iters times.
func peaks(ctx *build.Context, isa simd.ISA) {
	n := accumulators[isa.Name]
	half, one := isa.V(n), isa.V(n+1)
	for _, t := range []struct {
		name, elem string
		load       func(...operand.Op)
		spread     func(...operand.Op)
		fma        func(...operand.Op)
	}{
		{"FP32", "float32", ctx.VMOVUPS, ctx.VBROADCASTSS, ctx.VFMADD213PS},
		{"FP64", "float64", ctx.VMOVUPD, ctx.VBROADCASTSD, ctx.VFMADD213PD},
	} {
		function(ctx, "peak"+t.name+suffix(isa), fmt.Sprintf("func(iters int, acc *%s, half, one %s)", t.elem, t.elem))
		iters := ctx.Load(ctx.Param("iters"), reg.RCX)
		acc := operand.Mem{Base: ctx.Load(ctx.Param("acc"), reg.RAX)}
		for i, v := range []operand.Op{half, one} {
			from, err := ctx.Param([]string{"half", "one"}[i]).Resolve()
			if err != nil {
				panic(err)
			}
			t.spread(from.Addr, v)
		}
		for i := range n {
			t.load(acc.Offset(i*isa.Bytes), isa.V(i))
		}
		label := "fma"
		ctx.TESTQ(iters, iters)
		ctx.JLE(operand.LabelRef("store"))
		ctx.Label(label)
		for i := range n {
			t.fma(one, half, isa.V(i))
		}
		ctx.DECQ(iters)
		ctx.JNZ(operand.LabelRef(label))
		ctx.Label("store")
		for i := range n {
			t.load(isa.V(i), acc.Offset(i*isa.Bytes))
		}
		ctx.VZEROUPPER()
		ctx.RET()
	}
}
