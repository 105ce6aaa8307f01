package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// loadRun loads the run of lines to fetch. Without any, those behind A are fetched.
func (u ukernel) loadRun(c *build.Context) {
	c.Load(c.Param("a"), regAt)
	c.MOVQ(U64(1<<62), regCount)
	c.LEAQ(param(c, "a"), regNext)
	c.Load(c.Param("fetch"), regTemp)
	c.TESTQ(regTemp, regTemp)
	c.JZ(LabelRef("start"))
	c.MOVQ(Mem{Base: regTemp}, regAt)
	c.MOVQ(Mem{Base: regTemp, Disp: 8}, regCount)
	c.MOVQ(Mem{Base: regTemp, Disp: 16}, regNext)
	c.Label("start")
}

// storeRun tells how far the fetching came.
func (u ukernel) storeRun(c *build.Context) {
	c.Load(c.Param("fetch"), regTemp)
	c.TESTQ(regTemp, regTemp)
	c.JZ(LabelRef("return"))
	c.MOVQ(regAt, Mem{Base: regTemp})
	c.MOVQ(regCount, Mem{Base: regTemp, Disp: 8})
	c.MOVQ(regNext, Mem{Base: regTemp, Disp: 16})
	c.Label("return")
}
