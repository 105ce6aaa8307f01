package main

import "hwcal/bench/cpu/asm/elementary"

// element is an element type: what it is computed in, and what it is in memory, where it may have fewer bits.
type element struct {
	name             string
	goType, stored   string // in registers and what does not leave L1, and in memory
	size, storedSize int    // of these, in bytes
	mnemonic         string // last letter: S or D
	elementary.Format
}

// half says whether elements have 16 bits in memory. Their instructions need AVX-512.
func (e element) half() bool { return e.storedSize == 2 }

var (
	float32s = element{"f32", "float32", "float32", 4, 4, "S", elementary.Float32}
	float64s = element{"f64", "float64", "float64", 8, 8, "D", elementary.Float64}
	bf16s    = element{"bf16", "float32", "uint16", 4, 2, "S", elementary.Float32}
	fp16s    = element{"fp16", "float32", "uint16", 4, 2, "S", elementary.Float32}
)
