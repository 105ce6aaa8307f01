package cpu

// canFlush says whether there is an instruction that drives a line out of all caches:
// systems let programs use it.
const canFlush = true

// flushLines drives lines of 64 bytes out of all caches.
//
//go:noescape
func flushLines(at *byte, lines int)
