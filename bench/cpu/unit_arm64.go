package cpu

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"hwcal/schema"
)

// units are those that there are kernels for; within an element type, the best comes first. FLOP per
// cycle are those of fmaPipes instructions, which no core exceeds: BFMMLA multiplies 2x4 by 4x2
// elements, SMMLA 2x8 by 8x2, and a lane of BFDOT adds 2 products, one of SDOT 4.
var units = []unit{
	{"neon_bfmmla", "BFMMLA", schema.BF16, NEON, []cpuid.FeatureID{cpuid.BF16}, fmaPipes * 32,
		neonTiles[uint16](16, 4, bf16gemmTile6x16NEONBFMMLA), dotPeak{peakBF16NEONBFMMLA, 2, 2, 4, 24}},
	{"neon_bfdot", "BFDOT", schema.BF16, NEON, []cpuid.FeatureID{cpuid.BF16}, fmaPipes * 16,
		neonTiles[uint16](16, 2, bf16gemmTile6x16NEONBFDOT), dotPeak{peakBF16NEONBFDOT, 1, 4, 2, 24}},
	// macOS tells of conversions under the name of ASIMDHP.
	{"neon_fp16", "FMLA on halves", schema.FP16, NEON, []cpuid.FeatureID{cpuid.FPHP, cpuid.ASIMDHP}, fmaPipes * 16,
		neonTiles[uint16](32, 1, fp16gemmTile6x32NEONFP16), dotPeak{peakFP16NEONFP16, 1, 8, 2, 24}},
	{"neon_smmla", "SMMLA", schema.INT8, NEON, []cpuid.FeatureID{cpuid.I8MM}, fmaPipes * 64,
		neonTiles[uint8](16, 8, int8gemmTile6x16NEONSMMLA), dotPeak{peakINT8NEONSMMLA, 2, 2, 8, 24}},
	{"neon_sdot", "SDOT", schema.INT8, NEON, []cpuid.FeatureID{cpuid.ASIMDDP}, fmaPipes * 32,
		neonTiles[uint8](16, 4, int8gemmTile6x16NEONSDOT), dotPeak{peakINT8NEONSDOT, 1, 4, 4, 24}},
}

// neonTile multiplies one panel of A by one of B, as narrowKernels.block does.
type neonTile func(steps int, a, b, acc *byte, load bool, out *byte, ldo int)

// neonTiles are the kernels for tiles of 6 rows and nr columns: packing is portable, and what the next
// block needs is left to the hardware.
func neonTiles[E uint8 | uint16](nr, group int, tile neonTile) narrowKernels {
	const mr = 6
	return narrowKernels{mr: mr, nr: nr, width: nr, group: group, packA: packRowsPortable, packB: packGroupsPortable[E](nr, group),
		block: func(_, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int,
			out *byte, ldo, nextTile, nextRow int, _ *byte, _, _ int, _ *byte, _, _ int, _ *byte, _ int) {
			for i := range panelsA {
				for j := range panelsB {
					from := at(acc, (i*panelsB+j)*mr*nr*accBytes+i*accSkip)
					tile(steps, at(a, i*mr*steps*stepBytes), at(b, j*nr*steps*stepBytes), from, load, at(out, i*nextRow+j*nextTile), ldo)
				}
			}
		},
	}
}

// packRowsPortable does what narrowKernels.packA says, without a flip.
func packRowsPortable(dst, src *byte, ld, rows, steps, next int, _ uint64, _ int) {
	for row := range rows {
		for step := range steps {
			copy(unsafe.Slice(at(dst, step*next+row*stepBytes), stepBytes), unsafe.Slice(at(src, row*ld+step*stepBytes), stepBytes))
		}
	}
}

// packGroupsPortable is a narrowKernels.packB.
func packGroupsPortable[E uint8 | uint16](nr, group int) func(dst, src *byte, ld, groups int) {
	return func(dst, src *byte, ld, groups int) {
		to := unsafe.Slice((*E)(unsafe.Pointer(dst)), groups*nr*group)
		for row := range groups * group {
			for j, x := range unsafe.Slice((*E)(unsafe.Pointer(at(src, row*ld))), nr) {
				to[(row/group*nr+j)*group+row%group] = x
			}
		}
	}
}

// The functions below are neonTiles of 6 rows and as many columns as the second number of the name.

//go:noescape
func bf16gemmTile6x16NEONBFMMLA(steps int, a, b, acc *byte, load bool, out *byte, ldo int)

//go:noescape
func bf16gemmTile6x16NEONBFDOT(steps int, a, b, acc *byte, load bool, out *byte, ldo int)

//go:noescape
func fp16gemmTile6x32NEONFP16(steps int, a, b, acc *byte, load bool, out *byte, ldo int)

//go:noescape
func int8gemmTile6x16NEONSMMLA(steps int, a, b, acc *byte, load bool, out *byte, ldo int)

//go:noescape
func int8gemmTile6x16NEONSDOT(steps int, a, b, acc *byte, load bool, out *byte, ldo int)

// The functions below do what dotPeak.run says; that of halves adds to what it multiplies, and takes
// two instructions for a step.

//go:noescape
func peakBF16NEONBFMMLA(n int, from, to, a, b *byte)

//go:noescape
func peakBF16NEONBFDOT(n int, from, to, a, b *byte)

//go:noescape
func peakFP16NEONFP16(n int, from, to, a, b *byte)

//go:noescape
func peakINT8NEONSMMLA(n int, from, to, a, b *byte)

//go:noescape
func peakINT8NEONSDOT(n int, from, to, a, b *byte)
