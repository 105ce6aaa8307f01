package cpu

import (
	"unsafe"

	"hwcal/bench/element"
	"hwcal/schema"
)

// halfKernels are those of a type of 16 bits, over an m x n matrix. Everything is
// computed in fp32 and rounded to nearest, ties to even.
type halfKernels struct {
	// widen writes dst[i*ldd+j] = src[i*lds+j].
	widen func(dst *float32, src *uint16, ldd, lds, m, n int)
	// round does so too. Where a unit rounds to bf16, it takes what is below the normal
	// numbers for 0.
	round func(dst *uint16, src *float32, ldd, lds, m, n int)
	// roundAhead is round, and fetches the n elements behind each row of dst.
	roundAhead func(dst *uint16, src *float32, ldd, lds, m, n int)
	// relu writes dst[i*ldd+j] = max(src[i*lds+j], 0), NaN for NaN.
	relu func(dst, src *uint16, ldd, lds, m, n int)
	// add, sub, mul and div write dst[i*ldd+j] = src[i*lds+j] op y[i*ldy+j].
	add, sub, mul, div func(dst, src, y *uint16, ldd, lds, ldy, m, n int)
	// addWide is add, from and to fp32.
	addWide func(dst, src *float32, y *uint16, ldd, lds, ldy, m, n int)
	// affineRows writes dst[i*ldd+j] = a[i] src[i*lds+j] + b[i].
	affineRows func(dst, src *uint16, a, b *float32, ldd, lds, m, n int)
	// scale writes dst[i*ldd+j] = a src[i*lds+j].
	scale func(dst, src *uint16, ldd, lds, m, n int, a float32)
	// finish rounds max(src[i*lds+j] + bias[i], floor), NaN for NaN.
	finish func(dst *uint16, src, bias *float32, ldd, lds, m, n int, floor float32)
	// zip interleaves zipColumns columns of two rows, for pairs of rows ld bytes apart: of the
	// pairs of columns that it writes, those of two rows follow those of the two before.
	zip func(dst, src *byte, ld, pairs int)
}

// zipColumns is the number of columns that zip takes.
const zipColumns = 32

func halfKernelsFor(d schema.DType, isa ISA) halfKernels {
	if k, ok := halfAssembly(d, isa); ok {
		return k
	}
	if d == schema.BF16 {
		return portableHalf(element.ToBF16, element.BF16.Float)
	}
	return portableHalf(element.ToFP16, element.FP16.Float)
}

// with is the kernel of an operation that meets a second matrix.
func (k halfKernels) with(operation string) func(dst, src, y *uint16, ldd, lds, ldy, m, n int) {
	switch operation {
	case "sub":
		return k.sub
	case "mul":
		return k.mul
	case "div":
		return k.div
	}
	return k.add // bias and mask too
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
		relu: func(dst, src *uint16, ldd, lds, m, n int) {
			convertRows(dst, src, ldd, lds, m, n, func(x uint16) uint16 { return half(rectified(wide(x))) })
		},
		add: combineRows(func(x, y uint16) uint16 { return half(wide(x) + wide(y)) }),
		sub: combineRows(func(x, y uint16) uint16 { return half(wide(x) - wide(y)) }),
		mul: combineRows(func(x, y uint16) uint16 { return half(wide(x) * wide(y)) }),
		div: combineRows(func(x, y uint16) uint16 { return half(wide(x) / wide(y)) }),
		addWide: func(dst, src *float32, y *uint16, ldd, lds, ldy, m, n int) {
			to, from, with := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n), unsafe.Slice(y, (m-1)*ldy+n)
			for i := range m {
				for j, x := range from[i*lds:][:n] {
					to[i*ldd+j] = x + wide(with[i*ldy+j])
				}
			}
		},
		scale: func(dst, src *uint16, ldd, lds, m, n int, a float32) {
			convertRows(dst, src, ldd, lds, m, n, func(x uint16) uint16 { return half(wide(x) * a) })
		},
		finish: func(dst *uint16, src, bias *float32, ldd, lds, m, n int, floor float32) {
			to, from, plus := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n), unsafe.Slice(bias, m)
			for i := range m {
				for j, x := range from[i*lds:][:n] {
					to[i*ldd+j] = half(max(x+plus[i], floor))
				}
			}
		},
		affineRows: func(dst, src *uint16, a, b *float32, ldd, lds, m, n int) {
			to, from := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n)
			factors, summands := unsafe.Slice(a, m), unsafe.Slice(b, m)
			for i := range m {
				for j, x := range from[i*lds:][:n] {
					// The product is exact in float64, as it is in a fused multiply-add.
					to[i*ldd+j] = half(float32(float64(factors[i])*float64(wide(x)) + float64(summands[i])))
				}
			}
		},
		zip: zipPortable,
	}
}

func zipPortable(dst, src *byte, ld, pairs int) {
	to := as[uint16](unsafe.Slice(dst, pairs*zipColumns*4))
	from := unsafe.Slice(src, (2*pairs-1)*ld+zipColumns*2)
	for i := range 2 * pairs {
		row := as[uint16](from[i*ld:])
		for j := range zipColumns {
			to[(i/2*zipColumns+j)*2+i%2] = row[j]
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

// combineRows makes a kernel that writes dst[i*ldd+j] = f(src[i*lds+j], y[i*ldy+j]).
func combineRows(f func(x, y uint16) uint16) func(dst, src, y *uint16, ldd, lds, ldy, m, n int) {
	return func(dst, src, y *uint16, ldd, lds, ldy, m, n int) {
		to, from, with := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n), unsafe.Slice(y, (m-1)*ldy+n)
		for i := range m {
			for j, x := range from[i*lds:][:n] {
				to[i*ldd+j] = f(x, with[i*ldy+j])
			}
		}
	}
}

// blockElems is the number of elements of a block in fp32 that stays in every L1, with
// as many of 16 bits before and behind.
const blockElems = 1024

// inBlocks computes in fp32 on numbers of 16 bits: f gets them in block, which stays in
// L1, as many at once as it has room for.
func (k halfKernels) inBlocks(block []float32, dst, src []uint16, f func(x []float32)) {
	for len(src) > 0 {
		n := min(len(src), len(block))
		_ = dst[n-1]
		k.widen(&block[0], &src[0], n, n, 1, n)
		f(block[:n])
		k.roundAhead(&dst[0], &block[0], n, n, 1, n)
		dst, src = dst[n:], src[n:]
	}
}

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
