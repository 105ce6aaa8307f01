package external

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/bench/cpu"
	"hwcal/schema"
)

// The libraries that this machine has agree with float64, on one thread and on two. Shapes are
// those that straddle tiles, of one row, and with groups, strides and padding.
func TestLibrariesAgreeWithReference(t *testing.T) {
	cpus := allowedCPUs(t)
	libraries := All(cpus)
	b, err := cpu.New(schema.Device{ID: "cpu0", CPU: &schema.CPUInfo{UsedCPUs: cpus}}, libraries...)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	named := map[string]*regexp.Regexp{
		"openblas": regexp.MustCompile(`^openblas_\d+\.\d+\.\d+\S*_[sd]gem[mv]$`),
		"onednn":   regexp.MustCompile(`^onednn_[23]\.\d+\.\d+_\S+$`),
	}
	for _, l := range libraries {
		t.Run(l.Name(), func(t *testing.T) {
			if !l.Has("gemm", schema.FP32) {
				t.Skip(l.Lacking())
			}
			rows := []string{"1x1x8", "3x5x17", "2x33x130"}
			for pattern, shapes := range map[string][]string{
				"softmax": rows, "layernorm": rows, "relu": rows, "tanh": rows, "sigmoid": rows, "exp": rows,
				"gelu": rows, "gelu_tanh": rows, "silu": rows,
				"matmul":         {"1x1x1", "1x65x130", "17x33x65", "128x96x257"},
				"matmul_packed":  {"1x65x130", "17x33x65", "128x96x257"},
				"matmul_batched": {"3x33x17x65"},
				"conv2d":         {"2x4x9x7x6x3x1x1x1", "1x6x11x11x9x3x2x1x3", "1x8x9x9x8x3x1x1x8", "1x3x12x12x5x5x2x2x1", "1x16x10x10x32x1x1x0x1"},
			} {
				for _, dims := range shapes {
					for threads := 1; threads <= len(cpus); threads++ {
						for _, d := range schema.DTypes() {
							c := caseOf(t, pattern, dims, d, threads, l.Name())
							if !l.Has(c.Chain.String(), d) || b.Unsupported(d) != "" {
								continue
							}
							if _, err := bench.Verify(b, c); err != nil {
								t.Errorf("%s %s %s, %d threads: %v", pattern, dims, d, threads, err)
							}
							if name := nameOf(t, b, c); !named[l.Name()].MatchString(name) {
								t.Errorf("%s %s: %q is not the name of %s", pattern, d, name, l.Name())
							}
						}
					}
				}
			}
		})
	}
}

func caseOf(t *testing.T, pattern, dims string, d schema.DType, threads int, unit string) bench.Case {
	t.Helper()
	p, err := bench.Lookup(pattern)
	if err != nil {
		t.Fatal(err)
	}
	s, err := bench.ParseShape(dims, p.Dims)
	if err != nil {
		t.Fatal(err)
	}
	place := bench.Place{Threads: threads}
	chain, err := p.In(d).Build(s, place)
	if err != nil {
		t.Fatal(err)
	}
	return bench.Case{Chain: chain, DType: d, Place: place, Unit: unit, Seed: 5}
}

func nameOf(t *testing.T, b *cpu.Backend, c bench.Case) string {
	t.Helper()
	ws, err := b.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	k, err := ws.Bind(c.Chain)
	if err != nil {
		t.Fatal(err)
	}
	return k.Implementation()
}

// A library is looked for once, when it is asked for what it might have; what is missing is told.
func TestOptionalIsLoadedWhenNeeded(t *testing.T) {
	loads := 0
	l := &optional{name: "absent", might: blasChains, load: func() (library, error) {
		loads++
		return nil, errors.New("libabsent.so.1: no such file")
	}}
	if l.Has("softmax", schema.FP32) || l.Has("gemm", schema.INT8) || loads > 0 || l.Lacking() != nil {
		t.Errorf("loaded %d times for what it has not, %v", loads, l.Lacking())
	}
	if l.Has("gemm", schema.FP32) || l.Has("gemm", schema.FP64) || loads != 1 {
		t.Errorf("loaded %d times", loads)
	}
	if err := l.Lacking(); err == nil || !strings.Contains(err.Error(), "libabsent.so.1") {
		t.Errorf("lacking: %v", err)
	}
}
