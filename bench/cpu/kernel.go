package cpu

import (
	"fmt"
	"maps"
	"slices"

	"hwcal/bench"
	"hwcal/schema"
)

// kernel is a chain bound to the tensors of a workspace.
type kernel struct {
	name string
	// body is executed by all workers of the team.
	body func(w *worker)
	// private kernels read and write only the worker's own part: repeating one
	// needs no barrier between.
	private bool
	// alike: each worker does as much work, and shares nothing with another. Each class of cores is then timed by itself:
	// else the slowest would count for all.
	alike bool
	// before is done before each sample, untimed; nil for nothing.
	before func(w *worker)
	// solo kernels are executed by worker 0 alone, and not beside others in a run. Their
	// result is delivered behind it, untimed, if deliver is not nil.
	solo    bool
	deliver func()
}

// Implementation names the micro-kernel or the instruction set.
func (k *kernel) Implementation() string { return k.name }

// binder makes the kernel of a chain for one element type.
type binder func(ws *workspace, c bench.Chain) (*kernel, error)

// binders of one chain, by element type; half is for those of 16 bits.
type binders struct{ fp32, fp64, half, int8 binder }

func (b binders) of(d schema.DType) binder {
	switch d {
	case schema.FP32:
		return b.fp32
	case schema.FP64:
		return b.fp64
	case schema.BF16, schema.FP16:
		return b.half
	case schema.INT8:
		return b.int8
	}
	return nil
}

func (b binders) has(d schema.DType) bool { return b.of(d) != nil }

// kernels by the name of their chain, filled by the init of the file that binds
// them.
var kernels = map[string]binders{}

// register adds the binders of a chain.
func register(chain string, fp32, fp64 binder) {
	b := kernels[chain]
	if b.fp32 != nil {
		panic("cpu: chain " + chain + " registered twice")
	}
	kernels[chain] = binders{fp32, fp64, b.half, b.int8}
}

// registerNarrow adds the binders of a chain for the types narrower than fp32.
func registerNarrow(chain string, half, int8 binder) {
	b := kernels[chain]
	if b.half != nil || b.int8 != nil {
		panic("cpu: chain " + chain + " registered twice")
	}
	kernels[chain] = binders{b.fp32, b.fp64, half, int8}
}

func kernelNames() []string { return slices.Sorted(maps.Keys(kernels)) }

// Bind looks the chain up and prepares its kernel.
func (ws *workspace) Bind(c bench.Chain) (bench.Kernel, error) {
	bind := kernels[c.String()].of(ws.dtype)
	if ws.library != nil {
		bind = (*workspace).bindLibrary
	}
	if bind == nil {
		return nil, fmt.Errorf("cpu: no kernel for %s in %s: %w", c, ws.dtype, bench.ErrUnsupported)
	}
	k, err := bind(ws, c)
	if err != nil {
		return nil, fmt.Errorf("cpu: bind %s %s: %w", c, ws.dtype, err)
	}
	return k, nil
}
