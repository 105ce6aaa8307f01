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
	case d == schema.BF16:
		round, ahead, finish := roundBF16AVX512, roundAheadBF16AVX512, finishBF16AVX512
		if cpuid.CPU.Supports(cpuid.AVX512BF16) {
			round, ahead, finish = roundBF16AVX512BF16, roundAheadBF16AVX512BF16, finishBF16AVX512BF16
		}
		return halfKernels{widenBF16AVX512, round, ahead, reluOf(0xff80), addBF16AVX512, subBF16AVX512, mulBF16AVX512, divBF16AVX512, addWideBF16AVX512, affineBF16AVX512, scaleBF16AVX512, finish, narrowPackPairsAVX512}, true
	}
	return halfKernels{widenFP16AVX512, roundFP16AVX512, roundAheadFP16AVX512, reluOf(0xfc00), addFP16AVX512, subFP16AVX512, mulFP16AVX512, divFP16AVX512, addWideFP16AVX512, affineFP16AVX512, scaleFP16AVX512, finishFP16AVX512, narrowPackPairsAVX512}, true
}

func reluOf(negativeInfinity uint16) func(dst, src *uint16, ldd, lds, m, n int) {
	return func(dst, src *uint16, ldd, lds, m, n int) {
		reluHalfAVX512(dst, src, ldd, lds, m, n, negativeInfinity)
	}
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
func finishBF16AVX512(dst *uint16, src, bias *float32, ldd, lds, m, n int, floor float32)

//go:noescape
func finishBF16AVX512BF16(dst *uint16, src, bias *float32, ldd, lds, m, n int, floor float32)

//go:noescape
func finishFP16AVX512(dst *uint16, src, bias *float32, ldd, lds, m, n int, floor float32)

//go:noescape
func addBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int)

//go:noescape
func addFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int)

//go:noescape
func subBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int)

//go:noescape
func subFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int)

//go:noescape
func mulBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int)

//go:noescape
func mulFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int)

//go:noescape
func divBF16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int)

//go:noescape
func divFP16AVX512(dst, src, y *uint16, ldd, lds, ldy, m, n int)

//go:noescape
func addWideBF16AVX512(dst, src *float32, y *uint16, ldd, lds, ldy, m, n int)

//go:noescape
func addWideFP16AVX512(dst, src *float32, y *uint16, ldd, lds, ldy, m, n int)

//go:noescape
func affineBF16AVX512(dst, src *uint16, a, b *float32, ldd, lds, m, n int)

//go:noescape
func affineFP16AVX512(dst, src *uint16, a, b *float32, ldd, lds, m, n int)

//go:noescape
func scaleBF16AVX512(dst, src *uint16, ldd, lds, m, n int, a float32)

//go:noescape
func scaleFP16AVX512(dst, src *uint16, ldd, lds, m, n int, a float32)

//go:noescape
func reluHalfAVX512(dst, src *uint16, ldd, lds, m, n int, negativeInfinity uint16)
