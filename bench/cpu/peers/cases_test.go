//go:build linux

package main

import (
	"math"
	"slices"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// Every case must have a name of its own, or --cases could not tell it.
func TestPlan(t *testing.T) {
	for _, threads := range []int{1, 2} {
		cases, err := plan(threads)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, c := range cases {
			if seen[c.String()] {
				t.Errorf("%s is there twice", c)
			}
			seen[c.String()] = true
			if c.work <= 0 {
				t.Errorf("%s: work %g", c, c.work)
			}
		}
	}
}

func TestParseDims(t *testing.T) {
	if got, err := parseDims("4x8x256"); err != nil || !slices.Equal(got, []int{4, 8, 256}) {
		t.Errorf("parseDims: %v, %v", got, err)
	}
	if _, err := parseDims("4x"); err == nil {
		t.Error(`parseDims("4x"): no error`)
	}
}

func TestThreadCounts(t *testing.T) {
	for _, c := range []struct {
		list string
		all  int
		want []int // nil: refused
	}{
		{"", 1, []int{1}},
		{"", 8, []int{1, 8}},
		{"2,4", 8, []int{2, 4}},
		{"9", 8, nil},
		{"0", 8, nil},
		{"two", 8, nil},
	} {
		if got, err := threadCounts(c.list, c.all); !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) {
			t.Errorf("threadCounts(%q, %d) = %v, %v; want %v", c.list, c.all, got, err, c.want)
		}
	}
}

// A peer that computes something else must not be timed, one that rounds
// differently must.
func TestDisagreement(t *testing.T) {
	const n = 4
	square := func(name string) *bench.Tensor { return &bench.Tensor{Name: name, Dims: []int64{n, n}} }
	c := testCase{dtype: schema.FP32, chain: bench.Chain{bench.Sums(bench.Gemm(square("x"), square("w")))}}
	ours := make([]float64, n*n)
	for i := range ours {
		ours[i] = float64(i) - 7
	}
	for _, k := range []struct {
		what  string
		third float64
		same  bool
	}{
		{"equal", ours[3], true},
		{"rounded otherwise", ours[3] * (1 + 0x1p-23), true},
		{"wrong", ours[3] * 1.001, false},
		{"not a number", math.NaN(), false},
	} {
		theirs := slices.Clone(ours)
		theirs[3] = k.third
		if err := disagreement(ours, theirs, c); (err == nil) != k.same {
			t.Errorf("%s: %v", k.what, err)
		}
	}
	if disagreement(ours, ours[1:], c) == nil {
		t.Error("a shorter result: no error")
	}
}

// Inputs as the peers store them; results are read in the type of the sums.
func TestEncode(t *testing.T) {
	values := []float64{1, -0.5, -3}
	for d, want := range map[schema.DType][]byte{
		schema.FP32: {0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf, 0, 0, 0x40, 0xc0},
		schema.BF16: {0x80, 0x3f, 0, 0xbf, 0x40, 0xc0},
		schema.INT8: {1, 0, 0xfd},
	} {
		if got := encode(values, d, bench.Normal); !slices.Equal(got, want) {
			t.Errorf("%s: %x, want %x", d, got, want)
		}
	}
	if got := encode([]float64{258}, schema.FP64, bench.Labels(1000)); !slices.Equal(got, []byte{2, 1, 0, 0}) {
		t.Errorf("labels: %x, want those of int32", got)
	}
	if got := decode(encode(values, schema.FP64, bench.Normal), schema.FP64); !slices.Equal(got, values) {
		t.Errorf("fp64: %v, want %v", got, values)
	}
	if got := decode(encode(values, schema.FP32, bench.Normal), schema.BF16); !slices.Equal(got, values) {
		t.Errorf("results of bf16: %v, want %v", got, values)
	}
	if got := decode([]byte{0xfe, 0xff, 0xff, 0xff}, schema.INT8); !slices.Equal(got, []float64{-2}) {
		t.Errorf("results of int8: %v, want -2", got)
	}
}
