package cpu

import (
	"fmt"
	"math"
	"time"
	"unsafe"

	"hwcal/bench"
	"hwcal/schema"
)

// workspace holds the tensors of one case.
type workspace struct {
	*team
	isa     ISA
	caches  cacheSizes
	dtype   schema.DType
	seed    uint64
	memory  *memory
	tensors map[*bench.Tensor][]byte
}

// Open allocates the tensors of a case; each worker writes its part of each
// first, so that the pages are near it, and inputs get their random values.
func (b *Backend) Open(c bench.Case) (bench.Workspace, error) {
	if c.DType != schema.FP32 && c.DType != schema.FP64 {
		return nil, fmt.Errorf("cpu: %s: %w", c.DType, bench.ErrUnsupported)
	}
	if err := b.enter(c.Place); err != nil {
		return nil, err
	}
	ws := &workspace{
		team: b.team, isa: b.isa, caches: b.caches, dtype: c.DType, seed: c.Seed,
		memory: &b.memory[1], tensors: map[*bench.Tensor][]byte{},
	}
	if c.SmallPages {
		ws.memory = &b.memory[0]
	}
	inputs := map[*bench.Tensor]int{}
	for i, t := range c.Chain.Inputs() {
		inputs[t] = i
	}
	for _, t := range c.Chain.Tensors() {
		if _, have := ws.tensors[t]; have {
			continue
		}
		mem, err := ws.memory.alloc(t.Elems() * c.DType.Bytes())
		if err != nil {
			ws.Close()
			return nil, fmt.Errorf("cpu: tensor %s of %v: %w", t.Name, t.Dims, err)
		}
		ws.tensors[t] = mem
		values := []float64{0}
		if i, is := inputs[t]; is {
			values = t.Fill.Block(c.Seed, i, t.Elems())
		}
		if c.DType == schema.FP32 {
			fill(ws.team, as[float32](mem), values)
		} else {
			fill(ws.team, as[float64](mem), values)
		}
	}
	return ws, nil
}

// fill repeats the values over the tensor, each worker in its part.
func fill[T float](t *team, dst []T, values []float64) {
	block := make([]T, len(values))
	for i, v := range values {
		block[i] = T(v)
	}
	t.run(func(w *worker) {
		lo, hi := w.share(len(dst), 8)
		if len(block) == 1 {
			for i := range dst[lo:hi] {
				dst[lo+i] = block[0]
			}
			return
		}
		for i := lo; i < hi; {
			i += copy(dst[i:hi], block[i%len(block):])
		}
	})
}

// data views a tensor as elements.
func data[T float](ws *workspace, t *bench.Tensor) []T {
	mem, ok := ws.tensors[t]
	if !ok {
		panic("cpu: tensor " + t.Name + " is not of this workspace")
	}
	return as[T](mem)
}

// scratch allocates n elements for a kernel.
func scratch[T float](ws *workspace, n int) ([]T, error) {
	mem, err := ws.memory.alloc(int64(n) * int64(unsafe.Sizeof(T(0))))
	return as[T](mem), err
}

// Sample runs the kernels in order, n times.
func (ws *workspace) Sample(ks []bench.Kernel, n int) (time.Duration, error) {
	bodies := make([]func(*worker), len(ks))
	private := true
	for i, k := range ks {
		own, ok := k.(*kernel)
		if !ok {
			return 0, fmt.Errorf("cpu: kernel %s is of another backend", k.Implementation())
		}
		bodies[i] = own.body
		private = private && own.private
	}
	return ws.team.sample(n, private, bodies), nil
}

// Read copies elements of a tensor.
func (ws *workspace) Read(t *bench.Tensor, at int64, dst []float64) error {
	if at < 0 || at+int64(len(dst)) > t.Elems() {
		return fmt.Errorf("cpu: read %s[%d:%d] of %d", t.Name, at, at+int64(len(dst)), t.Elems())
	}
	if ws.dtype == schema.FP64 {
		copy(dst, data[float64](ws, t)[at:])
		return nil
	}
	for i, v := range data[float32](ws, t)[at:][:len(dst)] {
		dst[i] = float64(v)
	}
	return nil
}

// Poison writes NaN to elements of a tensor.
func (ws *workspace) Poison(t *bench.Tensor, at []int64) error {
	for _, i := range at {
		if ws.dtype == schema.FP64 {
			data[float64](ws, t)[i] = math.NaN()
		} else {
			data[float32](ws, t)[i] = float32(math.NaN())
		}
	}
	return nil
}

// Close gives the memory back to the backend.
func (ws *workspace) Close() error { return ws.memory.reset() }
