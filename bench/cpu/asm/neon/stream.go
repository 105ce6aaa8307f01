package main

import "fmt"

// kernel is one STREAM loop: a[i] = f(b[i], c[i]), or the checksum of a.
type kernel struct {
	name    string
	tensors int // a; a and b; a, b and c
	past    bool
}

var kernels = []kernel{
	{"Read", 1, false},
	{"Write", 1, false},
	{"Copy", 2, false},
	{"Scale", 2, false},
	{"Add", 3, false},
	{"Triad", 3, false},
	{"WriteNT", 1, true},
	{"CopyNT", 2, true},
	{"TriadNT", 3, true},
}

// Registers of all loops: the next elements of a, b and c, the passes, elements and blocks that are
// left.
const (
	regA, regB, regC = 0, 1, 2
	regReps          = "R3"
	regLeft          = "R4"
	regBlocks        = "R5"
)

// unroll is the number of vectors of each tensor in one turn of the main loop. Vectors of b are in
// the first registers and those of c in the next; the sums of read, as many, take the upper half.
const (
	unroll  = 16
	secondV = 16
	factor  = 31
)

func streams(f *file) {
	for _, k := range kernels {
		k.emit(f)
	}
}

// emit writes one kernel: reps times over n elements. Each pass peels an element if a is not aligned
// to a vector, then runs the unrolled loop, single vectors and the last element.
func (k kernel) emit(f *file) {
	params, result := [...]string{"", "a", "a, b", "a, b, c"}[k.tensors]+" *float64, s float64", ""
	if k.name == "Read" {
		params, result = "a *float64", "(sum uint64)"
	}
	f.function("stream"+k.name+"NEON", "reps, n int, "+params, result)
	f.load("reps", regReps)
	if k.name == "Read" {
		f.zero(secondV, secondV+unroll)
	} else {
		f.do("FMOVD %s, F%d", f.arg("s"), factor)
		f.do("VDUP V%d.D[0], V%d.D2", factor, factor)
	}
	f.label("pass")
	if k.name == "Read" {
		for v := secondV; v < secondV+unroll; v++ {
			f.do("VSHL $1, V%d.D2, V%d.D2", v, v)
		}
	}
	f.load("n", regLeft)
	for i := range k.tensors {
		f.load([]string{"a", "b", "c"}[i], fmt.Sprintf("R%d", i))
	}
	f.do("CBZ %s, done", regLeft)
	f.do("TBZ $3, R%d, aligned", regA)
	k.part(f, 1)
	f.label("aligned")
	f.do("LSR $5, %s, %s", regLeft, regBlocks) // 2*unroll elements each
	f.do("CBZ %s, vectors", regBlocks)
	f.do("AND $31, %s, %s", regLeft, regLeft)
	f.label("block")
	k.pairs(f)
	f.do("SUBS $1, %s, %s", regBlocks, regBlocks)
	f.do("BNE block")
	f.label("vectors")
	f.do("CMP $2, %s", regLeft)
	f.do("BLT last")
	k.part(f, 2)
	f.do("B vectors")
	f.label("last")
	f.do("CBZ %s, done", regLeft)
	k.part(f, 1)
	f.label("done")
	f.do("SUBS $1, %s, %s", regReps, regReps)
	f.do("BNE pass")
	if k.name == "Read" {
		for n := unroll; n > 1; n /= 2 {
			for i := range n / 2 {
				f.xor(secondV+i, secondV+n/2+i)
			}
		}
		f.do("VMOV V%d.D[0], R5", secondV)
		f.do("VMOV V%d.D[1], R6", secondV)
		f.do("EOR R6, R5, R5")
		f.do("MOVD R5, %s", f.arg("sum"))
	}
	f.do("RET")
}

// xor is the exclusive or of bits: a checksum in any order.
func (f *file) xor(sum, v int) { f.do("VEOR V%d.B16, V%d.B16, V%d.B16", v, sum, sum) }

// pairs is the body of the main loop.
func (k kernel) pairs(f *file) {
	for i := 0; i < unroll; i += 2 {
		c := secondV + i%8
		load := func(base, v int) { f.do("FLDPQ %d(R%d), (F%d, F%d)", 16*i, base, v, v+1) }
		from := [2]int{i, i + 1}
		switch {
		case k.name == "Read":
			load(regA, i)
			f.xor(secondV+i, i)
			f.xor(secondV+i+1, i+1)
			continue
		case k.tensors == 1:
			from = [2]int{factor, factor}
		default:
			load(regB, i)
			if k.tensors == 3 {
				load(regC, c)
			}
			k.compute(f, i, c)
			k.compute(f, i+1, c+1)
		}
		if k.past {
			f.storePast(from[0], from[1], regA, 16*i)
		} else {
			f.do("FSTPQ (F%d, F%d), %d(R%d)", from[0], from[1], 16*i, regA)
		}
	}
	k.advance(f, 16*unroll)
}

// compute makes what is stored of vectors of b and c: of b in place.
func (k kernel) compute(f *file, b, c int) {
	switch k.name {
	case "Scale":
		f.three("fmul.2d", b, b, factor)
	case "Add":
		f.three("fadd.2d", b, b, c)
	case "Triad", "TriadNT":
		f.three("fmla.2d", b, c, factor)
	}
}

// part handles one element, or two, and counts them. What is loaded as one element leaves a vector
// with 0 in the other.
func (k kernel) part(f *file, n int) {
	move := [...]string{"", "FMOVD", "FMOVQ"}[n]
	from := 0
	switch {
	case k.name == "Read":
		f.do("%s (R%d), F0", move, regA)
		f.xor(secondV, 0)
	case k.tensors == 1:
		from = factor
	default:
		f.do("%s (R%d), F0", move, regB)
		if k.tensors == 3 {
			f.do("%s (R%d), F%d", move, regC, secondV)
		}
		k.compute(f, 0, secondV)
	}
	if k.name != "Read" {
		f.do("%s F%d, (R%d)", move, from, regA)
	}
	k.advance(f, 8*n)
	f.do("SUB $%d, %s, %s", n, regLeft, regLeft)
}

func (k kernel) advance(f *file, bytes int) {
	for r := range k.tensors {
		f.do("ADD $%d, R%d, R%d", bytes, r, r)
	}
}
