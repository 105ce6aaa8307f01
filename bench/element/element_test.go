package element

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
		e := Of(d)
		mem := make([]byte, 2)
		round := func(v float64) (bits uint16) {
			e.Set(mem, 0, v)
			return as[uint16](mem)[0]
		}
		value := func(bits uint16) float64 {
			as[uint16](mem)[0] = bits
			return e.Get(mem, 0)
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
		if got := ToINT8(v); got != want {
			t.Errorf("ToINT8(%g) = %d, want %d", v, got, want)
		}
	}
	if got := ToSum(-1.5 / 1024); got != -2 {
		t.Errorf("ToSum rounds -1.5 to %d, want -2", got)
	}
	sums, factors := &bench.Tensor{Sums: true}, &bench.Tensor{Factors: true}
	for d, want := range map[schema.DType]int64{schema.FP64: 8, schema.FP32: 4, schema.TF32: 4, schema.FP8: 4, schema.FP16: 4, schema.BF16: 4, schema.INT8: 4} {
		e := OfTensor(sums, d)
		if e.Bytes != want || e.Bytes != d.SumBytes() {
			t.Errorf("%s: a sum of %d bytes, want %d", d, e.Bytes, want)
		}
		if plain := OfTensor(&bench.Tensor{}, d); plain.Bytes != d.Bytes() {
			t.Errorf("%s: an element of %d bytes, want %d", d, plain.Bytes, d.Bytes())
		}
		if factor := OfTensor(factors, d); factor.Bytes != 4 || factor.Get([]byte{0, 0, 0xc0, 0x3f}, 0) != 1.5 {
			t.Errorf("%s: a factor is no fp32", d)
		}
		for _, e := range []Element{e, Of(d)} {
			mem := make([]byte, 8)
			e.Spoil(mem, 0)
			if got := e.Get(mem, 0); got == got && got != math.MinInt32 && got != math.MinInt8 {
				t.Errorf("%s: poison reads %g", d, got)
			}
		}
	}
}

// All numbers of e4m3 but NaN convert to themselves, and what lies between two to the
// nearer one.
func TestFP8(t *testing.T) {
	for x := range FP8(0x7f) {
		for _, sign := range []FP8{0, 0x80} {
			if got := ToFP8((x | sign).Float()); got != x|sign {
				t.Errorf("%#02x reads %g, which became %#02x", x|sign, (x | sign).Float(), got)
			}
		}
		if x == 0x7e {
			continue
		}
		low, high := x.Float(), (x + 1).Float()
		if got := ToFP8(low + (high-low)*0.49); got != x {
			t.Errorf("just above %g became %g", low, got.Float())
		}
		if got := ToFP8((low + high) / 2); got != x+x&1 {
			t.Errorf("between %g and %g became %g", low, high, got.Float())
		}
	}
	if got := FP8(0x7e).Float(); got != 448 || ToFP8(1e9) != 0x7e || ToFP8(-1e9) != 0xfe {
		t.Errorf("the largest number is %g, of 1e9 %g", got, ToFP8(1e9).Float())
	}
	if got := ToFP8(math.NaN()).Float(); got == got {
		t.Errorf("NaN became %g", got)
	}
}

// tf32 keeps ten bits behind the leading one.
func TestTF32(t *testing.T) {
	for v, want := range map[float64]float64{1: 1, 1 + 0x1p-11: 1, 1 + 0x1.8p-10: 1 + 0x1p-9, -(1 + 0x1.01p-11): -(1 + 0x1p-10), math.Inf(1): math.Inf(1)} {
		mem := make([]byte, 4)
		Of(schema.TF32).Set(mem, 0, v)
		if got := Of(schema.TF32).Get(mem, 0); got != want {
			t.Errorf("%g became %g, want %g", v, got, want)
		}
	}
}
