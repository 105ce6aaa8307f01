package bench

import (
	"context"
	"math"
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

// A product that fp16 rounds to zero is within the bound, and no larger error is.
func TestTinyProduct(t *testing.T) {
	x := ref.Exact(func(int64) float64 { return 0.99 * 0x1p-25 })
	one := ref.Exact(func(int64) float64 { return 1 })
	y := ref.Gemm(x, one, 1, 1, precisionOf(schema.FP16))(0)
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
