package cpu

import (
	"slices"
	"strings"
)

// neonOperations are those whose kernels are NEON; the others are portable.
var neonOperations = []string{"add", "sub", "mul", "div", "bias", "mask", "relu", "scale", "set", "channel_bias", "batchnorm"}

// vecISA is the family of the kernel of a chain of element-wise operations, as its name tells it.
func vecISA(isa ISA, chain string) ISA {
	for operation := range strings.SplitSeq(chain, "+") {
		if !slices.Contains(neonOperations, operation) {
			return Portable
		}
	}
	return isa
}

// vecAssembly is the table of an instruction set, if it has one.
func vecAssembly[T float](isa ISA) (vecKernels[T], bool) {
	k := vecPortable[T]()
	if isa != NEON {
		return k, false
	}
	var maps any
	switch any(T(0)).(type) {
	case float32:
		maps = neonMapsF32
	case float64:
		maps = neonMapsF64
	}
	m := maps.(neonMaps[T])
	k.relu, k.scale, k.affine, k.set, k.max, k.maxFar = m.relu, m.scale, m.affine, m.set, m.max, m.max
	k.add, k.addFar, k.addRelu, k.sub, k.mul, k.div = m.add, m.add, m.addRelu, m.sub, m.mul, m.div
	k.affineRows = func(dst, src, a, b *T, ldd, lds, rows, n int, nt bool) {
		for i := range rows {
			m.affine(at(dst, i*ldd), at(src, i*lds), nil, n, n, n, 1, n, *at(a, i), *at(b, i), nt)
		}
	}
	return k, true
}

// neonMaps are the maps of one element type. Stores past the caches are none of theirs.
type neonMaps[T float] struct {
	relu, scale, affine, set, add, addRelu, sub, mul, div, max mapKernel[T]
}

var neonMapsF32 = neonMaps[float32]{
	relu:    vecReluF32NEON,
	scale:   vecScaleF32NEON,
	affine:  vecAffineF32NEON,
	set:     vecSetF32NEON,
	add:     vecAddF32NEON,
	addRelu: vecAddReluF32NEON,
	sub:     vecSubF32NEON,
	mul:     vecMulF32NEON,
	div:     vecDivF32NEON,
	max:     vecMaxF32NEON,
}

var neonMapsF64 = neonMaps[float64]{
	relu:    vecReluF64NEON,
	scale:   vecScaleF64NEON,
	affine:  vecAffineF64NEON,
	set:     vecSetF64NEON,
	add:     vecAddF64NEON,
	addRelu: vecAddReluF64NEON,
	sub:     vecSubF64NEON,
	mul:     vecMulF64NEON,
	div:     vecDivF64NEON,
	max:     vecMaxF64NEON,
}

// The functions below are maps, of what their comment says.

// max(x, 0), NaN for NaN
//
//go:noescape
func vecReluF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt bool)

// a x
//
//go:noescape
func vecScaleF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt bool)

// a x + b
//
//go:noescape
func vecAffineF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt bool)

// b
//
//go:noescape
func vecSetF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt bool)

// x + y
//
//go:noescape
func vecAddF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt bool)

// max(x + y, 0)
//
//go:noescape
func vecAddReluF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt bool)

// x - y
//
//go:noescape
func vecSubF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt bool)

// x y
//
//go:noescape
func vecMulF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt bool)

// x / y
//
//go:noescape
func vecDivF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt bool)

// max(x, y)
//
//go:noescape
func vecMaxF32NEON(dst, src, y *float32, ldd, lds, ldy, m, n int, a, b float32, nt bool)

// max(x, 0), NaN for NaN
//
//go:noescape
func vecReluF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt bool)

// a x
//
//go:noescape
func vecScaleF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt bool)

// a x + b
//
//go:noescape
func vecAffineF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt bool)

// b
//
//go:noescape
func vecSetF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt bool)

// x + y
//
//go:noescape
func vecAddF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt bool)

// max(x + y, 0)
//
//go:noescape
func vecAddReluF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt bool)

// x - y
//
//go:noescape
func vecSubF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt bool)

// x y
//
//go:noescape
func vecMulF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt bool)

// x / y
//
//go:noescape
func vecDivF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt bool)

// max(x, y)
//
//go:noescape
func vecMaxF64NEON(dst, src, y *float64, ldd, lds, ldy, m, n int, a, b float64, nt bool)
