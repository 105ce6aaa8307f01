package main

import "fmt"

// transpose writes dst[p*ldd+i] = src[i*lds+p] for p < k, a multiple of a vector, and as many rows i as a
// vector has lanes.
func (t target) transpose(f *file) {
	f.function(t.prefix+"gemmTransposeNEON", fmt.Sprintf("dst *%[1]s, ldd int, src *%[1]s, lds, k int", t.element()), "")
	f.load("dst ldd src lds k", "R0", "R1", "R2", "R3", "R4")
	f.do("LSL $%d, R1, R1", t.shift())
	f.do("LSL $%d, R3, R3", t.shift())
	f.label("square")
	f.do("MOVD R2, R5")
	for i := range t.vl() {
		f.do("FMOVQ (R5), F%d", i)
		f.do("ADD R3, R5, R5")
	}
	first := 0 // of the vectors that pairs of lanes are in order in
	if t.size == 4 {
		first = 4
		for i := 0; i < 4; i += 2 {
			f.three("trn1.4s", first+i/2, i, i+1)
			f.three("trn2.4s", first+2+i/2, i, i+1)
		}
	}
	store := func(op string, n int) {
		f.three(op, 8, n, n+1)
		f.do("FMOVQ F8, (R0)")
		f.do("ADD R1, R0, R0")
	}
	for _, op := range []string{"trn1.2d", "trn2.2d"} {
		for n := first; n < first+t.vl(); n += 2 {
			store(op, n)
		}
	}
	f.do("ADD $16, R2, R2")
	f.do("SUBS $%d, R4, R4", t.vl())
	f.do("BNE square")
	f.do("RET")
}

// copyRows writes dst[p*nr+j] = src[p*lds+j] for p < k and j < nr.
func (t target) copyRows(f *file) {
	f.function(t.prefix+"gemmCopyRowsNEON", fmt.Sprintf("dst, src *%s, lds, k int", t.element()), "")
	f.load("dst src lds k", "R0", "R1", "R2", "R3")
	f.do("LSL $%d, R2, R2", t.shift())
	f.label("row")
	for j := range vecs {
		f.do("FMOVQ %d(R1), F%d", 16*j, j)
	}
	for j := range vecs {
		f.do("FMOVQ F%d, %d(R0)", j, 16*j)
	}
	f.do("ADD R2, R1, R1")
	f.do("ADD $%d, R0, R0", 16*vecs)
	f.do("SUBS $1, R3, R3")
	f.do("BNE row")
	f.do("RET")
}
