package cpu

import "hwcal/schema"

// conversionAssembly is there for AVX-512, which every CPU has that multiplies numbers
// of 16 bits.
func conversionAssembly(d schema.DType, isa ISA) (conversion, bool) {
	switch {
	case isa != AVX512:
		return conversion{}, false
	case d == schema.BF16:
		return conversion{widenBF16AVX512, roundBF16AVX512}, true
	}
	return conversion{widenFP16AVX512, roundFP16AVX512}, true
}

// The functions below do what conversion says.

//go:noescape
func widenBF16AVX512(dst *float32, src *uint16, ldd, lds, m, n int)

//go:noescape
func widenFP16AVX512(dst *float32, src *uint16, ldd, lds, m, n int)

//go:noescape
func roundBF16AVX512(dst *uint16, src *float32, ldd, lds, m, n int)

//go:noescape
func roundFP16AVX512(dst *uint16, src *float32, ldd, lds, m, n int)
