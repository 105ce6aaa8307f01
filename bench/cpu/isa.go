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
	AMX      ISA = "amx"      // tiles; only for types narrower than fp32, see units
	AVX512   ISA = "avx512"   // AVX-512 F, DQ, BW and VL
	AVX2     ISA = "avx2"     // AVX2, FMA3 and BMI2
	Portable ISA = "portable" // Go
)

// isaOrder is that in which HWCAL_ISA caps: what stands before the family that it
// names is hidden.
var isaOrder = []ISA{AMX, AVX512, AVX2, Portable}

// isaLimit is the family that the environment variable HWCAL_ISA names, the first
// if it is not set.
func isaLimit() (ISA, error) {
	limit := ISA(os.Getenv("HWCAL_ISA"))
	if limit == "" {
		return isaOrder[0], nil
	}
	if !slices.Contains(isaOrder, limit) {
		return "", fmt.Errorf("cpu: HWCAL_ISA=%q, want one of %v", limit, isaOrder)
	}
	return limit, nil
}

// allowed says that HWCAL_ISA does not hide the family.
func allowed(isa ISA) bool {
	limit, err := isaLimit()
	return err == nil && slices.Index(isaOrder, isa) >= slices.Index(isaOrder, limit)
}

// ISAs lists the families for fp32 and fp64 that this process can run, best first.
// cpuid/v2 reports an extension only if the operating system saves its
// registers (XCR0), so a listed family cannot fault.
func ISAs() ([]ISA, error) {
	if _, err := isaLimit(); err != nil {
		return nil, err
	}
	all := []ISA{Portable}
	if hasAssembly && cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI2) {
		all = append([]ISA{AVX2}, all...)
		if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL) {
			all = append([]ISA{AVX512}, all...)
		}
	}
	return slices.DeleteFunc(all, func(i ISA) bool { return !allowed(i) }), nil
}
