package cpu

import (
	"fmt"
	"os"
	"slices"
)

// ISA is a family of kernels.
type ISA string

const (
	AMX      ISA = "amx"      // tiles; only for types narrower than fp32, see units
	AVX512   ISA = "avx512"   // AVX-512 F, DQ, BW and VL
	AVX2     ISA = "avx2"     // AVX2, FMA3 and BMI2
	NEON     ISA = "neon"     // Advanced SIMD, which every arm64 has
	Portable ISA = "portable" // Go
)

// LimitVariable is the environment variable that caps the instruction set of the kernels, if it is set to the name of a
// family.
const LimitVariable = "HWCAL_ISA"

// isaOrder is that in which HWCAL_ISA caps: what stands before the family that it
// names is hidden.
var isaOrder = []ISA{AMX, AVX512, AVX2, NEON, Portable}

// isaLimit is the family that the environment variable HWCAL_ISA names, the first
// if it is not set.
func isaLimit() (ISA, error) {
	limit := ISA(os.Getenv(LimitVariable))
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
func ISAs() ([]ISA, error) {
	if _, err := isaLimit(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(append(vectorISAs(), Portable), func(i ISA) bool { return !allowed(i) }), nil
}
