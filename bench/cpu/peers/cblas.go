//go:build linux

package main

import (
	"unsafe"

	"hwcal/schema"
)

// cblas is the interface that OpenBLAS and BLIS share.
type cblas struct {
	sgemm func(order, transA, transB, m, n, k int, alpha float32, a unsafe.Pointer, lda int, b unsafe.Pointer, ldb int, beta float32, c unsafe.Pointer, ldc int)
	dgemm func(order, transA, transB, m, n, k int, alpha float64, a unsafe.Pointer, lda int, b unsafe.Pointer, ldb int, beta float64, c unsafe.Pointer, ldc int)
	sgemv func(order, trans, m, n int, alpha float32, a unsafe.Pointer, lda int, x unsafe.Pointer, incX int, beta float32, y unsafe.Pointer, incY int)
	dgemv func(order, trans, m, n int, alpha float64, a unsafe.Pointer, lda int, x unsafe.Pointer, incX int, beta float64, y unsafe.Pointer, incY int)
}

const (
	rowMajor = 101
	noTrans  = 111
	trans    = 112
)

func (c *cblas) load(lib shared) error {
	return lib.bind(map[string]any{"cblas_sgemm": &c.sgemm, "cblas_dgemm": &c.dgemm, "cblas_sgemv": &c.sgemv, "cblas_dgemv": &c.dgemv})
}

// open multiplies matrices, and a single row by gemv, as one does with BLAS.
func (c *cblas) open(r request) (task, error) {
	if r.kind != "matmul" {
		return task{}, errUnsupported
	}
	m, n, k := r.dims[0], r.dims[1], r.dims[2]
	x, w, y := r.in[0].pointer(), r.in[1].pointer(), r.out.pointer()
	switch {
	case r.dtype == schema.FP32 && m == 1:
		return task{run: func() { c.sgemv(rowMajor, trans, k, n, 1, w, n, x, 1, 0, y, 1) }}, nil
	case r.dtype == schema.FP32:
		return task{run: func() { c.sgemm(rowMajor, noTrans, noTrans, m, n, k, 1, x, k, w, n, 0, y, n) }}, nil
	case r.dtype == schema.FP64 && m == 1:
		return task{run: func() { c.dgemv(rowMajor, trans, k, n, 1, w, n, x, 1, 0, y, 1) }}, nil
	case r.dtype == schema.FP64:
		return task{run: func() { c.dgemm(rowMajor, noTrans, noTrans, m, n, k, 1, x, k, w, n, 0, y, n) }}, nil
	}
	return task{}, errUnsupported
}
