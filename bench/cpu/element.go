package cpu

import (
	"math"
	"unsafe"

	"hwcal/bench"
	"hwcal/schema"
)

// bf16 and fp16 are the bits of such a number.
type (
	bf16 uint16
	fp16 uint16
)

// element is how a tensor stores its values.
type element struct {
	bytes int64
	set   func(mem []byte, i int64, v float64)
	get   func(mem []byte, i int64) float64
	// spoil writes a value that no kernel computes.
	spoil func(mem []byte, i int64)
}

func elementOf[T any](from func(float64) T, to func(T) float64, wrong T) element {
	return element{
		bytes: int64(unsafe.Sizeof(wrong)),
		set:   func(mem []byte, i int64, v float64) { as[T](mem)[i] = from(v) },
		get:   func(mem []byte, i int64) float64 { return to(as[T](mem)[i]) },
		spoil: func(mem []byte, i int64) { as[T](mem)[i] = wrong },
	}
}

// elements by type.
var elements = map[schema.DType]element{
	schema.FP64: elementOf(func(v float64) float64 { return v }, func(x float64) float64 { return x }, math.NaN()),
	schema.FP32: elementOf(func(v float64) float32 { return float32(v) }, func(x float32) float64 { return float64(x) }, float32(math.NaN())),
	schema.FP16: elementOf(toFP16, fp16.float, toFP16(math.NaN())),
	schema.BF16: elementOf(toBF16, bf16.float, toBF16(math.NaN())),
	schema.INT8: elementOf(toINT8, func(x int8) float64 { return float64(x) }, math.MinInt8),
}

// sumInt32 is what int8 accumulates in. The smallest number is below every sum of
// up to 2^17 products.
var sumInt32 = elementOf(toSum, func(x int32) float64 { return float64(x) }, math.MinInt32)

// elementOfTensor is that of the type, of its accumulators, or of factors.
func elementOfTensor(t *bench.Tensor, d schema.DType) element {
	switch {
	case t.Sums && d == schema.INT8:
		return sumInt32
	case t.Factors, t.Sums && d != schema.FP64:
		return elements[schema.FP32]
	}
	return elements[d]
}

// toINT8 scales and rounds, and leaves -128 out, which has no opposite.
func toINT8(v float64) int8 {
	return int8(max(-127, min(math.RoundToEven(v*bench.Int8Unit), 127)))
}

// toSum scales as a product of two int8 is, and rounds.
func toSum(v float64) int32 {
	return int32(math.RoundToEven(v * bench.Int8Unit * bench.Int8Unit))
}

// toBF16 rounds to nearest, ties to even.
func toBF16(v float64) bf16 {
	bits := math.Float32bits(float32(v))
	if v != v {
		return bf16(bits>>16 | 1)
	}
	return bf16((bits + 0x7fff + bits>>16&1) >> 16)
}

func (x bf16) float() float64 { return float64(math.Float32frombits(uint32(x) << 16)) }

// toFP16 rounds to nearest, ties to even.
func toFP16(v float64) fp16 {
	sign := fp16(math.Float64bits(v) >> 48 & 0x8000)
	v = math.Abs(v)
	const (
		digits   = 10         // of the significand, behind the leading one
		smallest = 0x1p-14    // normal number
		overflow = 65504 + 16 // rounds to infinity
		infinity = fp16(31 << digits)
	)
	switch {
	case v != v:
		return sign | infinity | 1
	case v >= overflow:
		return sign | infinity
	case v < smallest:
		return sign | fp16(math.RoundToEven(v/smallest*(1<<digits)))
	}
	_, e := math.Frexp(v) // v = f 2^e with f in [1/2, 1)
	n := math.RoundToEven(math.Ldexp(v, digits+1-e))
	return sign | fp16((e+14-1)<<digits) + fp16(n) // a carry raises the exponent
}

func (x fp16) float() float64 {
	e, n := int(x>>10&31), float64(x&0x3ff)
	switch e {
	case 0:
		n = math.Ldexp(n, -24)
	case 31:
		if n != 0 {
			return math.NaN()
		}
		n = math.Inf(1)
	default:
		n = math.Ldexp(1024+n, e-25)
	}
	if x>>15 == 1 {
		return -n
	}
	return n
}
