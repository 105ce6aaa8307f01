package cpu

import (
	"github.com/klauspost/cpuid/v2"

	"hwcal/schema"
)

// units are those that there are kernels for; within an element type, the best comes
// first. FLOP per cycle are those of two pipes of a vector, which no core exceeds, or
// of a product of tiles, 16 x 16 sums of 64 bytes, in 16 cycles.
//
// The packing works on AVX-512 wherever there are tiles.
var units = []unit{
	{"amx", "AMX-BF16", schema.BF16, AMX, []cpuid.FeatureID{cpuid.AMXTILE, cpuid.AMXBF16, cpuid.AVX512BW}, 1024,
		narrowKernels{mr: 32, nr: 32, width: 16, sparesL1: true, group: 2, block: bf16gemmBlockAMX, packA: narrowPackAAVX512, packB: narrowPackPairsTilesAVX512},
		tilePeak(peakBF16AMX, 32)},
	{"avx512_bf16", "AVX512-BF16", schema.BF16, AVX512, []cpuid.FeatureID{cpuid.AVX512BF16, cpuid.AVX512BW}, 128,
		narrowKernels{mr: 14, nr: 32, width: 32, anyRows: true, group: 2, block: bf16gemmBlockAVX512BF16, packA: narrowPackAAVX512, packB: narrowPackPairsAVX512, skinny: bf16gemmSkinnyAVX512BF16, direct: bf16gemmDirectAVX512BF16, panels: bf16gemmPanelsAVX512BF16},
		dotPeak{peakBF16AVX512BF16, 1, 16, 2, 16}},
	{"amx", "AMX-FP16", schema.FP16, AMX, []cpuid.FeatureID{cpuid.AMXTILE, cpuid.AMXFP16, cpuid.AVX512BW}, 1024,
		narrowKernels{mr: 32, nr: 32, width: 16, sparesL1: true, group: 2, block: fp16gemmBlockAMX, packA: narrowPackAAVX512, packB: narrowPackPairsTilesAVX512},
		tilePeak(peakFP16AMX, 32)},
	{"avx512_fp16", "AVX512-FP16", schema.FP16, AVX512, []cpuid.FeatureID{cpuid.AVX512FP16, cpuid.AVX512BW}, 128,
		narrowKernels{mr: 14, nr: 64, width: 64, anyRows: true, group: 1, block: fp16gemmBlockAVX512FP16, packA: narrowPackAAVX512, packB: narrowPackRowsAVX512},
		dotPeak{peakFP16AVX512FP16, 1, 32, 1, 16}},
	{"amx", "AMX-INT8", schema.INT8, AMX, []cpuid.FeatureID{cpuid.AMXTILE, cpuid.AMXINT8, cpuid.AVX512BW}, 2048,
		narrowKernels{mr: 32, nr: 32, width: 16, sparesL1: true, group: 4, block: int8gemmBlockAMX, packA: narrowPackAAVX512, packB: narrowPackQuadsTilesAVX512},
		tilePeak(peakINT8AMX, 64)},
	{"avx512_vnni", "AVX512-VNNI", schema.INT8, AVX512, []cpuid.FeatureID{cpuid.AVX512VNNI, cpuid.AVX512BW}, 256,
		narrowKernels{mr: 14, nr: 32, width: 32, anyRows: true, group: 4, block: int8gemmBlockAVX512VNNI, packA: narrowPackAAVX512, packB: narrowPackQuadsAVX512, sumB: narrowSumQuadsAVX512VNNI, skinny: int8gemmSkinnyAVX512VNNI, direct: int8gemmDirectAVX512VNNI, panels: int8gemmPanelsAVX512VNNI},
		dotPeak{peakINT8AVX512VNNI, 1, 16, 4, 16}},
	{"avx_vnni", "AVX-VNNI", schema.INT8, AVX2, []cpuid.FeatureID{cpuid.AVXVNNI, cpuid.AVX2}, 128,
		narrowKernels{mr: 6, nr: 16, width: 16, anyRows: true, group: 4, block: int8gemmBlockAVXVNNI, packA: narrowPackAAVX2, packB: narrowPackQuadsAVX2, sumB: narrowSumQuadsAVXVNNI},
		dotPeak{peakINT8AVXVNNI, 1, 8, 4, 12}},
}

func tilePeak(run func(n int, from, to, a, b *byte), k int) dotPeak {
	return dotPeak{run, 16, 16, k, 4}
}

// The functions below do what narrowKernels.block says.

//go:noescape
func bf16gemmBlockAMX(rows, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int, out *byte, ldo, nextTile, nextRow int, aheadA *byte, secondA, nextA int, aheadB *byte, secondB, nextB int, spare *byte, lda int)

//go:noescape
func bf16gemmBlockAVX512BF16(rows, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int, out *byte, ldo, nextTile, nextRow int, aheadA *byte, secondA, nextA int, aheadB *byte, secondB, nextB int, spare *byte, lda int)

//go:noescape
func fp16gemmBlockAMX(rows, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int, out *byte, ldo, nextTile, nextRow int, aheadA *byte, secondA, nextA int, aheadB *byte, secondB, nextB int, spare *byte, lda int)

//go:noescape
func fp16gemmBlockAVX512FP16(rows, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int, out *byte, ldo, nextTile, nextRow int, aheadA *byte, secondA, nextA int, aheadB *byte, secondB, nextB int, spare *byte, lda int)

//go:noescape
func int8gemmBlockAMX(rows, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int, out *byte, ldo, nextTile, nextRow int, aheadA *byte, secondA, nextA int, aheadB *byte, secondB, nextB int, spare *byte, lda int)

//go:noescape
func int8gemmBlockAVX512VNNI(rows, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int, out *byte, ldo, nextTile, nextRow int, aheadA *byte, secondA, nextA int, aheadB *byte, secondB, nextB int, spare *byte, lda int)

//go:noescape
func int8gemmBlockAVXVNNI(rows, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int, out *byte, ldo, nextTile, nextRow int, aheadA *byte, secondA, nextA int, aheadB *byte, secondB, nextB int, spare *byte, lda int)

// The functions below do what narrowKernels.packA, packB and sumB say.

//go:noescape
func narrowPackAAVX512(dst, src *byte, ld, rows, steps, next int, flip uint64, far int)

//go:noescape
func narrowPackAAVX2(dst, src *byte, ld, rows, steps, next int, flip uint64, far int)

//go:noescape
func narrowPackPairsTilesAVX512(dst, src *byte, ld, groups int)

//go:noescape
func narrowPackPairsAVX512(dst, src *byte, ld, groups int)

//go:noescape
func narrowPackRowsAVX512(dst, src *byte, ld, groups int)

//go:noescape
func narrowPackQuadsTilesAVX512(dst, src *byte, ld, groups int)

//go:noescape
func narrowPackQuadsAVX512(dst, src *byte, ld, groups int)

//go:noescape
func narrowPackQuadsAVX2(dst, src *byte, ld, groups int)

//go:noescape
func narrowSumQuadsAVX512VNNI(panel *byte, groups int)

//go:noescape
func narrowSumQuadsAVXVNNI(panel *byte, groups int)

// The functions below do what narrowKernels.skinny says.

//go:noescape
func bf16gemmSkinnyAVX512BF16(m, n, steps int, x, b *byte, ldb int, y *byte)

//go:noescape
func int8gemmSkinnyAVX512VNNI(m, n, steps int, x, b *byte, ldb int, y *byte)

// The functions below do what narrowKernels.direct says.

//go:noescape
func bf16gemmDirectAVX512BF16(m, n, k int, a *byte, lda int, b *byte, ldb int, c *byte, ldc int, room *byte)

//go:noescape
func bf16gemmPanelsAVX512BF16(m, n, k int, a *byte, lda int, b *byte, next, sums int, c *byte, ldc int)

//go:noescape
func int8gemmDirectAVX512VNNI(m, n, k int, a *byte, lda int, b *byte, ldb int, c *byte, ldc int, room *byte)

//go:noescape
func int8gemmPanelsAVX512VNNI(m, n, k int, a *byte, lda int, b *byte, next, sums int, c *byte, ldc int)

// The functions below do what dotPeak.run says.

//go:noescape
func peakBF16AMX(n int, from, to, a, b *byte)

//go:noescape
func peakBF16AVX512BF16(n int, from, to, a, b *byte)

//go:noescape
func peakFP16AMX(n int, from, to, a, b *byte)

//go:noescape
func peakFP16AVX512FP16(n int, from, to, a, b *byte)

//go:noescape
func peakINT8AMX(n int, from, to, a, b *byte)

//go:noescape
func peakINT8AVX512VNNI(n int, from, to, a, b *byte)

//go:noescape
func peakINT8AVXVNNI(n int, from, to, a, b *byte)
