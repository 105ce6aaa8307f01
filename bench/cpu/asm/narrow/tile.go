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

// tileLoops are the loops of a kernel. A is packed, or rows as they come.
type tileLoops struct {
	tiled
	*build.Context
	name string
	rows bool
}

// regRows is the distance of rows of A as they come.
var regRows = regAheadA

func (l tileLoops) label(name string) string { return l.name + name }

// begin loads what the loops move on.
func (l tileLoops) begin() {
	loadBlock(l.Context)
	if l.rows {
		l.Load(l.Param("lda"), regRows)
	}
}

// step multiplies tiles of A and B into those of C, and fetches what comes next. In rows that is what
// follows in them, if secondA is not 0.
func (l tileLoops) step() {
	a := func(i int) Mem { return Mem{Base: regA, Index: regLine, Scale: 1, Disp: i * 1024} }
	if l.rows {
		l.MOVQ(regRows, regTemp)
		l.SHLQ(Imm(4), regTemp)
		l.ADDQ(regA, regTemp)
		a = func(i int) Mem { return Mem{Base: []reg.GPPhysical{regA, regTemp}[i], Index: regRows, Scale: 1} }
	}
	b := func(j int) Mem { return Mem{Base: regB, Index: regLine, Scale: 2, Disp: j * 64} }
	simd.Emit(l.Context, "TILELOADD", a(0), simd.Tile(4))
	simd.Emit(l.Context, "TILELOADDT1", b(0), simd.Tile(6))
	simd.Emit(l.Context, l.dot, simd.Tile(6), simd.Tile(4), simd.Tile(0))
	simd.Emit(l.Context, "TILELOADDT1", b(1), simd.Tile(7))
	simd.Emit(l.Context, l.dot, simd.Tile(7), simd.Tile(4), simd.Tile(1))
	simd.Emit(l.Context, "TILELOADD", a(1), simd.Tile(5))
	simd.Emit(l.Context, l.dot, simd.Tile(6), simd.Tile(5), simd.Tile(2))
	simd.Emit(l.Context, l.dot, simd.Tile(7), simd.Tile(5), simd.Tile(3))
	l.ADDQ(U32(2048), regB)
	if !l.rows {
		l.ADDQ(U32(2048), regA)
		fetchAhead(l.Context, regAheadA, "secondA")
		fetchAhead(l.Context, regAheadB, "secondB")
		return
	}
	l.CMPQ(param(l.Context, "secondA"), Imm(0))
	l.JEQ(LabelRef(l.label("near")))
	const far = 8 * 64
	l.LEAQ(Mem{Base: regA, Disp: far}, regTemp)
	for range 16 {
		l.PREFETCHT1(Mem{Base: regTemp})
		l.PREFETCHT1(Mem{Base: regTemp, Index: regRows, Scale: 1})
		l.LEAQ(Mem{Base: regTemp, Index: regRows, Scale: 2}, regTemp)
	}
	l.Label(l.label("near"))
	l.ADDQ(U32(64), regA)
	fetchAhead(l.Context, regAheadB, "secondB")
}

func (l tileLoops) nextPanel() {
	if !l.rows {
		nextPanel(l.Context)
		return
	}
	l.SHLQ(Imm(5), regRows)
	l.ADDQ(regRows, regPanel)
	l.SHRQ(Imm(5), regRows)
}

func zeroTiles(c *build.Context) {
	for i := range 4 {
		simd.Emit(c, "TILEZERO", simd.Tile(i))
	}
}

// atOnce loads tiles from acc and stores them to out.
func (l tileLoops) atOnce() {
	next := reg.R12 // rows of the next tile of C
	l.begin()
	blockLoops(l.Context, l.name, spareBytes, func() {
		// The last tile of a row is followed by one of the next row, as what lies beside it is
		// another worker's.
		l.Load(l.Param("nextTile"), next)
		l.ADDQ(regOut, next)
		l.CMPQ(regTiles, Imm(1))
		l.JNE(LabelRef(l.label("fetch")))
		l.MOVQ(regOut, next)
		l.CMPQ(param(l.Context, "panelsA"), Imm(1))
		l.JEQ(LabelRef(l.label("fetch")))
		l.Load(l.Param("out"), next)
		l.ADDQ(param(l.Context, "nextRow"), next)
		l.Label(l.label("fetch"))
		l.CMPB(param(l.Context, "load"), Imm(0))
		l.JEQ(LabelRef(l.label("zero")))
		for i := range 4 {
			simd.Emit(l.Context, "TILELOADDT1", tileOf(regAcc, i), simd.Tile(i))
		}
		l.JMP(LabelRef(l.label("step")))
		l.Label(l.label("zero"))
		zeroTiles(l.Context)
		l.Label(l.label("step"))
		l.step()
		// Four of the 32 rows of the next tile of C a step: they are 64 lines, more
		// than the core can ask for at once.
		l.LEAQ(Mem{Base: next, Index: regLDO, Scale: 2}, regTemp)
		for _, r := range []reg.GPPhysical{next, regTemp} {
			for line := range 2 {
				l.PREFETCHT0(Mem{Base: r, Disp: 64 * line})
				l.PREFETCHT0(Mem{Base: r, Index: regLDO, Scale: 1, Disp: 64 * line})
			}
		}
		l.LEAQ(Mem{Base: next, Index: regLDO, Scale: 4}, next)
		l.DECQ(regSteps)
		l.JNZ(LabelRef(l.label("step")))

		l.MOVQ(regLDO, regTemp)
		l.SHLQ(Imm(4), regTemp)
		l.ADDQ(regOut, regTemp)
		for i := range 4 {
			rows := []reg.GPPhysical{regOut, regTemp}[i/2]
			simd.Emit(l.Context, "TILESTORED", simd.Tile(i), Mem{Base: rows, Index: regLDO, Scale: 1, Disp: i % 2 * 64})
		}
	}, l.nextPanel)
	simd.Emit(l.Context, "TILERELEASE")
	l.RET()
}

// byTheWay stores tiles to spare, which stays in L1. From there they go to out by vectors, two
// rows a step of the tile that follows, with what they are added to. Tiles that are
// loaded from L2 and stored there themselves hold up all that follows: 1450 instead of
// 1870 GFLOPS.
func (l tileLoops) byTheWay() {
	var (
		row    = reg.R12 // of spare, the next to go
		addend = reg.RDI // of that row
		skip   = reg.R11 // between its rows
		to     = reg.RBX // where it goes
		// Parameters that are in registers, or not used, leave their place to what changes
		// less often.
		left, acc, end = param(l.Context, "rows"), param(l.Context, "acc"), param(l.Context, "aheadA")
	)
	l.begin()
	l.Load(l.Param("spare"), row)
	l.ADDQ(U32(spareBytes), row)
	l.MOVQ(row, end) // nothing is left to go
	l.XORQ(skip, skip)
	l.CMPB(param(l.Context, "load"), Imm(0))
	l.JEQ(LabelRef(l.label("row")))
	l.MOVQ(U32(128), skip)

	twoRows := func(base, ld reg.Register, i int) Mem {
		m := Mem{Base: base, Disp: i % 2 * 64}
		if i >= 2 {
			m.Index, m.Scale = ld, 1
		}
		return m
	}
	copyRows := func() {
		for i := range 4 {
			l.VMOVUPS(Mem{Base: row, Disp: 64 * i}, simd.AVX512.V(i))
		}
		for i := range 4 {
			v := simd.AVX512.V(i)
			if l.dtype == "int8" {
				l.VPADDD(twoRows(addend, skip, i), v, v)
			} else {
				l.VADDPS(twoRows(addend, skip, i), v, v)
			}
		}
		for i := range 4 {
			l.VMOVUPS(simd.AVX512.V(i), twoRows(to, regLDO, i))
		}
		l.ADDQ(U32(256), row)
		l.LEAQ(Mem{Base: addend, Index: skip, Scale: 2}, addend)
		l.LEAQ(Mem{Base: to, Index: regLDO, Scale: 2}, to)
	}
	drain := func(name string) {
		l.JMP(LabelRef(l.label(name + "test")))
		l.Label(l.label(name))
		copyRows()
		l.Label(l.label(name + "test"))
		l.CMPQ(row, end)
		l.JLT(LabelRef(l.label(name)))
	}

	l.Label(l.label("row"))
	l.Load(l.Param("b"), regB)
	l.Load(l.Param("out"), regOut)
	l.Load(l.Param("panelsB"), regTemp)
	l.MOVQ(regTemp, left)
	l.Label(l.label("tile"))
	l.MOVQ(regPanel, regA)
	l.Load(l.Param("steps"), regSteps)
	zeroTiles(l.Context)
	l.Label(l.label("step"))
	l.step()
	l.CMPQ(row, end)
	l.JGE(LabelRef(l.label("gone")))
	copyRows()
	l.Label(l.label("gone"))
	l.DECQ(regSteps)
	l.JNZ(LabelRef(l.label("step")))

	drain("rest")
	l.Load(l.Param("spare"), row)
	for i := range 4 {
		simd.Emit(l.Context, "TILESTORED", simd.Tile(i), tileOf(row, i))
	}
	l.MOVQ(regOut, to)
	l.MOVQ(acc, addend)
	l.ADDQ(U32(spareBytes), acc)
	l.LEAQ(NewDataAddr(Symbol{Name: noAddend, Static: true}, 0), regTemp)
	l.TESTQ(skip, skip)
	l.CMOVQEQ(regTemp, addend)
	l.ADDQ(param(l.Context, "nextTile"), regOut)
	if !l.rows {
		l.ADDQ(param(l.Context, "nextA"), regAheadA)
	}
	l.ADDQ(param(l.Context, "nextB"), regAheadB)
	l.DECQ(left)
	l.JNZ(LabelRef(l.label("tile")))
	l.nextPanel()
	l.Load(l.Param("accSkip"), regTemp)
	l.ADDQ(regTemp, acc)
	l.Load(l.Param("nextRow"), regTemp)
	l.ADDQ(regTemp, param(l.Context, "out"))
	l.DECQ(param(l.Context, "panelsA"))
	l.JNZ(LabelRef(l.label("row")))
	drain("last")
	simd.Emit(l.Context, "TILERELEASE")
	l.VZEROUPPER()
	l.RET()
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
