package main

import (
	"flag"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"hwcal/bench"
	"hwcal/bench/stat"
	"hwcal/schema"
)

// listed is a backend that has some kernels, and runs none.
type listed struct {
	openBackend
	kernels []bench.KernelInfo
}

func (l listed) Kernels() []bench.KernelInfo     { return l.kernels }
func (l listed) Unsupported(schema.DType) string { return "no unit" }
func (l listed) Lacking() map[string]string      { return nil }

func (l listed) Implementations(chain string, d schema.DType) (names []string) {
	for _, k := range l.kernels {
		if k.Chain == chain && k.DType == d {
			names = append(names, k.Implementation)
		}
	}
	return names
}

// Types in which a device multiplies but has no kernel of what is measured are left out, unless they were asked for.
func TestBenchKeepsSupported(t *testing.T) {
	pattern, err := bench.Lookup("gelu")
	if err != nil {
		t.Fatal(err)
	}
	backend := listed{kernels: []bench.KernelInfo{
		{Chain: "gemm", DType: schema.FP32}, {Chain: "gelu", DType: schema.FP32}, {Chain: "gemm", DType: schema.INT8},
	}}
	run := func(asked ...schema.DType) (*benchRun, error) {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.String("dtype", "", "")
		dtypes := schema.DTypes()
		if len(asked) > 0 {
			dtypes = asked
			if err := flags.Set("dtype", string(asked[0])); err != nil {
				t.Fatal(err)
			}
		}
		b := &benchRun{
			Context: cli.NewContext(cli.NewApp(), flags, nil), pattern: pattern, backend: backend, dtypes: dtypes,
			shapes: pattern.Shapes(schema.Quick), place: bench.Place{Threads: 1},
		}
		return b, b.keepSupported()
	}
	if b, err := run(); err != nil || !slices.Equal(b.dtypes, []schema.DType{schema.FP32}) {
		t.Errorf("%v, %v", b.dtypes, err)
	}
	for d, want := range map[schema.DType]string{schema.INT8: "int8: unsupported: no kernel for gelu", schema.BF16: "no unit"} {
		if _, err := run(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s was asked for: %v", d, err)
		}
	}
}

// An implementation that was asked for and that a type lacks is told.
func TestBenchTellsLackingImplementation(t *testing.T) {
	pattern, err := bench.Lookup("matmul")
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	app := cli.NewApp()
	app.ErrWriter = &stderr
	b := &benchRun{
		Context: cli.NewContext(app, flag.NewFlagSet("", flag.ContinueOnError), nil), pattern: pattern, implementations: []string{"best", "old"},
		backend: listed{kernels: []bench.KernelInfo{
			{Chain: "gemm", DType: schema.FP32, Implementation: "old"}, {Chain: "gemm", DType: schema.FP32, Implementation: "best"},
			{Chain: "gemm", DType: schema.INT8, Implementation: "best"},
		}},
		dtypes: []schema.DType{schema.FP32, schema.INT8}, shapes: pattern.Shapes(schema.Quick), place: bench.Place{Threads: 1},
	}
	units, err := b.units()
	if err != nil || !slices.Equal(units[schema.FP32], []string{"best", "old"}) || !slices.Equal(units[schema.INT8], []string{"best"}) {
		t.Errorf("%v, %v", units, err)
	}
	if got, want := stderr.String(), "calibrate: matmul int8: old has no kernel for it: skipped\n"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// The time of a kernel of bandwidth is that of one pass over its arrays, however many one execution makes: it, the
// memory and the rate agree.
func TestBenchRowOfStream(t *testing.T) {
	pattern, err := bench.Lookup("stream_copy")
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []int64{4096, 1 << 20, 1 << 26} {
		shape := bench.Shape{{Name: pattern.Dims[0], N: bytes}}
		chain, err := pattern.Build(shape, bench.Place{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		c := bench.Case{Chain: chain, DType: schema.FP64, Place: bench.Place{Threads: 1}}
		level := func(arrays int64) schema.Level {
			if arrays != bytes {
				t.Errorf("the level of %d bytes, of a working set of %d", arrays, bytes)
			}
			return schema.L3
		}
		r := memoryRow(pattern, shape, c, bench.Measurement{Seconds: []float64{3e-3}}, level)
		if r.Level != schema.L3 {
			t.Errorf("%d bytes: level %q", bytes, r.Level)
		}
		if got := float64(r.MemoryBytes) / r.LatencyMS.Best / 1e6; math.Abs(got/r.Rate-1) > 1e-9 {
			t.Errorf("%d bytes: %g GB/s in %g ms, which are %g GB/s", bytes, r.Rate, r.LatencyMS.Best, got)
		}
	}
}

// The fused side of a pair is told in the unit of what binds it, and held against that; a network in samples.
func TestBenchRowOfPair(t *testing.T) {
	yes, no := true, false
	gflops := stat.Summarize([]float64{50}, stat.Larger)
	fused := schema.Compute{
		Bytes: 6e6, LatencyMS: stat.Summarize([]float64{2}, stat.Smaller), GFLOPS: &gflops, Efficiency: 0.25, DType: schema.FP32,
		Traffic: &schema.Traffic{Level: schema.L3, PeakGBps: 3, CeilingGBps: 4, CeilingOf: "copy"},
	}
	type told struct {
		rate            float64
		unit, bound, of string
		efficiency      float64
		class           string
	}
	for _, c := range []struct {
		compute, memory *bool
		samples         float64
		want            told
	}{
		{&no, &yes, 0, told{3, "GB/s", "memory", "L3 copy", 0.75, "good"}},
		{&yes, &no, 0, told{50, "GFLOPS", "compute", "peak_fma", 0.25, "fair"}},
		{&yes, &no, 7, told{7, "samples/s", "compute", "peak_fma", 0.25, "fair"}},
	} {
		fused.ComputeBound, fused.MemoryBound = c.compute, c.memory
		e := schema.Fusion{DType: schema.FP32, FusedLatencyMS: 2, FusedGFLOPS: 50, FusedSamplesPerSecond: c.samples, PredictedSpeedup: 1.5, Reason: "fuse: why"}
		r := pairRow(&e, &fused, 1)
		if got := (told{r.Rate, r.Unit, r.Bound, r.Ceiling, r.Efficiency, r.Class}); got != c.want || r.Predicted != 1.5 || r.Reason != "fuse: why" {
			t.Errorf("%+v, want %+v", r, c.want)
		}
	}
}

// A pair has one time for a side, of which there is no spread: none is printed, nor a column in which nothing stands.
func TestBenchTableOfPair(t *testing.T) {
	latency := stat.Summarize([]float64{1, 2, 4}, stat.Smaller)
	operation := benchRow{Operation: "relu", LatencyMS: &latency, Efficiency: 0.5, Class: "good", Ceiling: "L1 add"}
	other := operation
	other.Speedup, other.Against = 2, "portable"
	pair := benchRow{Operation: "Linear_Bias", FusedMS: 3, Speedup: 1.1, Against: "unfused", Verdict: schema.Fuse}
	for _, c := range []struct {
		rows      []benchRow
		has, none []string
	}{
		{[]benchRow{operation}, []string{"mean", "std", "ceiling", "good"}, []string{"speedup", "verdict"}},
		{[]benchRow{operation, other}, []string{"speedup", " over", " portable"}, []string{"verdict"}},
		{[]benchRow{pair}, []string{"median", "3.000", "speedup", "unfused  fuse"}, []string{"mean", "std", "max", "ceiling", "class"}},
	} {
		var out strings.Builder
		if err := writeTable(&out, c.rows); err != nil {
			t.Fatal(err)
		}
		for _, word := range c.has {
			if !strings.Contains(out.String(), word) {
				t.Errorf("no %q in\n%s", word, &out)
			}
		}
		for _, word := range c.none {
			if strings.Contains(out.String(), word) {
				t.Errorf("%q in\n%s", word, &out)
			}
		}
	}
}

// Without a shape that was asked for a GPU has those that fill it too, and controls have these alone; a CPU has none of them.
func TestBenchFillsDevice(t *testing.T) {
	pattern, err := bench.Lookup("Linear_Bias")
	if err != nil {
		t.Fatal(err)
	}
	filling, small := pattern.Throughput(schema.Default), pattern.Shapes(schema.Default)
	for _, c := range []struct {
		kind schema.Kind
		set  map[string]string
		want []bench.Shape
	}{
		{schema.CPU, nil, small},
		{schema.GPU, nil, slices.Concat(filling, small)},
		{schema.GPU, map[string]string{"control": "20"}, filling},
		{schema.GPU, map[string]string{"control": "20", "shape": "1x2x3"}, small},
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		for name, value := range c.set {
			flags.String(name, "", "")
			if err := flags.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		b := &benchRun{
			Context: cli.NewContext(cli.NewApp(), flags, nil), pattern: pattern, mode: schema.Default, shapes: small,
			device: schema.Device{Kind: c.kind},
		}
		b.fillDevice()
		if !slices.EqualFunc(b.shapes, c.want, slices.Equal[bench.Shape]) {
			t.Errorf("%s with %v: %v, want %v", c.kind, c.set, b.shapes, c.want)
		}
	}
}
