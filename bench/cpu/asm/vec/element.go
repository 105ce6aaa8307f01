package main

import "hwcal/bench/cpu/asm/elementary"

// element is an element type.
type element struct {
	name, goType string
	size         int    // in bytes
	mnemonic     string // last letter: S or D
	elementary.Format
}

var float32s = element{"f32", "float32", 4, "S", elementary.Float32}

var float64s = element{"f64", "float64", 8, "D", elementary.Float64}
