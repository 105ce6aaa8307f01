//go:build linux

package main

import (
	"unsafe"
)

// create holds what changed from oneDNN 2 to 3: descriptors became opaque, and
// operation descriptors went.
type create struct {
	desc       func(dims []int, dtype, layout int) unsafe.Pointer
	matmul     func(engine uintptr, x, w, y unsafe.Pointer) (pd uintptr, err error)
	conv       func(engine uintptr, x, w, b, y unsafe.Pointer, stride, pad int, attr uintptr) (pd uintptr, err error)
	appendReLU func(ops uintptr) int32
}

func loadOneDNN2(lib shared) (create, error) {
	var (
		initDesc   func(desc unsafe.Pointer, n int, dims []int, dtype, layout int) int32
		initMatmul func(op, x, w, bias, y unsafe.Pointer) int32
		initConv   func(op unsafe.Pointer, prop, algorithm int, x, w, b, y unsafe.Pointer, strides, padLow, padHigh []int) int32
		newPD      func(pd *uintptr, op unsafe.Pointer, attr, engine, hint uintptr) int32
		eltwise    func(ops uintptr, scale float32, algorithm int, alpha, beta float32) int32
	)
	err := lib.bind(map[string]any{
		"dnnl_memory_desc_init_by_tag":       &initDesc,
		"dnnl_matmul_desc_init":              &initMatmul,
		"dnnl_convolution_forward_desc_init": &initConv,
		"dnnl_primitive_desc_create":         &newPD,
		"dnnl_post_ops_append_eltwise":       &eltwise,
	})
	// The structures are of a few hundred bytes and of a few thousand.
	structure := func(size int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(make([]uint64, size/8))) }
	return create{
		desc: func(dims []int, dtype, layout int) unsafe.Pointer {
			desc := structure(4 << 10)
			initDesc(desc, len(dims), dims, dtype, layout)
			return desc
		},
		matmul: func(engine uintptr, x, w, y unsafe.Pointer) (pd uintptr, err error) {
			op := structure(64 << 10)
			err = check("matmul", initMatmul(op, x, w, nil, y))
			if err == nil {
				err = check("matmul", newPD(&pd, op, 0, engine, 0))
			}
			return pd, err
		},
		conv: func(engine uintptr, x, w, b, y unsafe.Pointer, stride, pad int, attr uintptr) (pd uintptr, err error) {
			op := structure(64 << 10)
			pads := []int{pad, pad}
			err = check("convolution", initConv(op, dnnlInference, dnnlConvolutionAuto, x, w, b, y, []int{stride, stride}, pads, pads))
			if err == nil {
				err = check("convolution", newPD(&pd, op, attr, engine, 0))
			}
			return pd, err
		},
		appendReLU: func(ops uintptr) int32 { return eltwise(ops, 1, 0x1f, 0, 0) },
	}, err
}

func loadOneDNN3(lib shared) (create, error) {
	var (
		newDesc   func(desc *unsafe.Pointer, n int, dims []int, dtype, layout int) int32
		newMatmul func(pd *uintptr, engine uintptr, x, w, bias, y unsafe.Pointer, attr uintptr) int32
		newConv   func(pd *uintptr, engine uintptr, prop, algorithm int, x, w, b, y unsafe.Pointer, strides, dilations, padLow, padHigh []int, attr uintptr) int32
		eltwise   func(ops uintptr, algorithm int, alpha, beta float32) int32
	)
	err := lib.bind(map[string]any{
		"dnnl_memory_desc_create_with_tag":               &newDesc,
		"dnnl_matmul_primitive_desc_create":              &newMatmul,
		"dnnl_convolution_forward_primitive_desc_create": &newConv,
		"dnnl_post_ops_append_eltwise":                   &eltwise,
	})
	return create{
		desc: func(dims []int, dtype, layout int) (desc unsafe.Pointer) {
			newDesc(&desc, len(dims), dims, dtype, layout)
			return desc
		},
		matmul: func(engine uintptr, x, w, y unsafe.Pointer) (pd uintptr, err error) {
			err = check("matmul", newMatmul(&pd, engine, x, w, nil, y, 0))
			return pd, err
		},
		conv: func(engine uintptr, x, w, b, y unsafe.Pointer, stride, pad int, attr uintptr) (pd uintptr, err error) {
			pads := []int{pad, pad}
			err = check("convolution", newConv(&pd, engine, dnnlInference, dnnlConvolutionAuto, x, w, b, y, []int{stride, stride}, []int{0, 0}, pads, pads, attr))
			return pd, err
		},
		appendReLU: func(ops uintptr) int32 { return eltwise(ops, 0x20, 0, 0) },
	}, err
}
