//go:build linux && (amd64 || arm64)

package external

import (
	"unsafe"

	"hwcal/bench/sharedlib"
)

// versionCalls are what changed from oneDNN 2 to 3: descriptors of tensors became opaque, and those
// of operations went.
type versionCalls struct {
	newDesc  func(dims []int64, dtype int32, picked bool) (desc, dnnlStatus)
	freeDesc func(desc)
	matmul   func(plan *uintptr, engine uintptr, x, w, y desc) dnnlStatus
	conv     func(plan *uintptr, engine uintptr, x, w, bias, y desc, stride, pad [2]int64) dnnlStatus
}

const dnnlAny = 1 // the format tag

// rowMajor are the strides of a tensor.
func rowMajor(dims []int64) []int64 {
	strides := make([]int64, len(dims))
	stride := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= dims[i]
	}
	return strides
}

func bindOneDNN2(lib sharedlib.Library) (versionCalls, error) {
	var calls struct {
		byTag     func(d desc, n int32, dims *int64, dtype, tag int32) dnnlStatus                                                `c:"dnnl_memory_desc_init_by_tag"`
		byStrides func(d desc, n int32, dims *int64, dtype int32, strides *int64) dnnlStatus                                     `c:"dnnl_memory_desc_init_by_strides"`
		matmul    func(op unsafe.Pointer, x, w, bias, y desc) dnnlStatus                                                         `c:"dnnl_matmul_desc_init"`
		conv      func(op unsafe.Pointer, prop, algorithm int32, x, w, bias, y desc, strides, padLow, padHigh *int64) dnnlStatus `c:"dnnl_convolution_forward_desc_init"`
		plan      func(plan *uintptr, op unsafe.Pointer, attributes, engine, hint uintptr) dnnlStatus                            `c:"dnnl_primitive_desc_create"`
	}
	// The structures have some hundred bytes and some thousand; the library keeps copies.
	structure := func(bytes int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(make([]uint64, bytes/8))) }
	v := versionCalls{
		newDesc: func(dims []int64, dtype int32, picked bool) (desc, dnnlStatus) {
			d := desc(structure(4 << 10))
			if picked {
				return d, calls.byTag(d, int32(len(dims)), &dims[0], dtype, dnnlAny)
			}
			return d, calls.byStrides(d, int32(len(dims)), &dims[0], dtype, &rowMajor(dims)[0])
		},
		freeDesc: func(desc) {},
		matmul: func(plan *uintptr, engine uintptr, x, w, y desc) dnnlStatus {
			op := structure(64 << 10)
			if status := calls.matmul(op, x, w, nil, y); status != 0 {
				return status
			}
			return calls.plan(plan, op, 0, engine, 0)
		},
		conv: func(plan *uintptr, engine uintptr, x, w, bias, y desc, stride, pad [2]int64) dnnlStatus {
			op := structure(64 << 10)
			if status := calls.conv(op, dnnlInference, dnnlDirect, x, w, bias, y, &stride[0], &pad[0], &pad[0]); status != 0 {
				return status
			}
			return calls.plan(plan, op, 0, engine, 0)
		},
	}
	return v, lib.Bind(&calls)
}

func bindOneDNN3(lib sharedlib.Library) (versionCalls, error) {
	var calls struct {
		byTag     func(d *desc, n int32, dims *int64, dtype, tag int32) dnnlStatus                                                                                          `c:"dnnl_memory_desc_create_with_tag"`
		byStrides func(d *desc, n int32, dims *int64, dtype int32, strides *int64) dnnlStatus                                                                               `c:"dnnl_memory_desc_create_with_strides"`
		free      func(d desc) dnnlStatus                                                                                                                                   `c:"dnnl_memory_desc_destroy"`
		matmul    func(plan *uintptr, engine uintptr, x, w, bias, y desc, attributes uintptr) dnnlStatus                                                                    `c:"dnnl_matmul_primitive_desc_create"`
		conv      func(plan *uintptr, engine uintptr, prop, algorithm int32, x, w, bias, y desc, strides, dilations, padLow, padHigh *int64, attributes uintptr) dnnlStatus `c:"dnnl_convolution_forward_primitive_desc_create"`
	}
	v := versionCalls{
		newDesc: func(dims []int64, dtype int32, picked bool) (d desc, status dnnlStatus) {
			if picked {
				status = calls.byTag(&d, int32(len(dims)), &dims[0], dtype, dnnlAny)
			} else {
				status = calls.byStrides(&d, int32(len(dims)), &dims[0], dtype, &rowMajor(dims)[0])
			}
			return d, status
		},
		freeDesc: func(d desc) { calls.free(d) },
		matmul: func(plan *uintptr, engine uintptr, x, w, y desc) dnnlStatus {
			return calls.matmul(plan, engine, x, w, nil, y, 0)
		},
		conv: func(plan *uintptr, engine uintptr, x, w, bias, y desc, stride, pad [2]int64) dnnlStatus {
			var dilation [2]int64
			return calls.conv(plan, engine, dnnlInference, dnnlDirect, x, w, bias, y, &stride[0], &dilation[0], &pad[0], &pad[0], 0)
		},
	}
	return v, lib.Bind(&calls)
}
