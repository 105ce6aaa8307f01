package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hwcal/bench/cpu/asm/simd"
)

// ukernel is a micro-kernel: it keeps an mr x (vecs vectors) tile of C in
// registers. Per step of k it loads vecs vectors of B and broadcasts each of
// the mr elements of A once. One call computes a row of tiles.
type ukernel struct {
	target
	mr, vecs int
	unroll   int // steps of k in the body of the loop, a power of two
	// packs says that B is read from a matrix and packed on the way: the stores
	// cost nothing beside the FMA. Such a kernel computes one tile. Both it and a near one
	// have an epilogue.
	packs bool
	// taps says that each row of B that is packed has a place and a mask of its own. Else
	// they are a distance apart, and have one mask.
	taps bool
	// near says that B is in L2 at the farthest, and that one run of lines from far is
	// all that there is to fetch.
	near bool
}

// tile is the largest tile whose accumulators leave room for one step of B and
// two broadcasts: 28 + 2 + 2 of 32 registers, or 12 + 2 + 2 of 16.
//
// A step of 14x2 vectors takes 14 cycles, as two units do 28 FMA, or 56 slots of
// the front end. Loads, broadcasts, FMA and prefetches of B take 46, and what is
// spread over the unrolled steps (below) less than 6 more. Four steps are less than
// 210 instructions: with eight or sixteen the loop is 3 to 6% slower on Skylake-SP, most
// of all while a neighbour has half of the cache of decoded instructions. A step of
// 6x2 vectors has 24 slots for the 20 instructions: it can spare fewer for the loop.
func tile(t target) ukernel {
	if t.masked() {
		return ukernel{target: t, mr: 14, vecs: 2, unroll: 4}
	}
	return ukernel{target: t, mr: 6, vecs: 2, unroll: 8}
}

// Prefetch distances in steps of k: far enough to hide the L2 cache.
const aheadA, aheadB = 32, 8

// streams says that B is read once: more rows than a tile has become several panels, of
// half as many rows each at the least. What comes next is then what comes far ahead, and is
// fetched as that.
func (u ukernel) streams(rows int) bool { return u.fetches() && rows < u.mr/2 }

// farB is how many bytes ahead B is fetched, of which a step takes bytesB. For a low
// tile it may come from memory, as few others use it, and it is used soon.
func (u ukernel) farB(rows, bytesB int) int {
	if rows < u.mr && u.fetches() {
		return 12 << 10
	}
	return aheadB * bytesB
}

// stepsPerLine is the number of steps for each line that is fetched from far.
const stepsPerLine = 4

var (
	regA, regB, regC, regLDC = reg.RSI, reg.RDX, reg.RBX, reg.RCX
	regCols                  = reg.R9
	regLoop, regEvery        = reg.R8, reg.RDI
	regRow                   = reg.R10
	regC2                    = reg.R12
	// The lines to fetch: address, count, and the run that follows.
	regAt, regCount, regNext = reg.R13, reg.RAX, reg.R15
	// Or the matrix B to pack: address, distance of rows, and distance to fetch at. A
	// near kernel has but the address of lines to fetch.
	regSource, regLDS, regFar = regAt, regNext, regCount
	// Or its rows have places and masks.
	regPlaces, regMasks = regNext, regCount
	regTemp, regTemp2   = reg.R11, reg.R14
	// Elements of B that there are; the others are 0.
	maskSource = []reg.OpmaskPhysical{reg.K3, reg.K4}
)

func (u ukernel) emit(c *build.Context) {
	const params = "rows, cols, k int, a, b, c *T, ldc int, add bool, next *T, "
	tile := fmt.Sprintf("Ukr%dx%d", u.mr, u.vecs*u.lanes())
	switch {
	case u.taps:
		u.function(c, "Taps"+tile, params+"bias, residual *T, floor T, src *T, at int, places, masks *int")
	case u.packs:
		u.function(c, "Pack"+tile, params+"bias, residual *T, floor T, src *T, lds, at, far, mask int")
	case u.near:
		u.function(c, "Near"+tile, params+"bias, residual *T, floor T, far *T")
	default:
		u.function(c, tile, params+"fetch *byte")
	}
	c.Load(c.Param("rows"), regRow)
	c.Load(c.Param("cols"), regCols)
	c.Load(c.Param("b"), regB)
	c.Load(c.Param("c"), regC)
	u.elements(c, "ldc", regLDC)
	if u.packs {
		c.Load(c.Param("src"), regSource)
		u.elements(c, "at", regTemp)
		c.ADDQ(regTemp, regSource)
	}
	switch {
	case u.taps:
		c.Load(c.Param("places"), regPlaces)
		c.Load(c.Param("masks"), regMasks)
	case u.packs:
		u.elements(c, "lds", regLDS)
		u.elements(c, "far", regFar)
		c.Load(c.Param("mask"), regTemp)
		c.KMOVQ(regTemp, maskSource[0])
		c.KSHIFTRQ(Imm(uint64(u.lanes())), maskSource[0], maskSource[1])
	}
	if u.near {
		c.Load(c.Param("far"), regAt)
	}
	if u.fetches() {
		u.loadRun(c)
	}
	for m := u.mr; m > 1; m-- {
		c.CMPQ(regRow, Imm(uint64(m)))
		c.JEQ(LabelRef(fmt.Sprintf("row%d", m)))
	}
	for m := 1; m <= u.mr; m++ {
		u.emitRow(c, m)
	}
	c.Label("done")
	if u.fetches() {
		u.storeRun(c)
	}
	c.VZEROUPPER()
	c.RET()
}

// fetches says that there is a list of what to fetch from far.
func (u ukernel) fetches() bool { return !u.packs && !u.near }

// param is the place of a parameter in memory.
func param(c *build.Context, name string) Mem {
	b, err := c.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// emitRow writes the loop over the tiles of one height.
func (u ukernel) emitRow(c *build.Context, rows int) {
	at := func(s string) string { return fmt.Sprintf("%s%d", s, rows) }
	nr := u.vecs * u.lanes()
	c.Label(at("row"))
	if u.masked() {
		// The masks are full until the last tile.
		c.KXNORQ(reg.K1, reg.K1, reg.K1)
		c.KXNORQ(reg.K2, reg.K2, reg.K2)
	}
	c.Label(at("tile"))
	// The tile that follows: on the right, or the first of the next row.
	c.LEAQ(Mem{Base: regC, Disp: u.vecs * u.Bytes}, regC2)
	c.CMPQ(regCols, U32(nr))
	c.CMOVQLE(param(c, "next"), regC2)
	if u.masked() {
		c.JGE(LabelRef(at("whole")))
		c.MOVQ(I32(-1), regTemp)
		c.CMPQ(regCols, U32(u.lanes()))
		c.JLE(LabelRef(at("half")))
		c.LEAQ(Mem{Base: regCols, Disp: -u.lanes()}, regTemp2)
		c.BZHIQ(regTemp2, regTemp, regTemp)
		c.KMOVQ(regTemp, reg.K2)
		c.Label(at("whole"))
	} else {
		c.JL(LabelRef(at("half")))
	}
	u.emitTile(c, rows, 2)
	c.ADDQ(U32(u.vecs*u.Bytes), regC)
	c.SUBQ(U32(nr), regCols)
	c.JG(LabelRef(at("tile")))
	c.JMP(LabelRef("done"))
	c.Label(at("half"))
	if u.masked() {
		c.BZHIQ(regCols, regTemp, regTemp)
		c.KMOVQ(regTemp, reg.K1)
	}
	u.emitTile(c, rows, 1)
	c.JMP(LabelRef("done"))
}

// emitTile writes one tile of rows x vecs.
func (u ukernel) emitTile(c *build.Context, rows, vecs int) {
	at := func(s string) string { return fmt.Sprintf("%s%dx%d", s, rows, vecs) }
	acc := func(i, j int) reg.VecPhysical { return u.V(i*vecs + j) }
	used := rows * vecs
	b := func(j int) reg.VecPhysical { return u.V(used + j) }
	spare := min(u.Regs-used-vecs, 4)
	a := func(i int) reg.VecPhysical { return u.V(used + vecs + i%spare) }
	mask := []reg.OpmaskPhysical{reg.K1, reg.K2}
	present := []reg.OpmaskPhysical{reg.K5, reg.K6}
	if u.packs && !u.taps {
		for j := range vecs {
			c.KANDQ(mask[j], maskSource[j], present[j])
		}
	}

	// With one vector of B a separate broadcast would take a slot of its own for
	// every FMA, more than the front end delivers. With two, a row that is broadcast
	// within its FMA would save a slot and cost a load.
	embed := pick(u.target, c.VFMADD231PS_BCST, c.VFMADD231PD_BCST)
	embedded := u.Bytes == 64 && vecs == 1
	broadcast := pick(u.target, c.VBROADCASTSS, c.VBROADCASTSD)
	fma := pick(u.target, c.VFMADD231PS, c.VFMADD231PD)
	load := pick(u.target, c.VMOVUPS, c.VMOVUPD)
	loadMasked := pick(u.target, c.VMOVUPS_Z, c.VMOVUPD_Z)

	// C waits in L2, where the tile before has fetched it.
	c.MOVB(param(c, "add"), regTemp.As8())
	c.TESTB(regTemp.As8(), regTemp.As8())
	c.JZ(LabelRef(at("zero")))
	c.MOVQ(regC, regTemp)
	for i := range rows {
		for j := range vecs {
			from := Mem{Base: regTemp, Disp: j * u.Bytes}
			if u.masked() {
				loadMasked(from, mask[j], acc(i, j))
			} else {
				load(from, acc(i, j))
			}
		}
		if i < rows-1 {
			c.ADDQ(regLDC, regTemp)
		}
	}
	c.JMP(LabelRef(at("multiply")))
	c.Label(at("zero"))
	if !u.fetches() {
		c.MOVQ(param(c, "bias"), regTemp)
		c.TESTQ(regTemp, regTemp)
		c.JZ(LabelRef(at("nobias")))
		for i := range rows {
			for j := range vecs {
				broadcast(Mem{Base: regTemp, Disp: i * u.size}, acc(i, j))
			}
		}
		c.JMP(LabelRef(at("multiply")))
		c.Label(at("nobias"))
	}
	for i := range used {
		if r := u.V(i); u.Bytes == 64 {
			c.VPXORD(r, r, r)
		} else {
			c.VXORPS(r, r, r)
		}
	}
	c.Label(at("multiply"))

	step := func(n int) {
		if u.taps {
			c.MOVQ(Mem{Base: regPlaces, Disp: 8 * n}, regTemp)
		}
		for j := range vecs {
			at := Mem{Base: regB, Disp: (n*vecs + j) * u.Bytes}
			if !u.packs {
				load(at, b(j))
				continue
			}
			if u.taps {
				c.KMOVW(Mem{Base: regMasks, Disp: 8*n + j*u.lanes()/8}, present[j])
				loadMasked(Mem{Base: regSource, Index: regTemp, Scale: uint8(u.size), Disp: j * u.Bytes}, present[j], b(j))
				load(b(j), at)
				continue
			}
			loadMasked(Mem{Base: regSource, Disp: j * u.Bytes}, present[j], b(j))
			load(b(j), at)
			// From L2, and from beyond.
			c.PREFETCHT0(Mem{Base: regSource, Index: regLDS, Scale: 8, Disp: j * u.Bytes})
			c.PREFETCHT1(Mem{Base: regSource, Index: regFar, Scale: 1, Disp: j * u.Bytes})
		}
		if u.packs && !u.taps {
			c.ADDQ(regLDS, regSource)
		}
		for i := range rows {
			if embedded {
				for j := range vecs {
					embed(Mem{Base: regA, Disp: (n*rows + i) * u.size}, b(j), acc(i, j))
				}
				continue
			}
			broadcast(Mem{Base: regA, Disp: (n*rows + i) * u.size}, a(i))
			for j := range vecs {
				fma(b(j), a(i), acc(i, j))
			}
		}
	}
	bytesA, bytesB := rows*u.size, vecs*u.Bytes // of one step
	body := func() {
		for n := range u.unroll {
			for line := 0; line < bytesB && !u.packs; line += 64 {
				if off := n*bytesB + line; off%64 == 0 {
					c.PREFETCHT0(Mem{Base: regB, Disp: u.farB(rows, bytesB) + off})
				}
			}
			if lines := (u.unroll*bytesA + 63) / 64; n < lines {
				c.PREFETCHT0(Mem{Base: regA, Disp: aheadA*bytesA + n*64})
			}
			step(n)
		}
		if !u.packs && !u.streams(rows) {
			for line := range u.unroll / stepsPerLine {
				c.PREFETCHT1(Mem{Base: regAt, Disp: line * 64})
			}
			c.ADDQ(U32(u.unroll/stepsPerLine*64), regAt)
		}
		if u.fetches() && !u.streams(rows) {
			c.MOVQ(Mem{Base: regNext}, regTemp)
			c.MOVQ(Mem{Base: regNext, Disp: 8}, regTemp2)
			c.SUBQ(U32(u.unroll/stepsPerLine), regCount)
			c.CMOVQLE(regTemp, regAt)
			c.CMOVQLE(regTemp2, regCount)
			c.CMOVQLE(Mem{Base: regNext, Disp: 16}, regNext)
		}
		c.ADDQ(U32(u.unroll*bytesA), regA)
		c.ADDQ(U32(u.unroll*bytesB), regB)
		u.nextTaps(c, u.unroll)
	}
	// A row of the next C is fetched every few passes: the lines come from far, and
	// there are few buffers for lines on their way.
	c.Load(c.Param("a"), regA)
	c.Load(c.Param("k"), regLoop)
	c.SHRQ(Imm(uint64(log2(u.unroll))), regLoop)
	c.IMUL3Q(U32((1<<16)/rows), regLoop, regEvery)
	c.SHRQ(Imm(16), regEvery)
	c.IMUL3Q(U32(rows), regEvery, regTemp)
	c.SUBQ(regTemp, regLoop)
	c.JZ(LabelRef(at("rows")))
	c.Label(at("rest"))
	body()
	c.DECQ(regLoop)
	c.JNZ(LabelRef(at("rest")))
	c.Label(at("rows"))
	c.TESTQ(regEvery, regEvery)
	c.JZ(LabelRef(at("tail")))
	c.MOVQ(U32(rows), regRow)
	c.Label(at("every"))
	for line := 0; line < bytesB; line += 64 {
		c.PREFETCHT0(Mem{Base: regC2, Disp: line})
	}
	c.ADDQ(regLDC, regC2)
	c.MOVQ(regEvery, regLoop)
	c.Label(at("loop"))
	body()
	c.DECQ(regLoop)
	c.JNZ(LabelRef(at("loop")))
	c.DECQ(regRow)
	c.JNZ(LabelRef(at("every")))

	c.Label(at("tail"))
	c.Load(c.Param("k"), regLoop)
	c.ANDQ(Imm(uint64(u.unroll-1)), regLoop)
	c.JZ(LabelRef(at("store")))
	c.Label(at("one"))
	step(0)
	c.ADDQ(U32(bytesA), regA)
	c.ADDQ(U32(bytesB), regB)
	u.nextTaps(c, 1)
	c.DECQ(regLoop)
	c.JNZ(LabelRef(at("one")))

	c.Label(at("store"))
	if !u.fetches() {
		u.epilogue(c, at, rows, vecs, mask, acc)
	}
	c.MOVQ(regC, regTemp)
	for i := range rows {
		for j := range vecs {
			to := Mem{Base: regTemp, Disp: j * u.Bytes}
			if u.masked() {
				load(acc(i, j), mask[j], to)
			} else {
				load(acc(i, j), to)
			}
		}
		if i < rows-1 {
			c.ADDQ(regLDC, regTemp)
		}
	}
}

// nextTaps goes on by so many steps.
func (u ukernel) nextTaps(c *build.Context, steps int) {
	if u.taps {
		c.ADDQ(Imm(uint64(8*steps)), regPlaces)
		c.ADDQ(Imm(uint64(8*steps)), regMasks)
	}
}

func log2(n int) int {
	l := 0
	for 1<<l < n {
		l++
	}
	return l
}

// masked says whether a store of part of a vector is as cheap as a whole one.
func (t target) masked() bool { return t.Name == simd.AVX512.Name }
