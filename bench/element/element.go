// Package element is how tensors store their values: each element type as bytes, in
// the order of this machine, which GPUs share.
package element

import (
	"math"
	"unsafe"

	"hwcal/bench"
	"hwcal/schema"
)

// Element reads and writes elements of one type.
type Element struct {
	Bytes int64
	// Set writes the nearest value of the type; of int8 that to bench.Int8Unit v.
	Set func(mem []byte, i int64, v float64)
	Get func(mem []byte, i int64) float64
	// Spoil writes a value that no kernel computes.
	Spoil func(mem []byte, i int64)
}

func of[T any](from func(float64) T, to func(T) float64, wrong T) Element {
	return Element{
		Bytes: int64(unsafe.Sizeof(wrong)),
		Set:   func(mem []byte, i int64, v float64) { as[T](mem)[i] = from(v) },
		Get:   func(mem []byte, i int64) float64 { return to(as[T](mem)[i]) },
		Spoil: func(mem []byte, i int64) { as[T](mem)[i] = wrong },
	}
}

// as views memory as elements.
func as[T any](mem []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/int(unsafe.Sizeof(*new(T))))
}

func single(v float64) float32 { return float32(v) }
func double(x float32) float64 { return float64(x) }
func same(v float64) float64   { return v }
func integer(x int8) float64   { return float64(x) }
func integers(x int32) float64 { return float64(x) }

// elements by type. tf32 is stored as fp32 that has been rounded to it: hardware that
// drops the low bits then drops nothing.
var elements = map[schema.DType]Element{
	schema.FP64: of(same, same, math.NaN()),
	schema.FP32: of(single, double, float32(math.NaN())),
	schema.TF32: of(toTF32, double, float32(math.NaN())),
	schema.FP16: of(ToFP16, FP16.Float, ToFP16(math.NaN())),
	schema.BF16: of(ToBF16, BF16.Float, ToBF16(math.NaN())),
	schema.FP8:  of(ToFP8, FP8.Float, ToFP8(math.NaN())),
	schema.INT8: of(ToINT8, integer, math.MinInt8),
}

// sumInt32 is what int8 accumulates in. The smallest number is below every sum of
// up to 2^17 products.
var sumInt32 = of(ToSum, integers, math.MinInt32)

// labelInt32 is how labels and indices are stored.
var labelInt32 = of(func(v float64) int32 { return int32(v) }, integers, -1)

// Of the tensors of a type.
func Of(d schema.DType) Element { return elements[d] }

// OfTensor is that of the type, of its accumulators, of factors, or of labels.
func OfTensor(t *bench.Tensor, d schema.DType) Element {
	switch {
	case t.Fill.Classes() > 0:
		return labelInt32
	case t.Sums && d == schema.INT8:
		return sumInt32
	case t.Factors, t.Sums && d != schema.FP64:
		return elements[schema.FP32]
	}
	return elements[d]
}

// ToINT8 scales and rounds, and leaves -128 out, which has no opposite.
func ToINT8(v float64) int8 {
	return int8(max(-127, min(math.RoundToEven(v*bench.Int8Unit), 127)))
}

// ToSum scales as a product of two int8 is, and rounds.
func ToSum(v float64) int32 {
	return int32(math.RoundToEven(v * bench.Int8Unit * bench.Int8Unit))
}

// toTF32 rounds to the 10 stored bits of its significand, ties to even.
func toTF32(v float64) float32 {
	bits := math.Float32bits(float32(v))
	if v != v || math.IsInf(v, 0) {
		return float32(v)
	}
	return math.Float32frombits((bits + 0xfff + bits>>13&1) &^ 0x1fff)
}

// BF16, FP16 and FP8 (e4m3) are the bits of such a number.
type (
	BF16 uint16
	FP16 uint16
	FP8  uint8
)

// ToBF16 rounds to nearest, ties to even.
func ToBF16(v float64) BF16 {
	bits := math.Float32bits(float32(v))
	if v != v {
		return BF16(bits>>16 | 1)
	}
	return BF16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float is the value.
func (x BF16) Float() float64 { return float64(math.Float32frombits(uint32(x) << 16)) }

// ToFP16 rounds to nearest, ties to even.
func ToFP16(v float64) FP16 {
	const (
		overflow = 65504 + 16 // rounds to infinity
		infinity = 31 << 10
	)
	sign := FP16(math.Float64bits(v) >> 48 & 0x8000)
	v = math.Abs(v)
	switch {
	case v != v:
		return sign | infinity | 1
	case v >= overflow:
		return sign | infinity
	}
	return sign | FP16(small(v, 10, -14))
}

// Float is the value.
func (x FP16) Float() float64 {
	e, n := int(x>>10&31), int(x&0x3ff)
	if e == 31 {
		if n != 0 {
			return math.NaN()
		}
		return math.Copysign(math.Inf(1), -float64(x>>15)+0.5)
	}
	return signed(x>>15 == 1, value(e, n, 10, -14))
}

// ToFP8 rounds to nearest, ties to even; what is too large becomes the largest number,
// 448: e4m3 has no infinity.
func ToFP8(v float64) FP8 {
	const largest = 448
	sign := FP8(math.Float64bits(v) >> 56 & 0x80)
	v = math.Abs(v)
	if v != v {
		return sign | 0x7f
	}
	return sign | FP8(small(min(v, largest), 3, -6))
}

// Float is the value.
func (x FP8) Float() float64 {
	if x&0x7f == 0x7f {
		return math.NaN()
	}
	return signed(x>>7 == 1, value(int(x>>3&15), int(x&7), 3, -6))
}

// small encodes v >= 0 with so many stored digits, where 2^least is the smallest normal
// number. What rounds up to the next power of two carries into the exponent.
func small(v float64, digits, least int) uint32 {
	if v < math.Ldexp(1, least) {
		return uint32(math.RoundToEven(math.Ldexp(v, digits-least)))
	}
	_, e := math.Frexp(v) // v = f 2^e with f in [1/2, 1)
	n := math.RoundToEven(math.Ldexp(v, digits+1-e))
	return uint32(e-1-least)<<digits + uint32(n)
}

// value decodes what small encodes.
func value(e, n, digits, least int) float64 {
	if e == 0 {
		return math.Ldexp(float64(n), least-digits)
	}
	return math.Ldexp(float64(int(1)<<digits+n), least-digits+e-1)
}

func signed(negative bool, v float64) float64 {
	if negative {
		return -v
	}
	return v
}
