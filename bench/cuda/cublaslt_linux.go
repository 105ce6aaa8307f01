//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"hwcal/bench"
)

// cublasStatus is a cublasStatus_t, 0 for success.
type cublasStatus int32

var cublasStatusNames = map[cublasStatus]string{
	1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE", 8: "ARCH_MISMATCH", 11: "MAPPING_ERROR",
	13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED", 16: "LICENSE_ERROR",
}

// cublasError is a call of the library that failed.
type cublasError struct {
	call   string
	status cublasStatus
}

func (e *cublasError) Error() string {
	name := cublasStatusNames[e.status]
	if name == "" {
		name = "unknown"
	}
	return fmt.Sprintf("%s: CUBLAS_STATUS_%s (%d)", e.call, name, e.status)
}

// Is lets errors.Is tell what the library cannot do, in this type or shape or on this device, from
// what went wrong.
func (e *cublasError) Is(target error) bool {
	switch target {
	case bench.ErrUnsupported:
		return e.status == 7 || e.status == 8 || e.status == 15
	case bench.ErrMemory:
		return e.status == 3
	}
	return false
}

// The types of elements, cudaDataType_t, and of computations, cublasComputeType_t.
const (
	cudaR32F  = 0
	cudaR64F  = 1
	cudaR16F  = 2
	cudaR8I   = 3
	cudaR32I  = 10
	cudaR16BF = 14
	cudaR8F   = 28 // e4m3

	cublasCompute32F         = 68
	cublasCompute64F         = 70
	cublasCompute32I         = 72
	cublasCompute32FFastTF32 = 77
)

// Attributes of cublasLt.h, with the types of their values.
const (
	layoutBatchCount  = 5 // int32
	layoutBatchStride = 6 // int64, in elements

	matmulTransA      = 3 // int32, a cublasOperation_t
	matmulEpilogue    = 7 // uint32
	matmulBiasPointer = 8 // void *

	preferWorkspace  = 1 // uint64, bytes
	preferReductions = 3 // uint32, a mask

	configID      = 0 // int32
	configTile    = 1 // uint32
	configSplitK  = 2 // int32
	configCustom  = 5 // uint32
	configStages  = 6 // uint32
	configCluster = 8 // uint16

	cublasTransposed = 1 // CUBLAS_OP_T

	epilogueReLU = 2
	epilogueBias = 4

	// reduceInComputeType lets the parts of a sum that is split be added in the type of the computation
	// only, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE.
	reduceInComputeType = 2
)

// Handles of the library.
type (
	ltHandle     uintptr
	ltLayout     uintptr
	ltMatmul     uintptr
	ltPreference uintptr
)

// ltAlgorithm is a cublasLtMatmulAlgo_t.
type ltAlgorithm [8]uint64

// ltHeuristic is a cublasLtMatmulHeuristicResult_t.
type ltHeuristic struct {
	algorithm ltAlgorithm
	workspace uintptr // bytes
	state     cublasStatus
	_         float32 // waves
	_         [4]int32
}

// libcublasLt are the functions of the library.
type libcublasLt struct {
	property          func(which int32, value *int32) cublasStatus                                                                                     `c:"cublasLtGetProperty"`
	create            func(h *ltHandle) cublasStatus                                                                                                   `c:"cublasLtCreate"`
	destroy           func(h ltHandle) cublasStatus                                                                                                    `c:"cublasLtDestroy"`
	newLayout         func(l *ltLayout, dataType int32, rows, cols uint64, ld int64) cublasStatus                                                      `c:"cublasLtMatrixLayoutCreate"`
	setLayout         func(l ltLayout, attribute int32, value unsafe.Pointer, bytes uintptr) cublasStatus                                              `c:"cublasLtMatrixLayoutSetAttribute"`
	destroyLayout     func(l ltLayout) cublasStatus                                                                                                    `c:"cublasLtMatrixLayoutDestroy"`
	newMatmul         func(m *ltMatmul, compute, scaleType int32) cublasStatus                                                                         `c:"cublasLtMatmulDescCreate"`
	setMatmul         func(m ltMatmul, attribute int32, value unsafe.Pointer, bytes uintptr) cublasStatus                                              `c:"cublasLtMatmulDescSetAttribute"`
	destroyMatmul     func(m ltMatmul) cublasStatus                                                                                                    `c:"cublasLtMatmulDescDestroy"`
	newPreference     func(p *ltPreference) cublasStatus                                                                                               `c:"cublasLtMatmulPreferenceCreate"`
	setPreference     func(p ltPreference, attribute int32, value unsafe.Pointer, bytes uintptr) cublasStatus                                          `c:"cublasLtMatmulPreferenceSetAttribute"`
	destroyPreference func(p ltPreference) cublasStatus                                                                                                `c:"cublasLtMatmulPreferenceDestroy"`
	heuristic         func(h ltHandle, m ltMatmul, a, b, c, d ltLayout, p ltPreference, wanted int32, results *ltHeuristic, found *int32) cublasStatus `c:"cublasLtMatmulAlgoGetHeuristic"`
	config            func(a *ltAlgorithm, attribute int32, value unsafe.Pointer, bytes uintptr, written *uintptr) cublasStatus                        `c:"cublasLtMatmulAlgoConfigGetAttribute"`
	matmul            uintptr                                                                                                                          `c:"cublasLtMatmul"` // called for every execution: without reflection
}

// cublasLtLibrary is cuBLASLt with its handle on a context.
type cublasLtLibrary struct {
	libcublasLt
	context Context
	handle  ltHandle
	version string
}

// openCuBLASLt loads the newest version that there is for a driver of that version.
func openCuBLASLt(c Context, driver int) (library, error) {
	return loadCuBLASLt(c, forDriver(driver, "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11")...)
}

func loadCuBLASLt(c Context, names ...string) (library, error) {
	shared, err := openShared(names...)
	if err != nil {
		return nil, err
	}
	l := &cublasLtLibrary{context: c}
	if err := shared.Bind(&l.libcublasLt); err != nil {
		return nil, fmt.Errorf("cuBLASLt: %w", err)
	}
	var version [3]int32 // major, minor, patch
	for i := range version {
		if err := l.check("cublasLtGetProperty", l.property(int32(i), &version[i])); err != nil {
			return nil, err
		}
	}
	l.version = fmt.Sprintf("%d.%d.%d", version[0], version[1], version[2])
	err = c.Do(func() error { return l.check("cublasLtCreate", l.create(&l.handle)) })
	if err != nil {
		return nil, fmt.Errorf("cuBLASLt %s: %w", l.version, err)
	}
	return l, nil
}

func (l *cublasLtLibrary) Version() string { return l.version }

func (l *cublasLtLibrary) Close() error {
	return l.context.Do(func() error { return l.check("cublasLtDestroy", l.destroy(l.handle)) })
}

func (l *cublasLtLibrary) check(call string, s cublasStatus) error {
	if s == 0 {
		return nil
	}
	return &cublasError{call, s}
}

// layout describes a matrix in column-major order.
func (l *cublasLtLibrary) layout(ws *workspace, dataType int32, rows, cols, ld, batch, stride int64) (ltLayout, error) {
	var d ltLayout
	if err := l.check("cublasLtMatrixLayoutCreate", l.newLayout(&d, dataType, uint64(rows), uint64(cols), ld)); err != nil {
		return 0, fmt.Errorf("%w: %d x %d, ld %d", err, rows, cols, ld)
	}
	ws.closers = append(ws.closers, func() error { return l.check("cublasLtMatrixLayoutDestroy", l.destroyLayout(d)) })
	if batch == 1 {
		return d, nil
	}
	count := int32(batch)
	if err := l.check("cublasLtMatrixLayoutSetAttribute", l.setLayout(d, layoutBatchCount, unsafe.Pointer(&count), 4)); err != nil {
		return 0, err
	}
	return d, l.check("cublasLtMatrixLayoutSetAttribute", l.setLayout(d, layoutBatchStride, unsafe.Pointer(&stride), 8))
}

// matmulCall holds the arguments of cublasLtMatmul for one algorithm.
type matmulCall struct {
	library         *cublasLtLibrary
	matmul          ltMatmul
	alpha, beta     [8]byte // in the scale type
	a, b, c, d      Address
	la, lb, lc, ld  ltLayout
	algorithm       ltAlgorithm
	workspace       Address
	workspaceLength uintptr
}

// enqueue adds D = alpha A B + beta C to the stream.
func (m *matmulCall) enqueue() error {
	l := m.library
	return l.context.Do(func() error {
		status, _, _ := purego.SyscallN(l.matmul, uintptr(l.handle), uintptr(m.matmul),
			uintptr(unsafe.Pointer(&m.alpha)), uintptr(m.a), uintptr(m.la), uintptr(m.b), uintptr(m.lb),
			uintptr(unsafe.Pointer(&m.beta)), uintptr(m.c), uintptr(m.lc), uintptr(m.d), uintptr(m.ld),
			uintptr(unsafe.Pointer(&m.algorithm)), uintptr(m.workspace), m.workspaceLength, l.context.Stream())
		return l.check("cublasLtMatmul", cublasStatus(status))
	})
}

// name tells algorithms apart by their configuration, of which what is not used is left out.
func (l *cublasLtLibrary) name(a *ltAlgorithm) string {
	text := "cublaslt_" + l.version
	for _, c := range []struct {
		label     string
		attribute int32
		bytes     uintptr
		plain     uint32
	}{{"algo", configID, 4, ^uint32(0)}, {"tile", configTile, 4, 0}, {"stages", configStages, 4, 0},
		{"cluster", configCluster, 2, 0}, {"split-k", configSplitK, 4, 1}, {"custom", configCustom, 4, 0}} {
		var value uint32
		var written uintptr
		// An older library does not know all of them.
		if l.config(a, c.attribute, unsafe.Pointer(&value), c.bytes, &written) == 0 && value != c.plain {
			text += fmt.Sprintf(" %s %d", c.label, int32(value))
		}
	}
	return text
}
