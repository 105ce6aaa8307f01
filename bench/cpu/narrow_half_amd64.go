package cpu

import (
	"github.com/klauspost/cpuid/v2"

	"hwcal/schema"
)

// halfAssembly is there for AVX-512, which every CPU has that multiplies numbers of 16
// bits.
func halfAssembly(d schema.DType, isa ISA) (halfKernels, bool) {
	switch {
	case isa != AVX512:
		return halfKernels{}, false
	case d == schema.FP16:
		return halfKernels{
			storedKernels: fp16AVX512, widen: widenFP16AVX512,
			round: roundFP16AVX512, roundAhead: roundAheadFP16AVX512,
			finishRows: finishRowsFP16AVX512, finishCols: finishColsFP16AVX512,
		}, true
	case cpuid.CPU.Supports(cpuid.AVX512BF16):
		return halfKernels{
			storedKernels: bf16AVX512, widen: widenBF16AVX512,
			round: roundBF16AVX512BF16, roundAhead: roundAheadBF16AVX512BF16,
			finishRows: finishRowsBF16AVX512BF16, finishCols: finishColsBF16AVX512BF16,
		}, true
	}
	return halfKernels{
		widen: widenBF16AVX512,
		round: roundBF16AVX512, roundAhead: roundAheadBF16AVX512,
		finishRows: finishRowsBF16AVX512, finishCols: finishColsBF16AVX512,
	}, true
}

// The functions below do what halfKernels says.

//go:noescape
func widenBF16AVX512(dst *float32, src *uint16, ldd, lds, m, n int)

//go:noescape
func widenFP16AVX512(dst *float32, src *uint16, ldd, lds, m, n int)

//go:noescape
func roundBF16AVX512(dst *uint16, src *float32, ldd, lds, m, n int)

//go:noescape
func roundBF16AVX512BF16(dst *uint16, src *float32, ldd, lds, m, n int)

//go:noescape
func roundFP16AVX512(dst *uint16, src *float32, ldd, lds, m, n int)

//go:noescape
func roundAheadBF16AVX512(dst *uint16, src *float32, ldd, lds, m, n int)

//go:noescape
func roundAheadBF16AVX512BF16(dst *uint16, src *float32, ldd, lds, m, n int)

//go:noescape
func roundAheadFP16AVX512(dst *uint16, src *float32, ldd, lds, m, n int)

//go:noescape
func finishRowsBF16AVX512(dst *uint16, src, bias *float32, y *uint16, ldd, lds, ldy, m, n int, floor float32)

//go:noescape
func finishRowsBF16AVX512BF16(dst *uint16, src, bias *float32, y *uint16, ldd, lds, ldy, m, n int, floor float32)

//go:noescape
func finishRowsFP16AVX512(dst *uint16, src, bias *float32, y *uint16, ldd, lds, ldy, m, n int, floor float32)

//go:noescape
func finishColsBF16AVX512(dst *uint16, src, bias *float32, y *uint16, ldd, lds, ldy, m, n int, floor float32)

//go:noescape
func finishColsBF16AVX512BF16(dst *uint16, src, bias *float32, y *uint16, ldd, lds, ldy, m, n int, floor float32)

//go:noescape
func finishColsFP16AVX512(dst *uint16, src, bias *float32, y *uint16, ldd, lds, ldy, m, n int, floor float32)
