package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

func TestAgainst(t *testing.T) {
	got := against([]float64{10, 12, 9}, []float64{10, 10, 10})
	if got.Min != 0.9 || got.Median != 1 || got.Max != 1.2 {
		t.Errorf("against: min %g, median %g, max %g; want 0.9, 1, 1.2", got.Min, got.Median, got.Max)
	}
}

// Groups and dtypes keep their order, and of two kernels for one task the better
// one counts.
func TestSummarize(t *testing.T) {
	all := []verdict{
		{"stream", schema.FP64, "copy", "copy", "c", 0.6},
		{"stream", schema.FP64, "copy_nt", "copy", "c", 1.0},
		{"stream", schema.FP64, "triad", "triad", "c", 0.9},
		{"matmul", schema.FP32, "256", "256", "blis", 1.1},
		{"matmul", schema.FP64, "256", "256", "openblas", 1.3},
		{"matmul", schema.FP32, "512", "512", "onednn", 0.8},
		{"matmul", schema.FP32, "1024", "1024", "onednn", 0.95},
	}
	want := []overall{
		{"stream", schema.FP64, 2, 0.95, all[2]},
		{"matmul", schema.FP32, 3, 0.95, all[5]},
		{"matmul", schema.FP64, 1, 1.3, all[4]},
	}
	if diff := cmp.Diff(want, summarize(all), cmp.AllowUnexported(overall{}, verdict{})); diff != "" {
		t.Error(diff)
	}
}
