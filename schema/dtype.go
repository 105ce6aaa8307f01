package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// DType is an element type in which a device computes. Accumulation is in the
// same type for fp64 and fp32, in fp32 for the narrower floating types and in
// int32 for int8.
type DType string

const (
	FP64 DType = "fp64"
	FP32 DType = "fp32"
	TF32 DType = "tf32"
	FP16 DType = "fp16"
	BF16 DType = "bf16"
	FP8  DType = "fp8_e4m3"
	INT8 DType = "int8"
)

// dtypes is the one table of element types: name, bytes of one stored element
// and bits of the significand, the implicit one included (0 for integers).
var dtypes = []struct {
	name        DType
	bytes       int64
	significand int
}{
	{FP64, 8, 53},
	{FP32, 4, 24},
	{TF32, 4, 11},
	{FP16, 2, 11},
	{BF16, 2, 8},
	{FP8, 1, 4},
	{INT8, 1, 0},
}

// DTypes lists every element type, widest first.
func DTypes() []DType {
	all := make([]DType, len(dtypes))
	for i, d := range dtypes {
		all[i] = d.name
	}
	return all
}

// MainDType picks from the measured types, of which there is at least one, the one that networks compute in most on that kind
// of device: fp32 on CPUs; bf16 on GPUs, or fp16 or fp32 on older ones. If none of these was measured it is the first.
func MainDType(kind Kind, measured []DType) DType {
	preferred := []DType{FP32}
	if kind == GPU {
		preferred = []DType{BF16, FP16, FP32}
	}
	for _, d := range preferred {
		if slices.Contains(measured, d) {
			return d
		}
	}
	return measured[0]
}

// Bytes is the size of one stored element; 0 for a name that is not a DType.
func (d DType) Bytes() int64 {
	for _, t := range dtypes {
		if t.name == d {
			return t.bytes
		}
	}
	return 0
}

// Mixed says whether the accumulation is in another type: what multiplies is then a unit of its own, such as tensor cores.
func (d DType) Mixed() bool { return d != FP64 && d != FP32 }

// RateUnit is the unit of 1e9 operations a second: those on integers are not floating-point ones.
func (d DType) RateUnit() string {
	if d == INT8 {
		return "GOPS"
	}
	return "GFLOPS"
}

// SumBytes is the size of one element of the type that it accumulates in.
func (d DType) SumBytes() int64 { return max(d.Bytes(), FP32.Bytes()) }

// UnitRoundoff is u = 2^-p for a significand of p bits: the largest relative
// error of rounding one real number to the type. It is 0 for integers.
func (d DType) UnitRoundoff() float64 {
	for _, t := range dtypes {
		if t.name == d && t.significand > 0 {
			return 1 / float64(int64(1)<<t.significand)
		}
	}
	return 0
}

// ParseDType returns the element type of that name.
func ParseDType(name string) (DType, error) {
	d := DType(name)
	if d.Bytes() == 0 {
		return "", fmt.Errorf("unknown dtype %q, want one of %s", name, join(DTypes()))
	}
	return d, nil
}

// JSONSchema closes the set of values.
func (DType) JSONSchema() *jsonschema.Schema {
	return enum("Element type. fp32 means fp32: tf32 is a type of its own.", DTypes()...)
}

func enum[T ~string](description string, values ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: description}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

func join[T ~string](values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return strings.Join(names, ", ")
}
