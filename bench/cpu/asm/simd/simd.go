// Package simd lets one generator emit a kernel for AVX2 and for AVX-512: the
// mnemonics of avo's VEX and EVEX forms are the same, only the registers differ.
package simd

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/reg"
)

// ISA is a vector instruction set.
type ISA struct {
	Name  string // as in file names: avx2, avx512
	Bytes int    // of one vector
	Regs  int    // number of vector registers
}

var (
	AVX2   = ISA{"avx2", 32, 16}
	AVX512 = ISA{"avx512", 64, 32}
)

// V is vector register i.
func (s ISA) V(i int) reg.VecPhysical {
	if s.Bytes == 64 {
		return zmm[i]
	}
	return ymm[i]
}

// Lanes is the number of elements of the given size in one vector.
func (s ISA) Lanes(elemBytes int) int { return s.Bytes / elemBytes }

var ymm = [16]reg.VecPhysical{
	reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
	reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
}

var zmm = [32]reg.VecPhysical{
	reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
	reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
	reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
	reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
}

// AlignedLabel begins a loop with a cache line of code: else its rate depends, by up to a tenth on a Zen 4, on
// what comes before it in the file.
func AlignedLabel(c *build.Context, name string) {
	c.Instruction(&ir.Instruction{Opcode: "PCALIGN $64"})
	c.Label(name)
}
