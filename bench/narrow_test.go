package bench

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hwcal/bench/ref"
	"hwcal/schema"
)

// The output of a product holds sums: fp32 for 16-bit types, int32 for int8.
func TestBytesOfSums(t *testing.T) {
	_, c := build(t, "matmul", "3x5x7")
	for d, want := range map[schema.DType]int64{
		schema.FP64: 8 * (21 + 35 + 15), schema.FP32: 4 * (21 + 35 + 15),
		schema.FP16: 2*(21+35) + 4*15, schema.BF16: 2*(21+35) + 4*15, schema.INT8: 21 + 35 + 4*15,
	} {
		if got := c.FusedBytes(d); got != want {
			t.Errorf("%s: %d bytes, want %d", d, got, want)
		}
		if got := c.UnfusedBytes(d); got != want {
			t.Errorf("%s, unfused: %d bytes, want %d", d, got, want)
		}
	}
}

// A layer keeps all in the type of the case; in int8 its sums are int32 until they are
// requantized.
func TestCountsOfNarrowLayers(t *testing.T) {
	p, err := Lookup("Linear_Bias_ReLU")
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseShape("3x5x7", p.Dims)
	if err != nil {
		t.Fatal(err)
	}
	const x, w, y, n = 21, 35, 15, 5
	for d, want := range map[schema.DType]struct {
		chain                string
		fused, unfused, flop int64
	}{
		schema.FP32: {"gemm+bias+relu", 4 * (x + w + n + y), 4 * (x + w + y + y + n + y + 2*y), 2*3*5*7 + y},
		schema.BF16: {"gemm+bias+relu", 2 * (x + w + n + y), 2 * (x + w + y + y + n + y + 2*y), 2*3*5*7 + y},
		schema.INT8: {"gemm+bias+relu+requantize", x + w + 4*n + 4*n + y, x + w + 4*(y+y+n+y+2*y) + 4*y + 4*n + y, 2*3*5*7 + 2*y},
	} {
		c, err := p.In(d).Build(s, Place{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if c.String() != want.chain || c.FusedBytes(d) != want.fused || c.UnfusedBytes(d) != want.unfused || c.FLOP() != want.flop {
			t.Errorf("%s: %s of %d bytes fused, %d unfused, %d FLOP; want %+v", d, c, c.FusedBytes(d), c.UnfusedBytes(d), c.FLOP(), want)
		}
	}
}

// Patterns with an integer form are compared in int8, and the reason why others are not
// is said.
func TestFusionInInt8(t *testing.T) {
	f := newFake()
	f.kernels = []KernelInfo{{"gemm", schema.INT8, "tile"}, {"gemm+bias+relu+requantize", schema.INT8, "tile"}}
	c := fakeCalibrator(f, schema.Quick)
	c.Options.DTypes = []schema.DType{schema.INT8}
	dev, _, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(dev.FusionProfiles) == 0 {
		t.Fatal("no pattern was compared")
	}
	for _, e := range dev.FusionProfiles {
		if got := strings.Join(e.Operators, "+"); e.Pattern != "Linear_Bias_ReLU" || got != "gemm+bias+relu+requantize" {
			t.Errorf("%s is %s", e.Pattern, got)
		}
	}
	for _, u := range dev.Unavailable {
		if u.What == "Linear_Bias_GELU int8" && strings.Contains(u.Reason, "real numbers") {
			return
		}
	}
	t.Error("no reason why there is no GELU")
}

// A product that fp16 rounds to zero is within the bound, and no larger error is.
func TestTinyProduct(t *testing.T) {
	x := ref.Exact(func(int64) float64 { return 0.99 * 0x1p-25 })
	one := ref.Exact(func(int64) float64 { return 1 })
	y := ref.Gemm(x, one, 1, 1, precisionOf(schema.FP16, Place{Threads: 1}))(0)
	if lost := math.Abs(y.V); lost > y.E || y.E > 1.1*lost {
		t.Errorf("%g +- %g", y.V, y.E)
	}
}

// Every unit for a type has its own peak; the best of them is the peak of the type. A
// fusion pattern without a kernel in the type is named, and takes no time.
func TestSeveralUnits(t *testing.T) {
	f := newFake()
	f.slower = map[string]float64{"peak_fmavector": 8}
	for _, unit := range []string{"tile", "vector"} {
		f.kernels = append(f.kernels, KernelInfo{"peak_fma", schema.INT8, unit}, KernelInfo{"gemm", schema.INT8, unit})
	}
	c := fakeCalibrator(f, schema.Quick)
	c.Options.DTypes = []schema.DType{schema.INT8}
	dev, _, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	best, rates := dev.Summary.PeakGFLOPS[schema.INT8], map[string]float64{}
	for _, e := range dev.Compute {
		if e.Threads != 2 {
			continue
		}
		switch e.Operation {
		case "peak_fma":
			rates[e.Implementation] = e.GFLOPS.Best
		case "matmul":
			if want := e.GFLOPS.Best / best; e.Efficiency != want {
				t.Errorf("efficiency %g, want %g of the best peak", e.Efficiency, want)
			}
		}
	}
	if len(rates) != 2 || rates["faketile"] != best || rates["fakevector"] > best/7 {
		t.Errorf("peaks %v, the best is %g", rates, best)
	}
	if len(dev.FusionProfiles) != 0 {
		t.Errorf("%d fusion pairs of a type without their kernels", len(dev.FusionProfiles))
	}
	told := 0
	for _, u := range dev.Unavailable {
		if strings.HasPrefix(u.What, "Linear_Bias_ReLU int8") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d reasons for the pattern that is missing, want 1", told)
	}
}

// What a tensor core cuts off is within the bounds: of sums in steps, aligned with the largest
// term, with so many bits behind the point.
func TestTensorCoreBounds(t *testing.T) {
	for _, c := range []struct {
		d                   schema.DType
		bits, step, promote int
	}{{schema.TF32, 24, 4, 0}, {schema.BF16, 24, 8, 0}, {schema.FP16, 25, 16, 0}, {schema.FP8, 13, 16, 128}, {schema.FP8, 13, 32, 128}} {
		for _, k := range []int{1, 7, 200, 4096} {
			rng := rand.New(rand.NewPCG(1, uint64(k)))
			x, w := make([]float64, k), make([]float64, k)
			for i := range x {
				// All of a sign: the worst there is for sums that are cut off.
				x[i], w[i] = narrowed(rng.Float64(), c.d), narrowed(rng.Float64(), c.d)
			}
			field := func(v []float64) ref.Field { return ref.Exact(func(i int64) float64 { return v[i] }) }
			want := ref.Gemm(field(x), field(w), 1, int64(k), precisionOf(c.d, Place{}))(0)
			got, promoted := 0.0, 0.0
			for from := 0; from < k; from += c.step {
				if c.promote > 0 && from%c.promote == 0 {
					promoted, got = promoted+got, 0
				}
				terms := []float64{got}
				for i := from; i < min(from+c.step, k); i++ {
					terms = append(terms, x[i]*w[i])
				}
				_, e := math.Frexp(slices.Max(terms))
				got = 0
				for _, v := range terms {
					got += math.Ldexp(math.Trunc(math.Ldexp(v, c.bits-e+1)), e-1-c.bits)
				}
				_, e = math.Frexp(got)
				kept := min(c.bits, 23)
				got = math.Ldexp(math.Trunc(math.Ldexp(got, kept-e+1)), e-1-kept)
			}
			got += promoted
			if diff := math.Abs(got - want.V); diff > want.E {
				t.Errorf("%s, k = %d: %g, want %g +- %g", c.d, k, got, want.V, want.E)
			}
		}
	}
}

// narrowed cuts v off to the significand of a type.
func narrowed(v float64, d schema.DType) float64 {
	_, e := math.Frexp(v)
	return math.Ldexp(math.Trunc(math.Ldexp(v, -e)/d.UnitRoundoff()), e) * d.UnitRoundoff()
}
