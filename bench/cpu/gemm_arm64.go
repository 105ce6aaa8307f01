package cpu

import "math"

// newGEMMKernels picks the kernels of one family. The sums of a tile fill 24 of the 32 vector
// registers: 8 rows of 3 vectors.
func newGEMMKernels[T float](isa ISA) gemmKernels[T] {
	if isa != NEON {
		return portableGEMMKernels[T]()
	}
	var all any
	switch any(T(0)).(type) {
	case float32:
		all = neonGEMM[float32]{4, sgemmNearUkr8x12NEON, sgemmSkinnyNEON, sgemmTransposeNEON, sgemmCopyRowsNEON}
	case float64:
		all = neonGEMM[float64]{2, dgemmNearUkr8x6NEON, dgemmSkinnyNEON, dgemmTransposeNEON, dgemmCopyRowsNEON}
	}
	n := all.(neonGEMM[T])
	return gemmKernels[T]{
		mr: 8, nr: 3 * n.vl, vl: n.vl,
		tile: func(rows, cols, k int, a, b, c *T, ldc int, add bool, next *T, _ *run) {
			n.near(rows, cols, k, a, b, c, ldc, add, next, nil, nil, T(math.Inf(-1)), nil, 0)
		},
		nearKernels: nearKernels[T, T]{tileNear: n.near},
		tileSkinny:  n.skinny, skinnyGrain: n.vl,
		transpose: inLanes(n.vl, n.transpose), transposeRows: n.vl,
		copyRows: n.copyRows,
	}
}

// neonGEMM are the functions of one element type, with vl elements in a vector.
type neonGEMM[T float] struct {
	vl        int
	near      func(rows, cols, k int, a, b, c *T, ldc int, add bool, next, bias, residual *T, floor T, far *T, step int)
	skinny    skinnyTile[T]
	transpose func(dst *T, ldd int, src *T, lds, k int)
	copyRows  func(dst, src *T, lds, k int)
}

// The micro-kernels do what tileNear does, for as many rows as the first number of the name at most,
// with panels of as many columns as the second. They load A and B in vectors, and multiply those of B
// by elements of A.

//go:noescape
func sgemmNearUkr8x12NEON(rows, cols, k int, a, b, c *float32, ldc int, add bool, next, bias, residual *float32, floor float32, far *float32, step int)

//go:noescape
func dgemmNearUkr8x6NEON(rows, cols, k int, a, b, c *float64, ldc int, add bool, next, bias, residual *float64, floor float64, far *float64, step int)

// The functions below do what tileSkinny does.

//go:noescape
func sgemmSkinnyNEON(m, n, steps int, x, b *float32, ldb int, y *float32, ldy int)

//go:noescape
func dgemmSkinnyNEON(m, n, steps int, x, b *float64, ldb int, y *float64, ldy int)

// The functions below do what transposePortable does for k a multiple of the vector length and as many
// rows as that.

//go:noescape
func sgemmTransposeNEON(dst *float32, ldd int, src *float32, lds, k int)

//go:noescape
func dgemmTransposeNEON(dst *float64, ldd int, src *float64, lds, k int)

// The functions below do what copyRowsPortable does with nr three vectors.

//go:noescape
func sgemmCopyRowsNEON(dst, src *float32, lds, k int)

//go:noescape
func dgemmCopyRowsNEON(dst, src *float64, lds, k int)
