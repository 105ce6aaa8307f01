//go:build linux

package main

import (
	"errors"
	"fmt"
	"unsafe"

	"hwcal/schema"
)

// onednn is the C interface of oneDNN. What a case creates is not destroyed: the
// process is short-lived, and its memory is ours.
type onednn struct {
	onednnFuncs
	create         // what differs between versions
	engine, stream uintptr
}

type onednnFuncs struct {
	engineCreate    func(engine *uintptr, kind int, index int) int32
	streamCreate    func(stream *uintptr, engine uintptr, flags int) int32
	memoryCreate    func(memory *uintptr, desc unsafe.Pointer, engine uintptr, handle unsafe.Pointer) int32
	descSize        func(desc unsafe.Pointer) int
	queryDesc       func(pd uintptr, what, index int) unsafe.Pointer
	primitiveCreate func(p *uintptr, pd uintptr) int32
	reorderCreate   func(pd *uintptr, from unsafe.Pointer, fromEngine uintptr, to unsafe.Pointer, toEngine, attr uintptr) int32
	execute         uintptr // called without reflection, which takes longer than a small primitive may
	attrCreate      func(attr *uintptr) int32
	attrSetPostOps  func(attr, ops uintptr) int32
	postOpsCreate   func(ops *uintptr) int32
	sgemm           func(transA, transB byte, m, n, k int, alpha float32, a unsafe.Pointer, lda int, b unsafe.Pointer, ldb int, beta float32, c unsafe.Pointer, ldc int) int32
}

// Values of dnnl_types.h that versions 2 and 3 share. Layouts are named by their
// number of dimensions.
const (
	dnnlCPU             = 1
	dnnlStreamInOrder   = 1
	dnnlInference       = 96
	dnnlConvolutionAuto = 3
	dnnlAny             = 1

	dnnlQuerySource  = 129
	dnnlQueryWeights = 131
	dnnlQueryDest    = 133

	dnnlArgSource  = 1
	dnnlArgDest    = 17
	dnnlArgWeights = 33
	dnnlArgBias    = 41
)

var dnnlRowMajor = map[int]int{1: 2, 2: 3, 3: 4, 4: 5, 5: 7} // a, ab, abc, abcd, abcde

// dnnlTypes are those of inputs and of results.
var dnnlTypes = map[schema.DType]struct{ in, out int }{
	schema.FP32: {3, 3}, schema.BF16: {2, 3}, schema.INT8: {5, 4},
}

func loadOneDNN() (library, string, error) {
	lib, err := dlopen("libdnnl.so.3", "libdnnl.so.2", "libdnnl.so")
	if err != nil {
		return nil, "", err
	}
	d := &onednn{}
	var version func() *[3]int32
	err = lib.bind(map[string]any{
		"dnnl_version":                       &version,
		"dnnl_engine_create":                 &d.engineCreate,
		"dnnl_stream_create":                 &d.streamCreate,
		"dnnl_memory_create":                 &d.memoryCreate,
		"dnnl_memory_desc_get_size":          &d.descSize,
		"dnnl_primitive_desc_query_md":       &d.queryDesc,
		"dnnl_primitive_create":              &d.primitiveCreate,
		"dnnl_reorder_primitive_desc_create": &d.reorderCreate,
		"dnnl_primitive_attr_create":         &d.attrCreate,
		"dnnl_primitive_attr_set_post_ops":   &d.attrSetPostOps,
		"dnnl_post_ops_create":               &d.postOpsCreate,
		"dnnl_sgemm":                         &d.sgemm,
	})
	if err != nil {
		return nil, "", err
	}
	if d.execute, err = lib.symbol("dnnl_primitive_execute"); err != nil {
		return nil, "", err
	}
	v := *version()
	label := fmt.Sprintf("oneDNN %d.%d.%d", v[0], v[1], v[2])
	switch v[0] {
	case 2:
		d.create, err = loadOneDNN2(lib)
	case 3:
		d.create, err = loadOneDNN3(lib)
	default:
		err = fmt.Errorf("%s: only versions 2 and 3 are known", label)
	}
	if err != nil {
		return nil, "", err
	}
	if err := check("engine", d.engineCreate(&d.engine, dnnlCPU, 0)); err != nil {
		return nil, "", err
	}
	return d, label, check("stream", d.streamCreate(&d.stream, d.engine, dnnlStreamInOrder))
}

// check turns a status into an error.
func check(what string, status int32) error {
	const unimplemented = 3
	switch status {
	case 0:
		return nil
	case unimplemented:
		return errUnsupported
	}
	return fmt.Errorf("%s: status %d", what, status)
}

func (d *onednn) open(r request) (task, error) {
	switch {
	case r.kind == "matmul" && r.dtype == schema.FP32:
		m, n, k := r.dims[0], r.dims[1], r.dims[2]
		x, w, y := r.in[0].pointer(), r.in[1].pointer(), r.out.pointer()
		return task{run: func() { d.sgemm('N', 'N', m, n, k, 1, x, k, w, n, 0, y, n) }}, nil
	case r.kind == "matmul_packed":
		return d.openMatmul(r, dnnlAny)
	case r.kind == "matmul", r.kind == "matmul_batched":
		return d.openMatmul(r, dnnlRowMajor[len(r.dims)-1])
	case (r.kind == "conv" || r.kind == "conv_relu") && (r.dtype == schema.FP32 || r.dtype == schema.BF16):
		return d.openConv(r)
	}
	return task{}, errUnsupported
}

// openMatmul packs the weights once, if oneDNN may lay them out.
func (d *onednn) openMatmul(r request, layout int) (task, error) {
	types, have := dnnlTypes[r.dtype]
	if !have {
		return task{}, errUnsupported
	}
	last := len(r.dims) - 3
	batch, m, n, k := r.dims[:last:last], r.dims[last], r.dims[last+1], r.dims[last+2]
	x := d.row(types.in, append(batch, m, k)...)
	w := d.row(types.in, append(batch, k, n)...)
	y := d.row(types.out, append(batch, m, n)...)
	pd, err := d.matmul(d.engine, x, d.desc(append(batch, k, n), types.in, layout), y)
	if err != nil {
		return task{}, err
	}
	b := bound{onednn: d, pd: pd}
	b.input(dnnlArgSource, x, dnnlQuerySource, r.in[0])
	b.input(dnnlArgWeights, w, dnnlQueryWeights, r.in[1])
	finish := b.output(y, r.out)
	return b.task(finish)
}

// openConv lets oneDNN lay out everything: what surrounds a convolution in a
// network has the same layout. The result is in the type of the inputs.
func (d *onednn) openConv(r request) (task, error) {
	batch, c, h, w, k, size, stride, pad, groups := r.dims[0], r.dims[1], r.dims[2], r.dims[3], r.dims[4], r.dims[5], r.dims[6], r.dims[7], r.dims[8]
	weights := []int{k, c, size, size}
	if groups > 1 {
		weights = []int{groups, k / groups, c / groups, size, size}
	}
	p, q := (h+2*pad-size)/stride+1, (w+2*pad-size)/stride+1
	var attr uintptr
	if r.kind == "conv_relu" {
		var ops uintptr
		if err := errors.Join(check("attributes", d.attrCreate(&attr)), check("post-ops", d.postOpsCreate(&ops)),
			check("ReLU", d.appendReLU(ops)), check("post-ops", d.attrSetPostOps(attr, ops))); err != nil {
			return task{}, err
		}
	}
	types := dnnlTypes[r.dtype]
	pd, err := d.conv(d.engine, d.any(types.in, batch, c, h, w), d.any(types.in, weights...), d.row(types.in, k), d.any(types.in, batch, k, p, q), stride, pad, attr)
	if err != nil {
		return task{}, err
	}
	b := bound{onednn: d, pd: pd}
	b.input(dnnlArgSource, d.row(types.in, batch, c, h, w), dnnlQuerySource, r.in[0])
	b.input(dnnlArgWeights, d.row(types.in, weights...), dnnlQueryWeights, r.in[1])
	b.arg(dnnlArgBias, d.row(types.in, k), r.in[2])
	finish := b.output(d.row(types.out, batch, k, p, q), r.out)
	return b.task(finish)
}

// row and any describe a tensor in row-major order and in one that oneDNN picks.
func (d *onednn) row(dtype int, dims ...int) unsafe.Pointer {
	return d.desc(dims, dtype, dnnlRowMajor[len(dims)])
}

func (d *onednn) any(dtype int, dims ...int) unsafe.Pointer { return d.desc(dims, dtype, dnnlAny) }
