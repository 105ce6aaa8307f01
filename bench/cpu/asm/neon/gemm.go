package main

import (
	"fmt"
	"math/bits"
)

// target is an element type: its prefix in names of BLAS, and its size.
type target struct {
	prefix string
	size   int
}

const mr, vecs = 8, 3 // of the largest tile: 24 of 32 registers hold its sums

func (t target) shift() int   { return bits.TrailingZeros(uint(t.size)) } // from elements to bytes
func (t target) vl() int      { return 16 / t.size }
func (t target) nr() int      { return vecs * t.vl() }
func (t target) tile() string { return fmt.Sprintf("ukr_%dx%d", mr, t.nr()) }

func (t target) pick(single, double string) string {
	if t.size == 4 {
		return single
	}
	return double
}

func (t target) element() string { return t.pick("float32", "float64") }
func (t target) lane() string    { return t.pick("S", "D") }
func (t target) lanes() string   { return t.pick("S4", "D2") }
func (t target) op(name string) string {
	return name + t.pick(".4s", ".2d")
}

// spread loads an element to all lanes.
func (t target) spread(f *file, at string, v int) { f.do("VLD1R (%s), [V%d.%s]", at, v, t.lanes()) }

// near is the micro-kernel tileNear: a row of tiles of any number of rows up to mr. What it fetches
// ahead is left to the hardware, which sees two streams.
func (t target) near(f *file) {
	f.function(t.prefix+"gemmNearUkr"+fmt.Sprintf("%dx%d", mr, t.nr())+"NEON",
		fmt.Sprintf("rows, cols, k int, a, b, c *%[1]s, ldc int, add bool, next, bias, residual *%[1]s, floor %[1]s, far *%[1]s, step int", t.element()), "")
	f.load("a b c k cols ldc bias residual", "R0", "R1", "R2", "R4", "R5", "R3", "R9", "R10")
	f.do("LSL $%d, R3, R3", t.shift())
	f.do("MOVBU %s, R11", f.arg("add"))
	f.do("FMOV%s %s, F%d", t.lane(), f.arg("floor"), floor)
	f.do("VDUP V%d.%s[0], V%d.%s", floor, t.lane(), floor, t.lanes())
	f.load("rows", "R12")
	for rows := mr; rows > 1; rows-- {
		f.do("CMP $%d, R12", rows)
		f.do("BEQ rows%d", rows)
	}
	for rows := 1; rows <= mr; rows++ {
		f.label("rows%d", rows)
		f.do("CMP $%d, R5", t.nr())
		f.do("BLT rows%dlast", rows)
		t.tileOf(f, rows, vecs)
		f.do("SUB $%d, R5, R5", t.nr())
		f.do("B rows%d", rows)
		f.label("rows%dlast", rows)
		for v := vecs - 1; v > 0; v-- {
			f.do("CMP $%d, R5", v*t.vl())
			f.do("BEQ rows%dlast%d", rows, v)
		}
		f.do("RET")
		for v := vecs - 1; v > 0; v-- {
			f.label("rows%dlast%d", rows, v)
			t.tileOf(f, rows, v)
			f.do("RET")
		}
	}
}

const (
	firstA = mr * vecs
	floor  = 31
)

// run is a part of a column of A: so many elements from the first on, of which the last register
// may repeat some of the one before.
type run struct{ first, n int }

// column cuts rows elements, as they lie one behind the other, into loads that stay among them.
func (t target) column(rows int) (runs []run) {
	for at := 0; at < rows; {
		n := t.vl()
		if at+n > rows && rows >= n {
			at = rows - n
		}
		for at+n > rows {
			n /= 2
		}
		runs = append(runs, run{at, n})
		at += n
	}
	return runs
}

// tileOf keeps rows x v vectors of C in registers: R0 is the panel of A, R1 that of B, which it
// leaves behind, and R2 the tile of C, likewise. A step of k takes 5 to 7 loads and rows*v FMLA.
func (t target) tileOf(f *file, rows, v int) {
	acc := func(i, j int) int { return i*v + j }
	name := fmt.Sprintf("tile%dx%d", rows, v)
	runs := t.column(rows)
	firstB := firstA + len(runs)
	eachRow := func(do func(i int)) {
		f.do("MOVD R2, R8")
		for i := range rows {
			do(i)
			if i < rows-1 {
				f.do("ADD R3, R8, R8")
			}
		}
	}
	// The sums begin with C, with the bias, or with 0.
	f.do("CBNZ R11, %sadd", name)
	f.do("CBNZ R9, %sbias", name)
	f.zero(0, rows*v)
	f.do("B %ssteps", name)
	f.label("%sbias", name)
	for i := range rows {
		if i == 0 {
			f.do("MOVD R9, R12")
		} else {
			f.do("ADD $%d, R12, R12", t.size)
		}
		for j := range v {
			t.spread(f, "R12", acc(i, j))
		}
	}
	f.do("B %ssteps", name)
	f.label("%sadd", name)
	eachRow(func(i int) {
		for j := range v {
			f.do("FMOVQ %d(R8), F%d", 16*j, acc(i, j))
		}
	})
	f.label("%ssteps", name)
	f.do("MOVD R0, R6")
	f.do("MOVD R4, R7")
	f.label("%sstep", name)
	for i, r := range runs {
		f.do("FMOV%s %d(R6), F%d", map[int]string{4: "S", 8: "D", 16: "Q"}[r.n*t.size], r.first*t.size, firstA+i)
	}
	for j := range v {
		f.do("FMOVQ %d(R1), F%d", 16*j, firstB+j)
	}
	f.do("ADD $%d, R6, R6", rows*t.size)
	f.do("ADD $%d, R1, R1", 16*v)
	for i := range rows {
		in := len(runs) - 1
		for in > 0 && i < runs[in-1].first+runs[in-1].n {
			in--
		}
		for j := range v {
			f.element(t.op("fmla"), acc(i, j), firstB+j, firstA+in, i-runs[in].first)
		}
	}
	f.do("SUBS $1, R7, R7")
	f.do("BNE %sstep", name)
	// The residual lies as C does.
	f.do("CBZ R10, %sfloor", name)
	f.load("c", "R12")
	f.do("SUB R12, R10, R13")
	eachRow(func(i int) {
		f.do("ADD R13, R8, R12")
		for j := range v {
			f.do("FMOVQ %d(R12), F%d", 16*j, firstA+j)
			f.three(t.op("fadd"), acc(i, j), acc(i, j), firstA+j)
		}
	})
	f.label("%sfloor", name)
	eachRow(func(i int) {
		for j := range v {
			f.three(t.op("fmax"), acc(i, j), acc(i, j), floor) // NaN stays NaN
			f.do("FMOVQ F%d, %d(R8)", acc(i, j), 16*j)
		}
	})
	f.do("ADD $%d, R2, R2", 16*v)
}

// skinny adds to y the product of a few rows of x and B, which is not packed: four rows of B at a
// step, of which parts of four vectors stay in registers while all rows of y pass.
func (t target) skinny(f *file) {
	const depth, parts = 4, 4
	f.function(t.prefix+"gemmSkinnyNEON", fmt.Sprintf("m, n, steps int, x, b *%[1]s, ldb int, y *%[1]s, ldy int", t.element()), "")
	f.load("x b steps ldb ldy", "R0", "R1", "R2", "R3", "R4")
	f.do("LSL $%d, R3, R3", t.shift())
	f.do("LSL $%d, R4, R4", t.shift())
	sum, x := func(j int) int { return depth*parts + j }, depth*parts+parts
	cols := func(v int) { // v vectors of the four rows of B, and of all rows of y
		f.do("MOVD R5, R8")
		for p := range depth {
			for j := range v {
				f.do("FMOVQ %d(R8), F%d", 16*j, p*parts+j)
			}
			if p < depth-1 {
				f.do("ADD R3, R8, R8")
			}
		}
		f.do("MOVD R0, R9")
		f.do("MOVD R6, R10")
		f.load("m", "R11")
		f.label("row%d", v)
		for i := range depth * t.size / 16 {
			f.do("FMOVQ %d(R9), F%d", 16*i, x+i)
		}
		for j := range v {
			f.do("FMOVQ %d(R10), F%d", 16*j, sum(j))
		}
		for p := range depth {
			for j := range v {
				f.element(t.op("fmla"), sum(j), p*parts+j, x+p/t.vl(), p%t.vl())
			}
		}
		for j := range v {
			f.do("FMOVQ F%d, %d(R10)", sum(j), 16*j)
		}
		f.do("ADD $%d, R9, R9", depth*t.size)
		f.do("ADD R4, R10, R10")
		f.do("SUBS $1, R11, R11")
		f.do("BNE row%d", v)
		f.do("ADD $%d, R5, R5", 16*v)
		f.do("ADD $%d, R6, R6", 16*v)
		f.do("SUB $%d, R7, R7", v*t.vl())
	}
	f.label("step")
	f.do("MOVD R1, R5")
	f.load("y n", "R6", "R7")
	f.label("wide")
	f.do("CMP $%d, R7", parts*t.vl())
	f.do("BLT narrow")
	cols(parts)
	f.do("B wide")
	f.label("narrow")
	f.do("CBZ R7, next")
	cols(1)
	f.do("B narrow")
	f.label("next")
	f.load("m", "R11")
	f.do("LSL $%d, R11, R11", t.shift()+2)
	f.do("ADD R11, R0, R0") // x of the next step
	f.do("LSL $2, R3, R11")
	f.do("ADD R11, R1, R1")
	f.do("SUBS $1, R2, R2")
	f.do("BNE step")
	f.do("RET")
}
