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
	// Of these the result has the layout of x.
	softmax    func(plan *uintptr, engine uintptr, x desc, axis int32) dnnlStatus
	layerNorm  func(plan *uintptr, engine uintptr, x desc, eps float32) dnnlStatus
	eltwise    func(plan *uintptr, engine uintptr, algorithm int32, x desc, alpha float32) dnnlStatus
	algorithms map[string]int32 // of eltwise, by operation
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
		softmax   func(op unsafe.Pointer, prop int32, x desc, axis int32) dnnlStatus                                             `c:"dnnl_softmax_forward_desc_init"`
		layerNorm func(op unsafe.Pointer, prop int32, x, statistics desc, eps float32, flags uint32) dnnlStatus                  `c:"dnnl_layer_normalization_forward_desc_init"`
		eltwise   func(op unsafe.Pointer, prop, algorithm int32, x desc, alpha, beta float32) dnnlStatus                         `c:"dnnl_eltwise_forward_desc_init"`
	}
	// The structures have some hundred bytes and some thousand; the library keeps copies.
	structure := func(bytes int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(make([]uint64, bytes/8))) }
	planned := func(plan *uintptr, engine uintptr, describe func(op unsafe.Pointer) dnnlStatus) dnnlStatus {
		op := structure(64 << 10)
		if status := describe(op); status != 0 {
			return status
		}
		return calls.plan(plan, op, 0, engine, 0)
	}
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
			return planned(plan, engine, func(op unsafe.Pointer) dnnlStatus { return calls.matmul(op, x, w, nil, y) })
		},
		conv: func(plan *uintptr, engine uintptr, x, w, bias, y desc, stride, pad [2]int64) dnnlStatus {
			return planned(plan, engine, func(op unsafe.Pointer) dnnlStatus {
				return calls.conv(op, dnnlInference, dnnlDirect, x, w, bias, y, &stride[0], &pad[0], &pad[0])
			})
		},
		softmax: func(plan *uintptr, engine uintptr, x desc, axis int32) dnnlStatus {
			return planned(plan, engine, func(op unsafe.Pointer) dnnlStatus { return calls.softmax(op, dnnlInference, x, axis) })
		},
		layerNorm: func(plan *uintptr, engine uintptr, x desc, eps float32) dnnlStatus {
			const scaleAndShift = 0x8 | 0x10
			return planned(plan, engine, func(op unsafe.Pointer) dnnlStatus {
				return calls.layerNorm(op, dnnlInference, x, nil, eps, scaleAndShift)
			})
		},
		eltwise: func(plan *uintptr, engine uintptr, algorithm int32, x desc, alpha float32) dnnlStatus {
			return planned(plan, engine, func(op unsafe.Pointer) dnnlStatus { return calls.eltwise(op, dnnlInference, algorithm, x, alpha, 0) })
		},
		algorithms: map[string]int32{"relu": 0x1f, "tanh": 0x2f, "sigmoid": 0xaf, "exp": 0xbf, "gelu_tanh": 0xcf, "silu": 0xdf, "gelu": 0x30},
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
		softmax   func(plan *uintptr, engine uintptr, prop, algorithm int32, x, y desc, axis int32, attributes uintptr) dnnlStatus                                          `c:"dnnl_softmax_forward_primitive_desc_create"`
		layerNorm func(plan *uintptr, engine uintptr, prop int32, x, y, statistics desc, eps float32, flags uint32, attributes uintptr) dnnlStatus                          `c:"dnnl_layer_normalization_forward_primitive_desc_create"`
		eltwise   func(plan *uintptr, engine uintptr, prop, algorithm int32, x, y desc, alpha, beta float32, attributes uintptr) dnnlStatus                                 `c:"dnnl_eltwise_forward_primitive_desc_create"`
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
		softmax: func(plan *uintptr, engine uintptr, x desc, axis int32) dnnlStatus {
			const accurate = 0x30000
			return calls.softmax(plan, engine, dnnlInference, accurate, x, x, axis, 0)
		},
		layerNorm: func(plan *uintptr, engine uintptr, x desc, eps float32) dnnlStatus {
			const scaleAndShift = 0x2 | 0x4
			return calls.layerNorm(plan, engine, dnnlInference, x, x, nil, eps, scaleAndShift, 0)
		},
		eltwise: func(plan *uintptr, engine uintptr, algorithm int32, x desc, alpha float32) dnnlStatus {
			return calls.eltwise(plan, engine, dnnlInference, algorithm, x, x, alpha, 0, 0)
		},
		algorithms: map[string]int32{"relu": 0x20, "tanh": 0x21, "sigmoid": 0x29, "exp": 0x2a, "gelu_tanh": 0x2b, "silu": 0x2c, "gelu": 0x31},
	}
	return v, lib.Bind(&calls)
}
