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
//
// Tiles are stored to spare, which stays in L1, and go from there to out by vectors, two
// rows a step of the tile that follows, with what they are added to. Tiles that are
// loaded from L2 and stored there themselves hold up all that follows: 1450 instead of
// 1870 GFLOPS.
func (t tiled) block(c *build.Context) {
	function(c, t.dtype+"gemmBlockAMX", blockSignature)
	var (
		ldA, ldB = reg.R10, reg.R11
		row      = reg.R12 // of spare, the next to go
		addend   = reg.RDI // of that row
		to       = reg.RBX // where it goes
		// Parameters that are in registers, or not used, leave their place to what changes
		// less often.
		left, acc, skip, end = param(c, "rows"), param(c, "acc"), param(c, "aheadA"), param(c, "aheadB")
	)
	setUp(c)
	c.Load(c.Param("a"), regPanel)
	c.Load(c.Param("ldo"), regLDO)
	c.Load(c.Param("aheadA"), regAheadA)
	c.Load(c.Param("aheadB"), regAheadB)
	c.MOVQ(U32(64), ldA)
	c.MOVQ(U32(128), ldB)
	c.Load(c.Param("spare"), row)
	c.ADDQ(U32(spareBytes), row)
	c.MOVQ(row, end) // nothing is left to go
	c.XORQ(regTemp, regTemp)
	c.CMPB(param(c, "load"), Imm(0))
	c.CMOVQNE(ldB, regTemp)
	c.MOVQ(regTemp, skip)

	copyRows := func() {
		c.MOVQ(skip, regTemp)
		z := []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3}
		at := func(base, ld reg.Register, i int) Mem {
			m := Mem{Base: base, Disp: i % 2 * 64}
			if i >= 2 {
				m.Index, m.Scale = ld, 1
			}
			return m
		}
		for i, v := range z {
			c.VMOVUPS(Mem{Base: row, Disp: 64 * i}, v)
		}
		for i, v := range z {
			if t.dtype == "int8" {
				c.VPADDD(at(addend, regTemp, i), v, v)
			} else {
				c.VADDPS(at(addend, regTemp, i), v, v)
			}
		}
		for i, v := range z {
			c.VMOVUPS(v, at(to, regLDO, i))
		}
		c.ADDQ(U32(256), row)
		c.LEAQ(Mem{Base: addend, Index: regTemp, Scale: 2}, addend)
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
	a := func(i int) Mem { return Mem{Base: regA, Index: ldA, Scale: 1, Disp: i * 1024} }
	b := func(j int) Mem { return Mem{Base: regB, Index: ldB, Scale: 1, Disp: j * 64} }

	c.Label("row")
	c.Load(c.Param("b"), regB)
	c.Load(c.Param("out"), regOut)
	c.Load(c.Param("panelsB"), regTemp)
	c.MOVQ(regTemp, left)
	c.Label("tile")
	c.MOVQ(regPanel, regA)
	c.Load(c.Param("steps"), regSteps)
	for i := range 4 {
		simd.Emit(c, "TILEZERO", simd.Tile(i))
	}
	c.Label("step")
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
	c.CMPQ(row, end)
	c.JGE(LabelRef("gone"))
	copyRows()
	c.Label("gone")
	c.DECQ(regSteps)
	c.JNZ(LabelRef("step"))

	drain("rest")
	c.Load(c.Param("spare"), row)
	for i := range 4 {
		simd.Emit(c, "TILESTORED", simd.Tile(i), Mem{Base: row, Index: ldB, Scale: 1, Disp: i/2*2048 + i%2*64})
	}
	c.MOVQ(regOut, to)
	c.MOVQ(acc, addend)
	c.ADDQ(U32(spareBytes), acc)
	zero(c, addend)
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

// zero lets addend be a row of zeros where nothing is added.
func zero(c *build.Context, addend reg.Register) {
	c.LEAQ(NewDataAddr(Symbol{Name: noAddend, Static: true}, 0), regTemp)
	c.CMPB(param(c, "load"), Imm(0))
	c.CMOVQEQ(regTemp, addend)
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
