package cpu

import (
	"fmt"
	"os"
	"slices"

	"github.com/klauspost/cpuid/v2"
)

// ISA is a family of kernels.
type ISA string

const (
	AVX512   ISA = "avx512"   // AVX-512 F, DQ, BW and VL
	AVX2     ISA = "avx2"     // AVX2 and FMA3
	Portable ISA = "portable" // Go
)

// ISAs lists the families that this process can run, best first. The
// environment variable HWCAL_ISA caps the list: HWCAL_ISA=avx2 hides AVX-512.
// cpuid/v2 reports an extension only if the operating system saves its
// registers (XCR0), so a listed family cannot fault.
func ISAs() ([]ISA, error) {
	all := []ISA{Portable}
	if hasAssembly && cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) {
		all = append([]ISA{AVX2}, all...)
		if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL) {
			all = append([]ISA{AVX512}, all...)
		}
	}
	limit := ISA(os.Getenv("HWCAL_ISA"))
	if limit == "" {
		return all, nil
	}
	order := []ISA{AVX512, AVX2, Portable}
	at := slices.Index(order, limit)
	if at < 0 {
		return nil, fmt.Errorf("cpu: HWCAL_ISA=%q, want one of %v", limit, order)
	}
	return slices.DeleteFunc(all, func(i ISA) bool { return slices.Index(order, i) < at }), nil
}
