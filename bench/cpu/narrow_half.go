package cpu

import (
	"unsafe"

	"hwcal/bench/element"
	"hwcal/schema"
)

// halfKernels are those of a type of 16 bits, over an m x n matrix. Everything is
// computed in fp32 and rounded to nearest, ties to even.
type halfKernels struct {
	storedKernels[uint16, float32]

	// widen writes dst[i*ldd+j] = src[i*lds+j].
	widen func(dst *float32, src *uint16, ldd, lds, m, n int)
	// round does so too. Where a unit rounds to bf16, it takes what is below the normal
	// numbers for 0.
	round func(dst *uint16, src *float32, ldd, lds, m, n int)
	// roundAhead is round, and fetches the n elements behind each row of dst.
	roundAhead func(dst *uint16, src *float32, ldd, lds, m, n int)
	// finishRows rounds max(src[i*lds+j] + bias[i] + y[i*ldy+j], floor), NaN for NaN, finishCols with bias[j]. There
	// may be no y.
	finishRows, finishCols finishHalves
}

type finishHalves func(dst *uint16, src, bias *float32, y *uint16, ldd, lds, ldy, m, n int, floor float32)

// halfKernelsFor is the table of an instruction set.
func halfKernelsFor(d schema.DType, isa ISA) halfKernels {
	k, ok := halfAssembly(d, isa)
	switch {
	case !ok && d == schema.BF16:
		k = portableHalf(element.ToBF16, element.BF16.Float)
	case !ok:
		k = portableHalf(element.ToFP16, element.FP16.Float)
	}
	if k.exp == nil {
		k.storedKernels = halvesThrough(k, vecKernelsFor[float32](isa))
	}
	k.keep, k.take = k.roundSlice, k.widenSlice
	return k
}

func portableHalf[T ~uint16](from func(float64) T, to func(T) float64) halfKernels {
	wide := func(x uint16) float32 { return float32(to(T(x))) }
	half := func(x float32) uint16 { return uint16(from(float64(x))) }
	round := func(dst *uint16, src *float32, ldd, lds, m, n int) {
		convertRows(dst, src, ldd, lds, m, n, half)
	}
	return halfKernels{
		widen: func(dst *float32, src *uint16, ldd, lds, m, n int) {
			convertRows(dst, src, ldd, lds, m, n, wide)
		},
		round:      round,
		roundAhead: round,
		finishRows: finishHalfPortable(wide, half, func(i, _ int) int { return i }),
		finishCols: finishHalfPortable(wide, half, func(_, j int) int { return j }),
	}
}

// finishHalfPortable adds the bias that at chooses.
func finishHalfPortable(wide func(uint16) float32, half func(float32) uint16, at func(i, j int) int) finishHalves {
	return func(dst *uint16, src, bias *float32, y *uint16, ldd, lds, ldy, m, n int, floor float32) {
		to, from := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n)
		biases := unsafe.Slice(bias, at(m-1, n-1)+1)
		for i := range m {
			for j, x := range from[i*lds:][:n] {
				x += biases[at(i, j)]
				if y != nil {
					x += wide(unsafe.Slice(y, (m-1)*ldy+n)[i*ldy+j])
				}
				to[i*ldd+j] = half(max(x, floor))
			}
		}
	}
}

// convertRows writes dst[i*ldd+j] = f(src[i*lds+j]).
func convertRows[D, S any](dst *D, src *S, ldd, lds, m, n int, f func(S) D) {
	to, from := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n)
	for i := range m {
		for j, x := range from[i*lds:][:n] {
			to[i*ldd+j] = f(x)
		}
	}
}

// blockElems is the number of elements of a block in fp32 that stays in every L1, with
// as many of 16 bits before and behind.
const blockElems = 1024

// widenSlice and roundSlice convert any number of elements.
func (k halfKernels) widenSlice(dst []float32, src []uint16) {
	for at := 0; at < len(src); at += vecCall {
		n := min(vecCall, len(src)-at)
		k.widen(&dst[at:][:n][0], &src[at], n, n, 1, n)
	}
}

func (k halfKernels) roundSlice(dst []uint16, src []float32) {
	for at := 0; at < len(src); at += vecCall {
		n := min(vecCall, len(src)-at)
		k.roundAhead(&dst[at:][:n][0], &src[at], n, n, 1, n)
	}
}
