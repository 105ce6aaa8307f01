//go:build linux && (amd64 || arm64)

package external

import (
	"fmt"
	"unsafe"

	"hwcal/bench"
	"hwcal/bench/cpu"
	"hwcal/schema"
)

// libdnnl are the functions that versions 2 and 3 share. The number of threads is that of OpenMP, for
// the thread that calls; builds for other pools have no such function.
type libdnnl struct {
	version        func() *[3]int32                                                                                             `c:"dnnl_version"`
	setThreads     func(n int32)                                                                                                `c:"omp_set_num_threads"`
	newEngine      func(engine *uintptr, kind int32, index uintptr) dnnlStatus                                                  `c:"dnnl_engine_create"`
	newStream      func(stream *uintptr, engine uintptr, flags uint32) dnnlStatus                                               `c:"dnnl_stream_create"`
	newMemory      func(memory *uintptr, d desc, engine uintptr, data unsafe.Pointer) dnnlStatus                                `c:"dnnl_memory_create"`
	freeMemory     func(memory uintptr) dnnlStatus                                                                              `c:"dnnl_memory_destroy"`
	descBytes      func(d desc) uintptr                                                                                         `c:"dnnl_memory_desc_get_size"`
	descEqual      func(a, b desc) int32                                                                                        `c:"dnnl_memory_desc_equal"`
	queryDesc      func(plan uintptr, what, index int32) desc                                                                   `c:"dnnl_primitive_desc_query_md"`
	query          func(plan uintptr, what, index int32, result **byte) dnnlStatus                                              `c:"dnnl_primitive_desc_query"`
	freePlan       func(plan uintptr) dnnlStatus                                                                                `c:"dnnl_primitive_desc_destroy"`
	newPrimitive   func(primitive *uintptr, plan uintptr) dnnlStatus                                                            `c:"dnnl_primitive_create"`
	freePrimitive  func(primitive uintptr) dnnlStatus                                                                           `c:"dnnl_primitive_destroy"`
	newReorderPlan func(plan *uintptr, from desc, fromEngine uintptr, to desc, toEngine uintptr, attributes uintptr) dnnlStatus `c:"dnnl_reorder_primitive_desc_create"`
	execute        uintptr                                                                                                      `c:"dnnl_primitive_execute"` // called for every execution: without reflection
}

// desc is what the library says of a tensor: a structure of version 2, an object of version 3.
type desc unsafe.Pointer

// Values of dnnl_types.h that versions 2 and 3 share.
const (
	dnnlCPU           = 1
	dnnlInOrder       = 1
	dnnlInference     = 96
	dnnlDirect        = 1 // convolution
	dnnlQueryName     = 8
	dnnlQuerySource   = 129
	dnnlQueryWeights  = 131
	dnnlQueryResult   = 133
	dnnlArgSource     = 1
	dnnlArgResult     = 17
	dnnlArgWeights    = 33
	dnnlArgBias       = 41
	dnnlArgScale      = 51
	dnnlArgShift      = 52
	dnnlUnimplemented = 3
)

// dnnlTypes are those of inputs and of sums.
var dnnlTypes = map[schema.DType]struct{ in, sum int32 }{
	schema.FP32: {3, 3}, schema.BF16: {2, 3}, schema.INT8: {5, 4},
}

type dnnlStatus int32

// check makes an error of a status.
func (s dnnlStatus) check(what string) error {
	switch s {
	case 0:
		return nil
	case dnnlUnimplemented:
		return fmt.Errorf("%s: %w", what, bench.ErrUnsupported)
	}
	return fmt.Errorf("%s: status %d", what, s)
}

type oneDNN struct {
	libdnnl
	versionCalls
	engine, stream uintptr
	label          string // with the version
}

func loadOneDNN(cpus []int) (library, error) {
	l := &oneDNN{}
	lib, err := open(cpus, &l.libdnnl, "libdnnl.so.3", "libdnnl.so.2")
	if err != nil {
		return nil, fmt.Errorf("oneDNN: %w", err)
	}
	v := *l.version()
	l.label = fmt.Sprintf("onednn_%d.%d.%d", v[0], v[1], v[2])
	switch v[0] {
	case 2:
		l.versionCalls, err = bindOneDNN2(lib)
	case 3:
		l.versionCalls, err = bindOneDNN3(lib)
	default:
		err = fmt.Errorf("versions 2 and 3 are known")
	}
	if err == nil {
		err = l.newEngine(&l.engine, dnnlCPU, 0).check("engine")
	}
	if err == nil {
		err = l.newStream(&l.stream, l.engine, dnnlInOrder).check("stream")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.label, err)
	}
	return l, nil
}

// has tries a small product.
func (l *oneDNN) has(d schema.DType) bool {
	x := &bench.Tensor{Dims: []int64{16, 16}}
	b := l.newBinding(cpu.Operands{})
	defer b.close()
	b.planMatmul(bench.Gemm(x, x), d)
	return b.err == nil
}

func (l *oneDNN) bind(c bench.Chain, d schema.DType, t cpu.Threads, o cpu.Operands) (cpu.Call, error) {
	l.setThreads(int32(len(t.CPUs)))
	b := l.newBinding(o)
	b.bind(c[0], d)
	if b.err != nil {
		b.close()
		return cpu.Call{}, b.err
	}
	return cpu.Call{Name: b.name(), Run: b.run, Deliver: b.deliver, Close: b.close}, nil
}
