package external

import (
	"fmt"
	"slices"

	"hwcal/bench"
	"hwcal/bench/cpu"
	"hwcal/schema"
)

// All are the libraries that are looked for, to run on the first so many of some CPUs.
func All(cpus []int) []cpu.Library {
	return []cpu.Library{
		&optional{name: "openblas", might: blasChains, load: func() (library, error) { return loadOpenBLAS(cpus) }},
		&optional{name: "onednn", might: dnnlChains, load: func() (library, error) { return loadOneDNN(cpus) }},
	}
}

// What the libraries compute, by chain; CPUs may lack what a type needs. The softmax of oneDNN 2.6 in bf16 keeps its
// exponentials in bf16, and is off by more than the bound.
var (
	blasChains = map[string][]schema.DType{
		"gemm": {schema.FP64, schema.FP32},
	}
	dnnlChains = map[string][]schema.DType{
		"gemm":         {schema.FP32, schema.BF16, schema.INT8},
		"gemm_batched": {schema.FP32, schema.BF16, schema.INT8},
		"conv2d":       {schema.FP32, schema.BF16},
		"softmax":      {schema.FP32}, "layernorm": {schema.FP32},
		"relu": dnnlMaps, "tanh": dnnlMaps, "sigmoid": dnnlMaps, "exp": dnnlMaps,
		"gelu": dnnlMaps, "gelu_tanh": dnnlMaps, "silu": dnnlMaps,
	}
	dnnlMaps = []schema.DType{schema.FP32, schema.BF16}
)

// optional is a library that is loaded when it is first asked for what it might have: it starts
// threads, and reads the environment.
type optional struct {
	name  string
	might map[string][]schema.DType
	load  func() (library, error)

	tried bool
	lib   library
	err   error
}

// library was found.
type library interface {
	// has says whether this CPU can run a type.
	has(d schema.DType) bool
	// bind is cpu.Library's.
	bind(c bench.Chain, d schema.DType, t cpu.Threads, o cpu.Operands) (cpu.Call, error)
}

func (l *optional) Name() string { return l.name }

func (l *optional) Has(chain string, d schema.DType) bool {
	if !slices.Contains(l.might[chain], d) {
		return false
	}
	if !l.tried {
		l.tried = true
		l.lib, l.err = l.load()
	}
	return l.err == nil && l.lib.has(d)
}

func (l *optional) Lacking() error { return l.err }

func (l *optional) Bind(c bench.Chain, d schema.DType, t cpu.Threads, o cpu.Operands) (cpu.Call, error) {
	call, err := l.lib.bind(c, d, t, o)
	if err != nil {
		return cpu.Call{}, fmt.Errorf("%s: %w", l.name, err)
	}
	return call, nil
}
