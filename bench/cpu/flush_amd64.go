package cpu

import "github.com/klauspost/cpuid/v2"

// canFlush says whether there is an instruction that drives a line out of all caches.
const canFlush = true

// clflushopt says whether the CPU can flush several lines at once: bit 23 of EBX of
// leaf 7, which every CPU with AVX2 has.
var clflushopt = cpuid.CPU.Supports(cpuid.AVX2) && cpuid7()>>23&1 != 0

// flushLines drives lines of 64 bytes out of all caches.
func flushLines(at *byte, lines int) {
	if clflushopt {
		flushInAnyOrder(at, lines)
	} else {
		flushInOrder(at, lines)
	}
}

//go:noescape
func flushInOrder(at *byte, lines int)

//go:noescape
func flushInAnyOrder(at *byte, lines int)

// cpuid7 is EBX of leaf 7.
func cpuid7() uint32
