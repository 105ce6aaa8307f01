package cpu

// pairUnit is there for AVX512-BF16.
func pairUnit(u unit) (convUnit[float32], pairRows) {
	if u.name != "avx512_bf16" {
		return convUnit[float32]{}, nil
	}
	k := newConvUnit[float32](AVX512)
	k.nearKernels = nearKernels[float32, float32]{bf16gemmNearUkr14x32AVX512, bf16gemmPackUkr14x32AVX512, bf16gemmTapsUkr14x32AVX512}
	k.rounding = nearKernels[float32, uint16]{
		bf16gemmNearRoundingUkr14x32AVX512, bf16gemmPackRoundingUkr14x32AVX512, bf16gemmTapsRoundingUkr14x32AVX512,
	}
	return k, narrowPairRowsAVX512
}

// The micro-kernels do what those of fp32 do, with pairs of bf16 in A and B.

//go:noescape
func bf16gemmNearUkr14x32AVX512(rows, cols, k int, a, b, c *float32, ldc int, add bool, next, bias, residual *float32, floor float32, far *float32, step int)

//go:noescape
func bf16gemmPackUkr14x32AVX512(rows, cols, k int, a, b, c *float32, ldc int, add bool, next, bias, residual *float32, floor float32, src *float32, lds, at, far, mask int)

//go:noescape
func bf16gemmTapsUkr14x32AVX512(rows, cols, k int, a, b, c *float32, ldc int, add bool, next, bias, residual *float32, floor float32, src *float32, at int, places, masks *int)

//go:noescape
func bf16gemmNearRoundingUkr14x32AVX512(rows, cols, k int, a, b *float32, c *uint16, ldc int, add bool, next *uint16, bias *float32, residual *uint16, floor float32, far *float32, step int)

//go:noescape
func bf16gemmPackRoundingUkr14x32AVX512(rows, cols, k int, a, b *float32, c *uint16, ldc int, add bool, next *uint16, bias *float32, residual *uint16, floor float32, src *float32, lds, at, far, mask int)

//go:noescape
func bf16gemmTapsRoundingUkr14x32AVX512(rows, cols, k int, a, b *float32, c *uint16, ldc int, add bool, next *uint16, bias *float32, residual *uint16, floor float32, src *float32, at int, places, masks *int)

//go:noescape
func narrowPairRowsAVX512(dst, src *byte, ld, n int)
