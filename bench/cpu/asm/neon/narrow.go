package main

import (
	"fmt"
	"strings"
)

// narrow is an instruction that multiplies elements narrower than fp32, and the tile it fills: 6 rows
// of 16 columns, in fp16 of 32, which leaves 8 registers for A and B.
type narrow struct {
	dtype, op string
	matrix    bool // 2 rows of A by 2 columns of B; else a column of B in each lane by a row of A
}

var narrows = []narrow{
	{"int8", "smmla.4s", true},
	{"int8", "sdot.4s", false},
	{"bf16", "bfmmla.4s", true},
	{"bf16", "bfdot.4s", false},
	{"fp16", "fmla.8h", false},
}

const (
	narrowRows = 6
	step       = 64 // bytes of a row of A, and of k
	chunk      = 16 // of those, what a register holds
)

func (t narrow) halves() bool { return t.dtype == "fp16" }

// row is the bytes of a row of sums in a tile.
func (t narrow) row() int {
	if t.halves() {
		return 128
	}
	return 64
}

// unit is the name of the instruction; that of halves has many types.
func (t narrow) unit() string {
	if t.halves() {
		return "fp16"
	}
	name, _, _ := strings.Cut(t.op, ".")
	return name
}

func (t narrow) file() string {
	return fmt.Sprintf("%sgemm_ukr_%dx%d_neon_%s", t.dtype, narrowRows, t.row()/4, t.unit())
}

func (t narrow) emit(f *file) {
	f.function(fmt.Sprintf("%sgemmTile%dx%dNEON%s", t.dtype, narrowRows, t.row()/4, strings.ToUpper(t.unit())), "steps int, a, b, acc *byte, load bool, out *byte, ldo int", "")
	f.load("steps a b acc out ldo", "R0", "R1", "R2", "R3", "R4", "R5")
	f.do("MOVBU %s, R6", f.arg("load"))
	if t.halves() {
		t.tileOfHalves(f)
	} else {
		t.tile(f)
	}
	t.peak(f)
}

// tile multiplies a panel of A by one of B: steps x [6 rows][64 bytes] by steps x [groups][16
// columns][bytes of a group]. Sums stay in registers, and those in acc are added to them if load.
func (t narrow) tile(f *file) {
	const firstA, spare = 24, 30 // of A, and two for B in turn
	f.zero(0, firstA)
	f.label("step")
	f.do("MOVD $%d, R7", step/chunk)
	f.label("chunk")
	groups, vectors := 4, 4 // of a chunk, and of 16 columns of a group
	if t.matrix {
		groups, vectors = 2, 8
		// A group of a pair of rows is 8 bytes of each.
		for i := 0; i < narrowRows; i += 2 {
			f.do("FMOVQ %d(R1), F%d", step*i, spare)
			f.do("FMOVQ %d(R1), F%d", step*(i+1), spare+1)
			f.three("trn1.2d", firstA+i, spare, spare+1)
			f.three("trn2.2d", firstA+i+1, spare, spare+1)
		}
	} else {
		for i := range narrowRows {
			f.do("FMOVQ %d(R1), F%d", step*i, firstA+i)
		}
	}
	for g := range groups {
		for j := range vectors {
			b := spare + j%2
			f.do("FMOVQ %d(R2), F%d", (g*vectors+j)*16, b)
			if t.matrix {
				for pair := range narrowRows / 2 {
					f.three(t.op, pair*vectors+j, firstA+2*pair+g, b)
				}
				continue
			}
			for i := range narrowRows {
				f.element(t.op, i*vectors+j, b, firstA+i, g)
			}
		}
	}
	f.do("ADD $%d, R2, R2", groups*vectors*16)
	f.do("ADD $%d, R1, R1", chunk)
	f.do("SUBS $1, R7, R7")
	f.do("BNE chunk")
	f.do("ADD $%d, R1, R1", step*(narrowRows-1))
	f.do("SUBS $1, R0, R0")
	f.do("BNE step")
	if t.matrix {
		// Two pairs of columns hold two rows: these take their places.
		for at := 0; at < firstA; at += 2 {
			f.three("trn1.2d", firstA, at, at+1)
			f.three("trn2.2d", at+1, at, at+1)
			f.do("VORR V%d.B16, V%d.B16, V%d.B16", firstA, firstA, at)
		}
	}
	// sum is where row i has its columns 4j to 4j+3.
	sum := func(i, j int) int {
		if t.matrix {
			return i/2*vectors + 2*j + i%2
		}
		return i*vectors + j
	}
	f.do("CBZ R6, store")
	for i := range narrowRows {
		for j := range 4 {
			f.do("FMOVQ %d(R3), F%d", 64*i+16*j, spare)
			if t.dtype == "int8" {
				f.do("VADD V%d.S4, V%[2]d.S4, V%[2]d.S4", spare, sum(i, j))
			} else {
				f.three("fadd.4s", sum(i, j), sum(i, j), spare)
			}
		}
	}
	f.label("store")
	for i := range narrowRows {
		for j := range 4 {
			f.do("FMOVQ F%d, %d(R4)", sum(i, j), 16*j)
		}
		if i < narrowRows-1 {
			f.do("ADD R5, R4, R4")
		}
	}
	f.do("RET")
}

// tileOfHalves accumulates in fp16. So that sums stay short, the registers hold those of one step, 32
// products, and are then added to the tile in acc, in fp32. Only the first 16 registers give single
// halves, so that A comes first.
func (t narrow) tileOfHalves(f *file) {
	const firstB, firstSum, vectors = narrowRows, 8, 4
	sum := func(i, j int) int { return firstSum + i*vectors + j }
	f.do("CBNZ R6, sums")
	f.zero(0, 1)
	for at := 0; at < narrowRows*t.row(); at += 16 {
		f.do("FMOVQ F0, %d(R3)", at)
	}
	f.label("sums")
	f.zero(firstSum, firstSum+narrowRows*vectors)
	f.label("step")
	f.do("MOVD $%d, R7", step/chunk)
	f.label("chunk")
	for i := range narrowRows {
		f.do("FMOVQ %d(R1), F%d", step*i, i)
	}
	for k := range chunk / 2 {
		for j := range vectors {
			b := firstB + j%2
			f.do("FMOVQ %d(R2), F%d", (k*vectors+j)*16, b)
			for i := range narrowRows {
				f.element(t.op, sum(i, j), b, i, k)
			}
		}
	}
	f.do("ADD $%d, R2, R2", chunk/2*vectors*16)
	f.do("ADD $%d, R1, R1", chunk)
	f.do("SUBS $1, R7, R7")
	f.do("BNE chunk")
	f.do("ADD $%d, R1, R1", step*(narrowRows-1))
	for i := range narrowRows {
		for j := range vectors {
			f.widen(0, sum(i, j))
			for half := range 2 {
				at := t.row()*i + 32*j + 16*half
				f.do("FMOVQ %d(R3), F2", at)
				f.three("fadd.4s", half, half, 2)
				f.do("FMOVQ F%d, %d(R3)", half, at)
			}
			f.zero(sum(i, j), sum(i, j)+1)
		}
	}
	f.do("SUBS $1, R0, R0")
	f.do("BNE step")
	for i := range narrowRows {
		for at := 0; at < t.row(); at += 16 {
			f.do("FMOVQ %d(R3), F0", t.row()*i+at)
			f.do("FMOVQ F0, %d(R4)", at)
		}
		if i < narrowRows-1 {
			f.do("ADD R5, R4, R4")
		}
	}
	f.do("RET")
}

// peak repeats acc += a*b on independent registers; fp16 the two steps of peaks.
func (t narrow) peak(f *file) {
	const a, b, two = accumulators, accumulators + 1, accumulators + 2
	f.function("peak"+strings.ToUpper(t.dtype)+"NEON"+strings.ToUpper(t.unit()), "n int, from, to, a, b *byte", "")
	f.load("n from to a b", "R0", "R1", "R2", "R3", "R4")
	for i := range accumulators {
		f.do("FMOVQ %d(R1), F%d", 16*i, i)
	}
	switch {
	case t.halves():
		f.do("VLD1R (R3), [V%d.H8]", a)
		f.do("VLD1R (R4), [V%d.H8]", b)
		f.three("fadd.8h", two, b, b)
	case t.matrix:
		f.do("FMOVQ (R3), F%d", a)
		f.do("FMOVQ (R4), F%d", b)
	default:
		f.do("VLD1R (R3), [V%d.S4]", a)
		f.do("FMOVQ (R4), F%d", b)
	}
	f.label("dot")
	for i := range accumulators {
		if t.halves() {
			f.three("fmla.8h", i, b, two)
		} else {
			f.three(t.op, i, a, b)
		}
	}
	if t.halves() {
		for i := range accumulators {
			f.three("fmls.8h", i, i, a)
		}
	}
	f.do("SUBS $1, R0, R0")
	f.do("BNE dot")
	for i := range accumulators {
		if !t.halves() {
			f.do("FMOVQ F%d, %d(R2)", i, 16*i)
			continue
		}
		f.widen(a, i)
		f.do("FMOVQ F%d, %d(R2)", a, 32*i)
		f.do("FMOVQ F%d, %d(R2)", a+1, 32*i+16)
	}
	f.do("RET")
}
