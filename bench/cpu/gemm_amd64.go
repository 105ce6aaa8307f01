package cpu

// newGEMMKernels picks the kernels of one family. The tile keeps all but four of
// the vector registers busy: 14x2 vectors of 32 registers, 6x2 of 16.
func newGEMMKernels[T float](isa ISA) gemmKernels[T] {
	var all any
	switch any(T(0)).(type) {
	case float32:
		switch isa {
		case AVX512:
			all = gemmKernels[float32]{
				mr:     14,
				nr:     32,
				vl:     16,
				masked: true,
				tile:   sgemmUkr14x32AVX512,
				nearKernels: nearKernels[float32, float32]{
					tileNear: sgemmNearUkr14x32AVX512,
					tilePack: sgemmPackUkr14x32AVX512,
					tileTaps: sgemmTapsUkr14x32AVX512,
				},
				tileSkinny:      sgemmSkinnyAVX512,
				skinnyGrain:     1,
				tileGEMVFar:     sgemmGEMVFarAVX512,
				farRows:         8,
				tileGEMVStreams: sgemmGEMVStreamsAVX512,
				tileGEMVPanels:  sgemmGEMVPanelsAVX512,
				tilePlain:       sgemmPlain14x32AVX512,
				dots:            vecDotsF32AVX512,
				transpose:       inOrder(4, 16, sgemmTransposeAVX512),
				transposeRows:   4,
				copyRows:        sgemmCopyRowsAVX512,
			}
		case AVX2:
			all = gemmKernels[float32]{
				mr:   6,
				nr:   16,
				vl:   8,
				tile: sgemmUkr6x16AVX2,
				nearKernels: nearKernels[float32, float32]{
					tileNear: sgemmNearUkr6x16AVX2,
					tilePack: sgemmPackUkr6x16AVX2,
				},
				tileSkinny:      sgemmSkinnyAVX2,
				skinnyGrain:     1,
				tileGEMVFar:     sgemmGEMVFarAVX2,
				farRows:         8,
				tileGEMVStreams: sgemmGEMVStreamsAVX2,
				tileGEMVPanels:  sgemmGEMVPanelsAVX2,
				tilePlain:       sgemmPlain6x16AVX2,
				dots:            vecDotsF32AVX2,
				transpose:       inLanes(4, sgemmTransposeAVX2),
				transposeRows:   4,
				copyRows:        sgemmCopyRowsAVX2,
			}
		}
	case float64:
		switch isa {
		case AVX512:
			all = gemmKernels[float64]{
				mr:     14,
				nr:     16,
				vl:     8,
				masked: true,
				tile:   dgemmUkr14x16AVX512,
				nearKernels: nearKernels[float64, float64]{
					tileNear: dgemmNearUkr14x16AVX512,
					tilePack: dgemmPackUkr14x16AVX512,
					tileTaps: dgemmTapsUkr14x16AVX512,
				},
				tileSkinny:      dgemmSkinnyAVX512,
				skinnyGrain:     1,
				tileGEMVFar:     dgemmGEMVFarAVX512,
				farRows:         8,
				tileGEMVStreams: dgemmGEMVStreamsAVX512,
				tileGEMVPanels:  dgemmGEMVPanelsAVX512,
				tilePlain:       dgemmPlain14x16AVX512,
				dots:            vecDotsF64AVX512,
				transpose:       inOrder(2, 8, dgemmTransposeAVX512),
				transposeRows:   2,
				copyRows:        dgemmCopyRowsAVX512,
			}
		case AVX2:
			all = gemmKernels[float64]{
				mr:   6,
				nr:   8,
				vl:   4,
				tile: dgemmUkr6x8AVX2,
				nearKernels: nearKernels[float64, float64]{
					tileNear: dgemmNearUkr6x8AVX2,
					tilePack: dgemmPackUkr6x8AVX2,
				},
				tileSkinny:      dgemmSkinnyAVX2,
				skinnyGrain:     1,
				tileGEMVFar:     dgemmGEMVFarAVX2,
				farRows:         8,
				tileGEMVStreams: dgemmGEMVStreamsAVX2,
				tileGEMVPanels:  dgemmGEMVPanelsAVX2,
				tilePlain:       dgemmPlain6x8AVX2,
				dots:            vecDotsF64AVX2,
				transpose:       inLanes(2, dgemmTransposeAVX2),
				transposeRows:   2,
				copyRows:        dgemmCopyRowsAVX2,
			}
		}
	}
	if all == nil {
		return portableGEMMKernels[T]()
	}
	return all.(gemmKernels[T])
}

// The micro-kernels do what tilePortable does, for as many rows as the first
// number of the name at most, with panels of as many columns as the second.
// They broadcast A element by element and load B in vectors.

//go:noescape
func sgemmUkr14x32AVX512(rows, cols, k int, a, b, c *float32, ldc int, add bool, next *float32, fetch *run)

//go:noescape
func dgemmUkr14x16AVX512(rows, cols, k int, a, b, c *float64, ldc int, add bool, next *float64, fetch *run)

//go:noescape
func sgemmUkr6x16AVX2(rows, cols, k int, a, b, c *float32, ldc int, add bool, next *float32, fetch *run)

//go:noescape
func dgemmUkr6x8AVX2(rows, cols, k int, a, b, c *float64, ldc int, add bool, next *float64, fetch *run)

// These do what tileNear does.

//go:noescape
func sgemmNearUkr14x32AVX512(rows, cols, k int, a, b, c *float32, ldc int, add bool, next, bias, residual *float32, floor float32, far *float32, step int)

//go:noescape
func dgemmNearUkr14x16AVX512(rows, cols, k int, a, b, c *float64, ldc int, add bool, next, bias, residual *float64, floor float64, far *float64, step int)

//go:noescape
func sgemmNearUkr6x16AVX2(rows, cols, k int, a, b, c *float32, ldc int, add bool, next, bias, residual *float32, floor float32, far *float32, step int)

//go:noescape
func dgemmNearUkr6x8AVX2(rows, cols, k int, a, b, c *float64, ldc int, add bool, next, bias, residual *float64, floor float64, far *float64, step int)

// These do what tilePack does.

//go:noescape
func sgemmPackUkr14x32AVX512(rows, cols, k int, a, b, c *float32, ldc int, add bool, next, bias, residual *float32, floor float32, src *float32, lds, at, far, mask int)

//go:noescape
func dgemmPackUkr14x16AVX512(rows, cols, k int, a, b, c *float64, ldc int, add bool, next, bias, residual *float64, floor float64, src *float64, lds, at, far, mask int)

//go:noescape
func sgemmPackUkr6x16AVX2(rows, cols, k int, a, b, c *float32, ldc int, add bool, next, bias, residual *float32, floor float32, src *float32, lds, at, far, mask int)

//go:noescape
func dgemmPackUkr6x8AVX2(rows, cols, k int, a, b, c *float64, ldc int, add bool, next, bias, residual *float64, floor float64, src *float64, lds, at, far, mask int)

// These do what tileTaps does.

//go:noescape
func sgemmTapsUkr14x32AVX512(rows, cols, k int, a, b, c *float32, ldc int, add bool, next, bias, residual *float32, floor float32, src *float32, at int, places, masks *int)

//go:noescape
func dgemmTapsUkr14x16AVX512(rows, cols, k int, a, b, c *float64, ldc int, add bool, next, bias, residual *float64, floor float64, src *float64, at int, places, masks *int)

// The functions below do what tileSkinny does.

//go:noescape
func sgemmSkinnyAVX512(m, n, steps int, x, b *float32, ldb int, y *float32, ldy int)

//go:noescape
func dgemmSkinnyAVX512(m, n, steps int, x, b *float64, ldb int, y *float64, ldy int)

//go:noescape
func sgemmSkinnyAVX2(m, n, steps int, x, b *float32, ldb int, y *float32, ldy int)

//go:noescape
func dgemmSkinnyAVX2(m, n, steps int, x, b *float64, ldb int, y *float64, ldy int)

// The functions below do what tileGEMVFar does.

//go:noescape
func sgemmGEMVFarAVX512(m, n, steps int, x, b *float32, ldb int, y *float32, ldy int)

//go:noescape
func dgemmGEMVFarAVX512(m, n, steps int, x, b *float64, ldb int, y *float64, ldy int)

//go:noescape
func sgemmGEMVFarAVX2(m, n, steps int, x, b *float32, ldb int, y *float32, ldy int)

//go:noescape
func dgemmGEMVFarAVX2(m, n, steps int, x, b *float64, ldb int, y *float64, ldy int)

// The functions below do what tileGEMVStreams does.

//go:noescape
func sgemmGEMVStreamsAVX512(m, n, steps int, x, b *float32, ldb int, y *float32, ldy int)

//go:noescape
func dgemmGEMVStreamsAVX512(m, n, steps int, x, b *float64, ldb int, y *float64, ldy int)

//go:noescape
func sgemmGEMVStreamsAVX2(m, n, steps int, x, b *float32, ldb int, y *float32, ldy int)

//go:noescape
func dgemmGEMVStreamsAVX2(m, n, steps int, x, b *float64, ldb int, y *float64, ldy int)

// The functions below do what tileGEMVPanels does.

//go:noescape
func sgemmGEMVPanelsAVX512(panels, k int, x, b *float32, stride int, y *float32, add bool)

//go:noescape
func dgemmGEMVPanelsAVX512(panels, k int, x, b *float64, stride int, y *float64, add bool)

//go:noescape
func sgemmGEMVPanelsAVX2(panels, k int, x, b *float32, stride int, y *float32, add bool)

//go:noescape
func dgemmGEMVPanelsAVX2(panels, k int, x, b *float64, stride int, y *float64, add bool)

// The functions below do what tilePlain does.

//go:noescape
func sgemmPlain14x32AVX512(rows, cols, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, add bool)

//go:noescape
func dgemmPlain14x16AVX512(rows, cols, k int, a *float64, lda int, b *float64, ldb int, c *float64, ldc int, add bool)

//go:noescape
func sgemmPlain6x16AVX2(rows, cols, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, add bool)

//go:noescape
func dgemmPlain6x8AVX2(rows, cols, k int, a *float64, lda int, b *float64, ldb int, c *float64, ldc int, add bool)
