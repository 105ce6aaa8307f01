package main

import (
	"flag"
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

// A pair has one time for a side, of which there is no spread: none is printed, nor a column in which nothing stands.
func TestBenchTableOfPair(t *testing.T) {
	operation := benchRow{Operation: "relu", LatencyMS: stat.Summarize([]float64{1, 2, 4}, stat.Smaller), Efficiency: 0.5, Class: "good", Ceiling: "L1 add"}
	pair := benchRow{Operation: "Linear_Bias", LatencyMS: stat.Summarize([]float64{3}, stat.Smaller), Speedup: 1.1, Verdict: schema.Fuse}
	for _, c := range []struct {
		rows      []benchRow
		has, none []string
	}{
		{[]benchRow{operation}, []string{"mean", "std", "ceiling", "good"}, []string{"speedup", "verdict"}},
		{[]benchRow{pair}, []string{"median", "3.000", "speedup", "fuse"}, []string{"mean", "std", "max", "ceiling", "class"}},
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
