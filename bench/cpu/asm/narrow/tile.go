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
func (t tiled) block(c *build.Context) {
	function(c, t.dtype+"gemmBlockAMX", blockSignature)
	setUp(c)
	c.MOVQ(U32(64), regLine)
	c.CMPQ(param(c, "steps"), Imm(shortSteps))
	c.JLE(LabelRef("short"))
	t.longBlock(c)
	c.Label("short")
	t.shortBlock(c)
}

// shortSteps are too few for rows of a tile to go by the way.
const shortSteps = 8

// regLine holds the length of a row of a tile of A; one of B, and of C in acc and in spare, has two.
var regLine = reg.R10

// tileOf is tile i of the 2x2 at base, whose rows have two lines each.
func tileOf(base reg.Register, i int) Mem {
	return Mem{Base: base, Index: regLine, Scale: 2, Disp: i/2*2048 + i%2*64}
}

// step multiplies tiles of A and B into those of C.
func (t tiled) step(c *build.Context) {
	a := func(i int) Mem { return Mem{Base: regA, Index: regLine, Scale: 1, Disp: i * 1024} }
	b := func(j int) Mem { return Mem{Base: regB, Index: regLine, Scale: 2, Disp: j * 64} }
	simd.Emit(c, "TILELOADD", a(0), simd.Tile(4))
	simd.Emit(c, "TILELOADDT1", b(0), simd.Tile(6))
	simd.Emit(c, t.dot, simd.Tile(6), simd.Tile(4), simd.Tile(0))
	simd.Emit(c, "TILELOADDT1", b(1), simd.Tile(7))
	simd.Emit(c, t.dot, simd.Tile(7), simd.Tile(4), simd.Tile(1))
	simd.Emit(c, "TILELOADD", a(1), simd.Tile(5))
	simd.Emit(c, t.dot, simd.Tile(6), simd.Tile(5), simd.Tile(2))
	simd.Emit(c, t.dot, simd.Tile(7), simd.Tile(5), simd.Tile(3))
	c.ADDQ(U32(2048), regA)
	c.ADDQ(U32(2048), regB)
	fetchAhead(c)
}

func zeroTiles(c *build.Context) {
	for i := range 4 {
		simd.Emit(c, "TILEZERO", simd.Tile(i))
	}
}

// shortBlock loads tiles from acc and stores them to out.
func (t tiled) shortBlock(c *build.Context) {
	next := reg.R12 // rows of the next tile of C
	loadBlock(c)
	blockLoops(c, "short", 4096, func() {
		c.Load(c.Param("nextTile"), next)
		c.ADDQ(regOut, next)
		c.CMPB(param(c, "load"), Imm(0))
		c.JEQ(LabelRef("zero"))
		for i := range 4 {
			simd.Emit(c, "TILELOADDT1", tileOf(regAcc, i), simd.Tile(i))
		}
		c.JMP(LabelRef("shortstep"))
		c.Label("zero")
		zeroTiles(c)
		c.Label("shortstep")
		t.step(c)
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
		c.DECQ(regSteps)
		c.JNZ(LabelRef("shortstep"))

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

// longBlock stores tiles to spare, which stays in L1. From there they go to out by vectors, two
// rows a step of the tile that follows, with what they are added to. Tiles that are
// loaded from L2 and stored there themselves hold up all that follows: 1450 instead of
// 1870 GFLOPS.
func (t tiled) longBlock(c *build.Context) {
	var (
		row    = reg.R12 // of spare, the next to go
		addend = reg.RDI // of that row
		skip   = reg.R11 // between its rows
		to     = reg.RBX // where it goes
		// Parameters that are in registers, or not used, leave their place to what changes
		// less often.
		left, acc, end = param(c, "rows"), param(c, "acc"), param(c, "aheadA")
	)
	c.Load(c.Param("a"), regPanel)
	c.Load(c.Param("ldo"), regLDO)
	c.Load(c.Param("aheadA"), regAheadA)
	c.Load(c.Param("aheadB"), regAheadB)
	c.Load(c.Param("spare"), row)
	c.ADDQ(U32(spareBytes), row)
	c.MOVQ(row, end) // nothing is left to go
	c.XORQ(skip, skip)
	c.CMPB(param(c, "load"), Imm(0))
	c.JEQ(LabelRef("row"))
	c.MOVQ(U32(128), skip)

	twoRows := func(base, ld reg.Register, i int) Mem {
		m := Mem{Base: base, Disp: i % 2 * 64}
		if i >= 2 {
			m.Index, m.Scale = ld, 1
		}
		return m
	}
	copyRows := func() {
		for i := range 4 {
			c.VMOVUPS(Mem{Base: row, Disp: 64 * i}, simd.AVX512.V(i))
		}
		for i := range 4 {
			v := simd.AVX512.V(i)
			if t.dtype == "int8" {
				c.VPADDD(twoRows(addend, skip, i), v, v)
			} else {
				c.VADDPS(twoRows(addend, skip, i), v, v)
			}
		}
		for i := range 4 {
			c.VMOVUPS(simd.AVX512.V(i), twoRows(to, regLDO, i))
		}
		c.ADDQ(U32(256), row)
		c.LEAQ(Mem{Base: addend, Index: skip, Scale: 2}, addend)
		c.LEAQ(Mem{Base: to, Index: regLDO, Scale: 2}, to)
	}
	drain := func(name string) {
		c.JMP(LabelRef(name + "test"))
		c.Label(name)
		copyRows()
		c.Label(name + "test")
		c.CMPQ(row, end)
		c.JLT(LabelRef(name))
	}

	c.Label("row")
	c.Load(c.Param("b"), regB)
	c.Load(c.Param("out"), regOut)
	c.Load(c.Param("panelsB"), regTemp)
	c.MOVQ(regTemp, left)
	c.Label("tile")
	c.MOVQ(regPanel, regA)
	c.Load(c.Param("steps"), regSteps)
	zeroTiles(c)
	c.Label("step")
	t.step(c)
	c.CMPQ(row, end)
	c.JGE(LabelRef("gone"))
	copyRows()
	c.Label("gone")
	c.DECQ(regSteps)
	c.JNZ(LabelRef("step"))

	drain("rest")
	c.Load(c.Param("spare"), row)
	for i := range 4 {
		simd.Emit(c, "TILESTORED", simd.Tile(i), tileOf(row, i))
	}
	c.MOVQ(regOut, to)
	c.MOVQ(acc, addend)
	c.ADDQ(U32(spareBytes), acc)
	c.LEAQ(NewDataAddr(Symbol{Name: noAddend, Static: true}, 0), regTemp)
	c.TESTQ(skip, skip)
	c.CMOVQEQ(regTemp, addend)
	c.ADDQ(param(c, "nextTile"), regOut)
	c.ADDQ(param(c, "nextA"), regAheadA)
	c.ADDQ(param(c, "nextB"), regAheadB)
	c.DECQ(left)
	c.JNZ(LabelRef("tile"))
	nextPanel(c)
	c.Load(c.Param("accSkip"), regTemp)
	c.ADDQ(regTemp, acc)
	c.Load(c.Param("nextRow"), regTemp)
	c.ADDQ(regTemp, param(c, "out"))
	c.DECQ(param(c, "panelsA"))
	c.JNZ(LabelRef("row"))
	drain("last")
	simd.Emit(c, "TILERELEASE")
	c.VZEROUPPER()
	c.RET()
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
