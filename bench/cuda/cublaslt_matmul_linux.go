//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"hwcal/bench"
	"hwcal/schema"
)

func init() {
	real := floats
	all := append([]schema.DType{schema.INT8, schema.FP8}, real...)
	for chain, types := range map[string][]schema.DType{
		"gemm": all, "gemm_batched": all, "qk_t": real, "qk_t+scale": real, "pv": real,
		"gemm+bias": real, "gemm+bias+relu": real, "gemm+bias+add": real,
	} {
		for _, d := range types {
			register(chain, entry{provider: cuBLASLt, dtypes: []schema.DType{d}, least: leastForMatmul(d), bind: bindMatmul})
		}
	}
}

// leastForMatmul is the lowest capability with units for products in a type; every device has them in fp64 and fp32.
func leastForMatmul(d schema.DType) Capability {
	switch d {
	case schema.FP16:
		return Capability{7, 0}
	case schema.INT8:
		return Capability{7, 5}
	case schema.FP8:
		return Capability{8, 9}
	case schema.TF32, schema.BF16:
		return Capability{8, 0}
	}
	return Capability{}
}

// product is Y[b] = factor X[b] W[b] + R, with an epilogue: X of m x k, W of k x n elements in
// row-major order, or W of n x k where it is transposed.
type product struct {
	batch, m, n, k int64
	transposed     bool
	x, w, y        *tensor
	factor         float64
	bias, residual *tensor // nil if there is none
	relu           bool
}

// productOf finds the product in a chain.
func productOf(ws *workspace, c bench.Chain) (product, error) {
	x, w := c[0].In[0], c[0].In[1]
	p := product{batch: 1, x: ws.of(x), w: ws.of(w), y: ws.of(c.Output()), factor: 1}
	switch c[0].Name {
	case "gemm":
		p.m, p.k, p.n = x.Dims[0], x.Dims[1], w.Dims[1]
	case "gemm_batched":
		p.batch, p.m, p.k, p.n = x.Dims[0], x.Dims[1], x.Dims[2], w.Dims[2]
	case "qk_t", "pv":
		if x.Causal || c[0].Out.Causal {
			return p, fmt.Errorf("a product of whole matrices is no causal one: %w", bench.ErrUnsupported)
		}
		// Neighbouring heads share a matrix: their rows are those of one taller matrix.
		p.batch, p.m, p.k = w.Dims[0]*w.Dims[1], x.Dims[1]/w.Dims[1]*x.Dims[2], x.Dims[3]
		p.n, p.transposed = w.Dims[3], false
		if c[0].Name == "qk_t" {
			p.n, p.transposed = w.Dims[2], true
		}
	}
	p.transposed = p.transposed || p.w.layout == transposed
	for _, op := range c[1:] {
		switch op.Name {
		case "bias":
			p.bias = ws.of(op.In[1])
		case "add":
			p.residual = ws.of(op.In[1])
		case "relu":
			p.relu = true
		case "scale":
			p.factor = op.Params.(bench.ScaleParams).Factor
		}
	}
	return p, nil
}

// matmulType is how a type is multiplied.
type matmulType struct {
	elements, sums, compute int32
}

// fp32 is computed in fp32: tf32, which the library could use for it, is a type of its own. In fp8 partial sums
// are promoted to fp32 at intervals, the library's default (without fast accumulation).
var matmulTypes = map[schema.DType]matmulType{
	schema.FP64: {cudaR64F, cudaR64F, cublasCompute64F},
	schema.FP32: {cudaR32F, cudaR32F, cublasCompute32F},
	schema.TF32: {cudaR32F, cudaR32F, cublasCompute32FFastTF32},
	schema.FP16: {cudaR16F, cudaR32F, cublasCompute32F},
	schema.BF16: {cudaR16BF, cudaR32F, cublasCompute32F},
	schema.FP8:  {cudaR8F, cudaR32F, cublasCompute32F},
	schema.INT8: {cudaR8I, cudaR32I, cublasCompute32I},
}

// scalar is a factor in the type of the sums.
func (t matmulType) scalar(v float64) (mem [8]byte) {
	switch t.sums {
	case cudaR64F:
		binary.NativeEndian.PutUint64(mem[:], math.Float64bits(v))
	case cudaR32F:
		binary.NativeEndian.PutUint32(mem[:], math.Float32bits(float32(v)))
	case cudaR32I:
		binary.NativeEndian.PutUint32(mem[:], uint32(int32(v)))
	}
	return mem
}

// triedAlgorithms is how many algorithms of the heuristic are tried. The workspace has at most so many bytes, as
// NVIDIA advises for Hopper and later, and for other devices.
const (
	triedAlgorithms = 16
	hopperWorkspace = 64 << 20
	otherWorkspace  = 32 << 20
)

// bindMatmul finds the fastest algorithm for a product and its epilogue.
func bindMatmul(ws *workspace, c bench.Chain) (*kernel, error) {
	p, err := productOf(ws, c)
	if err != nil {
		return nil, err
	}
	l := ws.backend.libraries[cuBLASLt].(*cublasLtLibrary)
	var calls []*matmulCall
	if err := ws.context.Do(func() (err error) { calls, err = l.calls(ws, p); return err }); err != nil {
		return nil, err
	}
	candidates := make([]func() error, len(calls))
	for i, call := range calls {
		candidates[i] = call.enqueue
	}
	best, err := ws.fastest(candidates)
	if err != nil {
		return nil, err
	}
	return &kernel{name: l.name(&calls[best].algorithm), enqueue: candidates[best]}, nil
}

// calls are those of the algorithms that the heuristic offers, the one it takes for the best first.
//
// The library's matrices are in column-major order, in which a matrix of ours is its transpose:
// Y^T = W^T X^T. So W is its A, and the bias, of which it has one for each row of Y^T, one for
// each column of Y.
func (l *cublasLtLibrary) calls(ws *workspace, p product) ([]*matmulCall, error) {
	t := matmulTypes[ws.dtype]
	result := t.elements
	if p.y.Sums {
		result = t.sums
	} else if ws.dtype == schema.INT8 || ws.dtype == schema.FP8 {
		return nil, fmt.Errorf("a product in %s has a result in a wider type: %w", ws.dtype, bench.ErrUnsupported)
	}
	call := matmulCall{library: l, alpha: t.scalar(p.factor), beta: t.scalar(0),
		a: p.w.address, b: p.x.address, c: p.y.address, d: p.y.address}
	if p.residual != nil {
		call.beta, call.c = t.scalar(1), p.residual.address
	}
	var err error
	if p.transposed {
		call.la, err = l.layout(ws, t.elements, p.k, p.n, p.k, p.batch, p.k*p.n)
	} else {
		call.la, err = l.layout(ws, t.elements, p.n, p.k, p.n, p.batch, p.k*p.n)
	}
	if err != nil {
		return nil, err
	}
	if call.lb, err = l.layout(ws, t.elements, p.k, p.m, p.k, p.batch, p.m*p.k); err != nil {
		return nil, err
	}
	if call.ld, err = l.layout(ws, result, p.n, p.m, p.n, p.batch, p.m*p.n); err != nil {
		return nil, err
	}
	call.lc = call.ld
	if call.matmul, err = l.describe(ws, t, p); err != nil {
		return nil, err
	}

	var preference ltPreference
	if err := l.check("cublasLtMatmulPreferenceCreate", l.newPreference(&preference)); err != nil {
		return nil, err
	}
	defer l.destroyPreference(preference)
	most := uint64(otherWorkspace)
	if ws.backend.capability.AtLeast(9, 0) {
		most = hopperWorkspace
	}
	if err := l.check("cublasLtMatmulPreferenceSetAttribute", l.setPreference(preference, preferWorkspace, unsafe.Pointer(&most), 8)); err != nil {
		return nil, err
	}
	if result != t.sums {
		mask := uint32(reduceInComputeType)
		if err := l.check("cublasLtMatmulPreferenceSetAttribute", l.setPreference(preference, preferReductions, unsafe.Pointer(&mask), 4)); err != nil {
			return nil, err
		}
	}
	results := make([]ltHeuristic, triedAlgorithms)
	var found int32
	err = l.check("cublasLtMatmulAlgoGetHeuristic", l.heuristic(l.handle, call.matmul, call.la, call.lb, call.lc, call.ld,
		preference, triedAlgorithms, &results[0], &found))
	if err != nil {
		return nil, err
	}
	var calls []*matmulCall
	for _, r := range results[:found] {
		if r.state == 0 {
			one := call
			one.algorithm, one.workspaceLength = r.algorithm, r.workspace
			calls = append(calls, &one)
		}
	}
	return calls, ws.share(calls)
}

// share gives all calls the same workspace.
func (ws *workspace) share(calls []*matmulCall) error {
	most := uintptr(0)
	for _, c := range calls {
		most = max(most, c.workspaceLength)
	}
	if most == 0 {
		return nil
	}
	a, err := ws.alloc(int64(most))
	for _, c := range calls {
		c.workspace = a
	}
	return err
}

// describe makes the description of the operation.
func (l *cublasLtLibrary) describe(ws *workspace, t matmulType, p product) (ltMatmul, error) {
	var d ltMatmul
	if err := l.check("cublasLtMatmulDescCreate", l.newMatmul(&d, t.compute, t.sums)); err != nil {
		return 0, err
	}
	ws.closers = append(ws.closers, func() error { return l.check("cublasLtMatmulDescDestroy", l.destroyMatmul(d)) })
	set := func(attribute int32, value unsafe.Pointer, bytes uintptr) error {
		return l.check("cublasLtMatmulDescSetAttribute", l.setMatmul(d, attribute, value, bytes))
	}
	if p.transposed {
		operation := int32(cublasTransposed)
		if err := set(matmulTransA, unsafe.Pointer(&operation), 4); err != nil {
			return 0, err
		}
	}
	epilogue := uint32(0)
	if p.relu {
		epilogue |= epilogueReLU
	}
	if p.bias != nil {
		epilogue |= epilogueBias
		address := p.bias.address
		if err := set(matmulBiasPointer, unsafe.Pointer(&address), 8); err != nil {
			return 0, err
		}
	}
	if epilogue == 0 {
		return d, nil
	}
	return d, set(matmulEpilogue, unsafe.Pointer(&epilogue), 4)
}
