package cpu

// fmaPipes is how many multiply-adds of a vector no core exceeds in a cycle: a Cortex-X925 has six
// pipes, and Go's compiler fuses what it can.
const fmaPipes = 6

// vectorISAs are the families besides Go that this CPU can run: arm64 always has NEON, as Go's
// runtime does.
func vectorISAs() []ISA { return []ISA{NEON} }
