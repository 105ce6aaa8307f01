package main

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"hwcal/bench"
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
