package cpu

import "github.com/klauspost/cpuid/v2"

// fmaPipes is how many multiply-adds of a vector no core exceeds in a cycle.
const fmaPipes = 2

// vectorISAs are the families besides Go that this CPU can run, best first. cpuid/v2 reports an
// extension only if the operating system saves its registers (XCR0), so a listed family cannot fault.
func vectorISAs() (all []ISA) {
	if cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI2) {
		if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL) {
			all = append(all, AVX512)
		}
		all = append(all, AVX2)
	}
	return all
}
