package cpu

import (
	"math"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// Every 16-bit number converts to itself, and what lies between two of them to the
// nearer one, or to the even one.
func TestRounding(t *testing.T) {
	for _, d := range []schema.DType{schema.FP16, schema.BF16} {
		e := elements[d]
		mem := make([]byte, 2)
		round := func(v float64) (bits uint16) {
			e.set(mem, 0, v)
			return as[uint16](mem)[0]
		}
		value := func(bits uint16) float64 {
			as[uint16](mem)[0] = bits
			return e.get(mem, 0)
		}
		infinity := map[schema.DType]uint16{schema.FP16: 0x7c00, schema.BF16: 0x7f80}[d]
		if !math.IsInf(value(infinity), 1) || !math.IsNaN(value(infinity+1)) || !math.IsNaN(value(round(math.NaN()))) {
			t.Errorf("%s: infinity or NaN", d)
		}
		for bits := uint16(0); bits < infinity; bits++ {
			x, next := value(bits), value(bits+1)
			if math.IsInf(next, 1) {
				next = 2*x - value(bits-1) // where the next number would lie
			}
			middle := (x + next) / 2
			below, above := x+(next-x)*0.499, x+(next-x)*0.501
			for _, c := range []struct {
				v    float64
				want uint16
			}{{x, bits}, {below, bits}, {middle, bits + bits&1}, {above, bits + 1}} {
				if got := round(c.v); got != c.want {
					t.Fatalf("%s: %g became %#04x, want %#04x", d, c.v, got, c.want)
				}
				if got := round(-c.v); got != c.want|0x8000 {
					t.Fatalf("%s: %g became %#04x, want %#04x", d, -c.v, got, c.want|0x8000)
				}
			}
		}
	}
}

func TestElements(t *testing.T) {
	for v, want := range map[float64]int8{0: 0, 1: 32, -1: -32, 100: 127, -100: -127} {
		if got := toINT8(v); got != want {
			t.Errorf("toINT8(%g) = %d, want %d", v, got, want)
		}
	}
	if got := toSum(-1.5 / 1024); got != -2 {
		t.Errorf("toSum rounds -1.5 to %d, want -2", got)
	}
	sums, factors := &bench.Tensor{Sums: true}, &bench.Tensor{Factors: true}
	for d, want := range map[schema.DType]int64{schema.FP64: 8, schema.FP32: 4, schema.FP16: 4, schema.BF16: 4, schema.INT8: 4} {
		e := elementOfTensor(sums, d)
		if e.bytes != want || e.bytes != d.SumBytes() {
			t.Errorf("%s: a sum of %d bytes, want %d", d, e.bytes, want)
		}
		if plain := elementOfTensor(&bench.Tensor{}, d); plain.bytes != d.Bytes() {
			t.Errorf("%s: an element of %d bytes, want %d", d, plain.bytes, d.Bytes())
		}
		if factor := elementOfTensor(factors, d); factor.bytes != 4 || factor.get([]byte{0, 0, 0xc0, 0x3f}, 0) != 1.5 {
			t.Errorf("%s: a factor is no fp32", d)
		}
		for _, e := range []element{e, elements[d]} {
			mem := make([]byte, 8)
			e.spoil(mem, 0)
			if got := e.get(mem, 0); got == got && got != math.MinInt32 && got != math.MinInt8 {
				t.Errorf("%s: poison reads %g", d, got)
			}
		}
	}
}
