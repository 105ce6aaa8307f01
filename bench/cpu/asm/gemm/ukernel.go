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
	// they are a distance apart, and have one mask, or none without masks.
	taps bool
	// near says that B is in L2 at the farthest, and that lines a distance apart are all
	// that there is to fetch from far.
	near bool
	// pairs says that an element of A and of B is a pair of bf16, one behind the other in k, whose products are
	// added at once.
	pairs bool
	// rounds says that C is in bf16, and the residual. Sums that are not complete are in fp32, in rows as long as the
	// widest tile, and are added from there: see tileRow.
	rounds bool
}

// bytesC is the size of an element of C.
func (u ukernel) bytesC() int {
	if u.rounds {
		return 2
	}
	return u.size
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

// sets is how many partial sums a low tile has of each element, which take the steps in turn:
// two units want eight sums whose FMA do not wait for each other. With AVX-512 a step brings
// twice as many bytes meanwhile, and what such tiles wait for is memory.
func (u ukernel) sets(rows, vecs int) int {
	if u.masked() {
		return 1
	}
	n := 1
	for n < 4 && rows*vecs*2*n <= 12 {
		n *= 2
	}
	return n
}

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
	// near kernel has but the address of lines to fetch, and their distance.
	regSource, regLDS, regFar = regAt, regNext, regCount
	regStep                   = regNext
	// Or its rows have places and masks.
	regPlaces, regMasks = regNext, regCount
	regTemp, regTemp2   = reg.R11, reg.R14
	// Elements of B that there are; the others are 0.
	maskSource = []reg.OpmaskPhysical{reg.K3, reg.K4}
)

func (u ukernel) emit(c *build.Context) {
	params := "rows, cols, k int, a, b, c *T, ldc int, add bool, next *T, "
	end := "bias, residual *T, floor T, "
	tile := fmt.Sprintf("Ukr%dx%d", u.mr, u.vecs*u.lanes())
	if u.rounds {
		params = "rows, cols, k int, a, b *T, c *uint16, ldc int, add bool, next *uint16, "
		end = "bias *T, residual *uint16, floor T, "
		tile = "Rounding" + tile
	}
	switch {
	case u.taps:
		u.function(c, "Taps"+tile, params+end+"src *T, at int, places, masks *int")
	case u.packs:
		u.function(c, "Pack"+tile, params+end+"src *T, lds, at, far, mask int")
	case u.near:
		u.function(c, "Near"+tile, params+end+"far *T, step int")
	default:
		u.function(c, tile, params+"fetch *byte")
	}
	c.Load(c.Param("rows"), regRow)
	c.Load(c.Param("cols"), regCols)
	c.Load(c.Param("b"), regB)
	c.Load(c.Param("c"), regC)
	c.Load(c.Param("ldc"), regLDC)
	c.SHLQ(Imm(uint64(log2(u.bytesC()))), regLDC)
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
		if u.masked() {
			c.Load(c.Param("mask"), regTemp)
			c.KMOVQ(regTemp, maskSource[0])
			c.KSHIFTRQ(Imm(uint64(u.lanes())), maskSource[0], maskSource[1])
		}
	}
	if u.near {
		c.Load(c.Param("far"), regAt)
		u.elements(c, "step", regStep)
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
	c.LEAQ(Mem{Base: regC, Disp: nr * u.bytesC()}, regC2)
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
	c.ADDQ(U32(nr*u.bytesC()), regC)
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

func log2(n int) int {
	l := 0
	for 1<<l < n {
		l++
	}
	return l
}

// masked says whether a store of part of a vector is as cheap as a whole one.
func (t target) masked() bool { return t.Name == simd.AVX512.Name }
