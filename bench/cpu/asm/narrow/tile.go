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

const (
	tileRows  = 16
	tileBytes = tileRows * 64
)

// noAddend is a row of a tile of C without anything in it.
const noAddend = "noAddend"

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
	c.StaticGlobal(noAddend)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for at := 0; at < 128; at += 8 {
		c.AddDatum(at, U64(0))
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
// further than L2 is away. With the hint T1, what they load leaves L1 first, so that
// the panel of A stays there: on Sapphire Rapids 2424 instead of 2039 GFLOPS of bf16.
//
// A tile of B is 1 KiB in one piece, and all loads of a step come before what is multiplied, those of
// B first. There, a step takes 24.5 ns in bf16 so, 22.0 in int8; with the first load of A before that of
// B 28.9 and 26.3, and with a load right before its first use 26.4 and 23.8.
func (t tiled) block(c *build.Context) {
	function(c, t.dtype+"gemmBlockAMX", blockSignature)
	setUp(c)
	c.MOVQ(U32(64), regLine)
	c.CMPQ(param(c, "lda"), Imm(0))
	c.JNE(LabelRef("rows"))
	c.CMPQ(param(c, "steps"), Imm(shortSteps))
	c.JLE(LabelRef("short"))
	tileLoops{t, c, "long", false}.byTheWay()
	c.Label("short")
	tileLoops{t, c, "short", false}.atOnce()
	// Rows that come from memory hold up more than tiles of C do.
	c.Label("rows")
	c.CMPQ(param(c, "steps"), Imm(shortSteps))
	c.JLE(LabelRef("shortrows"))
	c.CMPQ(param(c, "secondA"), Imm(0))
	c.JNE(LabelRef("shortrows"))
	tileLoops{t, c, "longrows", true}.byTheWay()
	c.Label("shortrows")
	tileLoops{t, c, "shortrows", true}.atOnce()
}

// shortSteps are too few for rows of a tile to go by the way.
const shortSteps = 8

// regLine holds the length of a row of a tile of A; one of B, and of C in acc and in spare, has two.
var regLine = reg.R10

// tileOf is tile i of the 2x2 at base, whose rows have two lines each.
func tileOf(base reg.Register, i int) Mem {
	return Mem{Base: base, Index: regLine, Scale: 2, Disp: i/2*2048 + i%2*64}
}

// spareBytes is the size of 2x2 tiles.
const spareBytes = 4096

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
