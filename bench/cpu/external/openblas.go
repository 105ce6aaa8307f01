//go:build linux && (amd64 || arm64)

package external

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"hwcal/bench"
	"hwcal/bench/cpu"
	"hwcal/schema"
)

// libopenblas are the functions of the library. Those of Fortran take pointers only, and so can be
// called without reflection; those of C do the same with what they are given.
type libopenblas struct {
	config     func() string `c:"openblas_get_config"`
	core       func() string `c:"openblas_get_corename"`
	setThreads func(n int32) `c:"openblas_set_num_threads"`
	sgemm      uintptr       `c:"sgemm_"`
	dgemm      uintptr       `c:"dgemm_"`
	sgemv      uintptr       `c:"sgemv_"`
	dgemv      uintptr       `c:"dgemv_"`
}

type openBLAS struct {
	libopenblas
	label string // with version and the kernels that it chose
}

func loadOpenBLAS(cpus []int) (library, error) {
	l := &openBLAS{}
	if _, err := open(cpus, &l.libopenblas, "libopenblas.so.0"); err != nil {
		return nil, fmt.Errorf("OpenBLAS: %w", err)
	}
	version := strings.Fields(l.config() + " ? ?")[1] // "OpenBLAS 0.3.21 NO_LAPACKE ..."
	l.label = fmt.Sprintf("openblas_%s_%s", version, strings.ToLower(l.core()))
	return l, nil
}

func (l *openBLAS) has(schema.DType) bool { return true }

// start adds the threads that are not there yet, one at a time, each to its CPU.
func (l *openBLAS) start(t cpu.Threads) {
	l.setThreads(1)
	for i, cpu := range t.CPUs[1:] {
		t.On(cpu, func() { l.setThreads(int32(i + 2)) })
	}
}

func (l *openBLAS) bind(c bench.Chain, d schema.DType, t cpu.Threads, o cpu.Operands) (cpu.Call, error) {
	l.start(t)
	op := c[0]
	x, w, y := address(o.Of(op.In[0])), address(o.Of(op.In[1])), address(o.Of(op.Out))
	m, k, n := op.In[0].Dims[0], op.In[0].Dims[1], op.In[1].Dims[1]
	product := "gemm"
	if m == 1 {
		product = "gemv" // as one does with BLAS
	}
	name := fmt.Sprintf("%s_%c%s", l.label, map[schema.DType]rune{schema.FP32: 's', schema.FP64: 'd'}[d], product)
	switch {
	case d == schema.FP32 && m == 1:
		return cpu.Call{Name: name, Run: gemv[float32](l.sgemv, n, k, w, x, y)}, nil
	case d == schema.FP32:
		return cpu.Call{Name: name, Run: gemm[float32](l.sgemm, m, n, k, x, w, y)}, nil
	case m == 1:
		return cpu.Call{Name: name, Run: gemv[float64](l.dgemv, n, k, w, x, y)}, nil
	}
	return cpu.Call{Name: name, Run: gemm[float64](l.dgemm, m, n, k, x, w, y)}, nil
}

// scalars are passed by their addresses. An integer is read whole where the library was built for
// integers of 64 bits, and else its lower half.
type scalars[T float32 | float64] struct {
	plain     byte // 'N': not transposed
	m, n, k   int64
	step      int64
	one, zero T
}

// gemm is Y[m,n] = X[m,k] W[k,n]. Fortran has columns where we have rows, so it is Y' = W' X'.
func gemm[T float32 | float64](function uintptr, m, n, k int64, x, w, y unsafe.Pointer) func() {
	s := &scalars[T]{plain: 'N', m: m, n: n, k: k, one: 1}
	return func() {
		purego.SyscallN(function, at(&s.plain), at(&s.plain), at(&s.n), at(&s.m), at(&s.k), at(&s.one),
			uintptr(w), at(&s.n), uintptr(x), at(&s.k), at(&s.zero), uintptr(y), at(&s.n))
	}
}

// gemv is y[n] = W[k,n]' x[k].
func gemv[T float32 | float64](function uintptr, n, k int64, w, x, y unsafe.Pointer) func() {
	s := &scalars[T]{plain: 'N', n: n, k: k, step: 1, one: 1}
	return func() {
		purego.SyscallN(function, at(&s.plain), at(&s.n), at(&s.k), at(&s.one),
			uintptr(w), at(&s.n), uintptr(x), at(&s.step), at(&s.zero), uintptr(y), at(&s.step))
	}
}

func at[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func address(mem []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(mem)) }
