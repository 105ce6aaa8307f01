package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

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
	a := func(i int) Mem { return Mem{Base: regA, Index: regLine, Scale: 1, Disp: i * tileBytes} }
	if l.rows {
		l.MOVQ(regRows, regTemp)
		l.SHLQ(Imm(4), regTemp)
		l.ADDQ(regA, regTemp)
		a = func(i int) Mem { return Mem{Base: []reg.GPPhysical{regA, regTemp}[i], Index: regRows, Scale: 1} }
	}
	b := func(j int) Mem { return Mem{Base: regB, Index: regLine, Scale: 1, Disp: j * tileBytes} }
	simd.Emit(l.Context, "TILELOADDT1", b(0), simd.Tile(6))
	simd.Emit(l.Context, "TILELOADD", a(0), simd.Tile(4))
	simd.Emit(l.Context, "TILELOADDT1", b(1), simd.Tile(7))
	simd.Emit(l.Context, "TILELOADD", a(1), simd.Tile(5))
	simd.Emit(l.Context, l.dot, simd.Tile(6), simd.Tile(4), simd.Tile(0))
	simd.Emit(l.Context, l.dot, simd.Tile(7), simd.Tile(4), simd.Tile(1))
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

// byTheWay stores finished tiles to spare, which stays in L1. During the steps of the next tile,
// vectors add to them the old sums, in acc, and write them to out, two rows a step. Tile loads from
// L2 and tile stores to it would stall all that follows: 1450 instead of 1870 GFLOPS.
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
