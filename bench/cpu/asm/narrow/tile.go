package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// tiled is an element type that AMX multiplies, with its instruction.
type tiled struct{ dtype, dot string }

var tiles = []tiled{{"bf16", "TDPBF16PS"}, {"fp16", "TDPFP16PS"}, {"int8", "TDPBSSD"}}

// Every tile is whole: 16 rows of 64 bytes.
const tileConfig = "tileConfig"

// configuration is the memory that LDTILECFG reads (Intel SDM vol. 1, 18.2): palette
// 1, then from byte 16 on the bytes of a row of each tile and from byte 48 on its
// rows.
func configuration(c *build.Context) {
	c.StaticGlobal(tileConfig)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for at := 0; at < 64; at += 8 {
		var word uint64
		switch at {
		case 0:
			word = 1
		case 16, 24:
			word = 0x0040_0040_0040_0040
		case 48:
			word = 0x1010_1010_1010_1010
		}
		c.AddDatum(at, U64(word))
	}
}

// setUp configures the tiles. No tile outlives the call: Go moves goroutines between
// threads and knows nothing of tiles. A signal in between saves them in its frame, 11
// KiB of the 32 KiB that Go's signal stacks have.
func setUp(c *build.Context) {
	c.LEAQ(NewDataAddr(Symbol{Name: tileConfig, Static: true}, 0), regTemp)
	simd.Emit(c, "LDTILECFG", Mem{Base: regTemp})
}

// block keeps 2x2 tiles of C in tiles 0 to 3: four multiplications of 16 cycles for
// four loads, 2 x 1 KiB of A from L1 and 2 x 1 KiB of B from L2, which needs 32 of the
// 64 bytes a cycle that L2 has. Nothing fetches B ahead into L1: the loads depend on
// nothing, and out of order they run some three steps ahead of the multiplications,
// further than L2 is away.
func (t tiled) block(c *build.Context) {
	var (
		ldA, ldB = reg.R10, reg.R11
		next     = reg.R12 // rows of the next tile of C
	)
	function(c, t.dtype+"gemmBlockAMX", blockSignature)
	setUp(c)
	loadBlock(c)
	c.MOVQ(U32(64), ldA)
	c.MOVQ(U32(128), ldB)
	// Tiles of C in acc are 32 rows of 128 bytes.
	acc := func(i int) Mem { return Mem{Base: regAcc, Index: ldB, Scale: 1, Disp: i/2*2048 + i%2*64} }
	a := func(i int) Mem { return Mem{Base: regA, Index: ldA, Scale: 1, Disp: i * 1024} }
	b := func(j int) Mem { return Mem{Base: regB, Index: ldB, Scale: 1, Disp: j * 64} }
	blockLoops(c, "", 4096, func() {
		c.Load(c.Param("nextTile"), next)
		c.ADDQ(regOut, next)
		c.CMPB(param(c, "load"), Imm(0))
		c.JEQ(LabelRef("zero"))
		for i := range 4 {
			simd.Emit(c, "TILELOADD", acc(i), simd.Tile(i))
		}
		c.JMP(LabelRef("step"))
		c.Label("zero")
		for i := range 4 {
			simd.Emit(c, "TILEZERO", simd.Tile(i))
		}
		c.Label("step")
		simd.Emit(c, "TILELOADD", a(0), simd.Tile(4))
		simd.Emit(c, "TILELOADD", b(0), simd.Tile(6))
		simd.Emit(c, t.dot, simd.Tile(6), simd.Tile(4), simd.Tile(0))
		simd.Emit(c, "TILELOADD", b(1), simd.Tile(7))
		simd.Emit(c, t.dot, simd.Tile(7), simd.Tile(4), simd.Tile(1))
		simd.Emit(c, "TILELOADD", a(1), simd.Tile(5))
		simd.Emit(c, t.dot, simd.Tile(6), simd.Tile(5), simd.Tile(2))
		simd.Emit(c, t.dot, simd.Tile(7), simd.Tile(5), simd.Tile(3))
		fetchAhead(c)
		// Four of the 32 rows of the next tile of C a step: they are 64 lines, more
		// than the core can ask for at once.
		c.LEAQ(Mem{Base: next, Index: regLDO, Scale: 2}, regTemp)
		for _, r := range []reg.GPPhysical{next, regTemp} {
			for line := range 2 {
				c.PREFETCHT0(Mem{Base: r, Disp: 64 * line})
				c.PREFETCHT0(Mem{Base: r, Index: regLDO, Scale: 1, Disp: 64 * line})
			}
		}
		c.LEAQ(Mem{Base: next, Index: regLDO, Scale: 4}, next)
		c.ADDQ(U32(2048), regA)
		c.ADDQ(U32(2048), regB)
		c.DECQ(regSteps)
		c.JNZ(LabelRef("step"))

		c.MOVQ(regLDO, regTemp)
		c.SHLQ(Imm(4), regTemp)
		c.ADDQ(regOut, regTemp)
		for i := range 4 {
			rows := []reg.GPPhysical{regOut, regTemp}[i/2]
			simd.Emit(c, "TILESTORED", simd.Tile(i), Mem{Base: rows, Index: regLDO, Scale: 1, Disp: i % 2 * 64})
		}
	})
	simd.Emit(c, "TILERELEASE")
	c.RET()
}

// peak repeats acc += A*B on four tiles: 4 x 16 cycles hide the latency of 52.
func (t tiled) peak(c *build.Context) {
	const accs = 4
	function(c, "peak"+camel(t.dtype)+"AMX", peakSignature)
	setUp(c)
	n, ld, from := reg.RCX, reg.R10, reg.RSI
	c.MOVQ(U32(64), ld)
	at := func(p string, i int) Mem {
		c.Load(c.Param(p), from)
		return Mem{Base: from, Index: ld, Scale: 1, Disp: i * 1024}
	}
	for i := range accs {
		simd.Emit(c, "TILELOADD", at("from", i), simd.Tile(i))
	}
	simd.Emit(c, "TILELOADD", at("a", 0), simd.Tile(4))
	simd.Emit(c, "TILELOADD", at("b", 0), simd.Tile(6))
	c.Load(c.Param("n"), n)
	c.Label("dot")
	for i := range accs {
		simd.Emit(c, t.dot, simd.Tile(6), simd.Tile(4), simd.Tile(i))
	}
	c.DECQ(n)
	c.JNZ(LabelRef("dot"))
	for i := range accs {
		simd.Emit(c, "TILESTORED", simd.Tile(i), at("to", i))
	}
	simd.Emit(c, "TILERELEASE")
	c.RET()
}

// peakSignature: n iterations on the accumulators in from, which end in to.
const peakSignature = "func(n int, from, to, a, b *byte)"
