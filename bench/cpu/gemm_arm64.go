package cpu

import "math"

// newGEMMKernels picks the kernels of one family. The sums of a tile fill 24 of the 32 vector
// registers: 8 rows of 3 vectors. Packing is portable.
func newGEMMKernels[T float](isa ISA) gemmKernels[T] {
	k := portableGEMMKernels[T]()
	if isa != NEON {
		return k
	}
	var near, skinny any
	switch any(T(0)).(type) {
	case float32:
		near, skinny, k.vl = sgemmNearUkr8x12NEON, sgemmSkinnyNEON, 4
	case float64:
		near, skinny, k.vl = dgemmNearUkr8x6NEON, dgemmSkinnyNEON, 2
	}
	k.mr, k.nr = 8, 3*k.vl
	k.tileNear = near.(func(rows, cols, k int, a, b, c *T, ldc int, add bool, next, bias, residual *T, floor T, far *T))
	k.tile = func(rows, cols, steps int, a, b, c *T, ldc int, add bool, next *T, _ *run) {
		k.tileNear(rows, cols, steps, a, b, c, ldc, add, next, nil, nil, T(math.Inf(-1)), nil)
	}
	k.tileSkinny, k.skinnyGrain = skinny.(func(m, n, steps int, x, b *T, ldb int, y *T, ldy int)), k.vl
	k.copyRows = func(dst, src *T, lds, steps int) { copyRowsPortable(dst, src, lds, steps, k.nr) }
	return k
}

// The micro-kernels do what tileNear does, for as many rows as the first number of the name at most,
// with panels of as many columns as the second. They load A and B in vectors, and multiply those of B
// by elements of A.

//go:noescape
func sgemmNearUkr8x12NEON(rows, cols, k int, a, b, c *float32, ldc int, add bool, next, bias, residual *float32, floor float32, far *float32)

//go:noescape
func dgemmNearUkr8x6NEON(rows, cols, k int, a, b, c *float64, ldc int, add bool, next, bias, residual *float64, floor float64, far *float64)

// The functions below do what tileSkinny does.

//go:noescape
func sgemmSkinnyNEON(m, n, steps int, x, b *float32, ldb int, y *float32, ldy int)

//go:noescape
func dgemmSkinnyNEON(m, n, steps int, x, b *float64, ldb int, y *float64, ldy int)
