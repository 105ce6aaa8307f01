//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"hwcal/bench"
	"hwcal/schema"
)

// graph describes operations over tensors, each of which is described once. Nothing is asked of the library
// before plans: graphs that are described alike share them.
type graph struct {
	ws        *workspace
	library   *cudnnLibrary
	err       error // the first, which plans tells
	parts     []part
	ops       []number
	tensors   int64 // described so far; the number of one is its unique id
	ids       []int64
	addresses []Address // of the tensors with these ids
}

// part is a descriptor to be made.
type part struct {
	kind       int32
	attributes []attribute
}

func (ws *workspace) graphOf() *graph {
	return &graph{ws: ws, library: ws.backend.libraries[cuDNN].(*cudnnLibrary)}
}

// add describes a part, behind those that it consists of.
func (g *graph) add(kind int32, attributes ...attribute) number {
	g.parts = append(g.parts, part{kind, attributes})
	return number(len(g.parts) - 1)
}

// description is the key by which graphs share plans. It leaves out addresses and factors, but has the type: more
// engines are allowed in tf32 than in fp32.
func (g *graph) description() string { return fmt.Sprint(g.ws.dtype, g.parts) }

// node is a tensor of a graph.
type node struct {
	number number
	dims   []int64
}

// Where the elements of a tensor are.
type storage int

const (
	virtual  storage = iota // nowhere: it is handed from one operation to the next
	inMemory                // of the device
	byValue                 // of the host, from where it is read at each execution
)

// tensor describes one with strides in elements.
func (g *graph) tensor(dataType int32, dims, strides []int64, s storage, at Address) node {
	g.tensors++
	attributes := []attribute{
		one[int64](attrTensorAlignment, typeInt64, cudnnAlignment), one(attrTensorType, typeDataType, dataType),
		many(attrTensorDims, typeInt64, dims), many(attrTensorStrides, typeInt64, strides), one(attrTensorID, typeInt64, g.tensors),
	}
	switch s {
	case virtual:
		attributes = append(attributes, one(attrTensorVirtual, typeBoolean, true))
	case byValue:
		attributes = append(attributes, one(attrTensorByValue, typeBoolean, true))
	}
	if s != virtual {
		g.ids, g.addresses = append(g.ids, g.tensors), append(g.addresses, at)
	}
	return node{g.add(kindTensor, attributes...), dims}
}

// rowMajorStrides are those of a tensor without gaps.
func rowMajorStrides(dims []int64) []int64 {
	strides := make([]int64, len(dims))
	n := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = n
		n *= dims[i]
	}
	return strides
}

// channelsLastStrides are those of X[n,c,h,w] kept as [n,h,w,c].
func channelsLastStrides(dims []int64) []int64 {
	c, h, w := dims[1], dims[2], dims[3]
	return []int64{c * h * w, 1, c * w, c}
}

// stridesOf a tensor as the device keeps it.
func stridesOf(t *tensor) []int64 {
	if t.layout == channelsLast {
		return channelsLastStrides(t.Dims)
	}
	return rowMajorStrides(t.Dims)
}

// stored is a tensor of the case.
func (g *graph) stored(t *tensor) node {
	return g.tensor(cudnnTypeOf(t, g.ws.dtype), t.Dims, stridesOf(t), inMemory, t.address)
}

// between is handed on in a type, with strides as of the tensor that it ends in.
func (g *graph) between(dataType int32, dims, strides []int64) node {
	return g.tensor(dataType, dims, strides, virtual, 0)
}

// float is a factor in fp32, and integer one in int32, of a graph whose tensors have four
// dimensions.
func (g *graph) float(v float64) node { return g.scalar(cudnnFloat, math.Float32bits(float32(v))) }
func (g *graph) integer(v int64) node { return g.scalar(cudnnInt32, uint32(int32(v))) }

func (g *graph) scalar(dataType int32, bits uint32) node {
	ones := []int64{1, 1, 1, 1}
	// The library reads it when it executes a plan: it must not be in memory of Go.
	mem, a, err := g.ws.context.AllocHost(4)
	if err != nil {
		g.err = errors.Join(g.err, err)
		return node{}
	}
	g.ws.hosts = append(g.ws.hosts, a)
	*(*uint32)(unsafe.Pointer(&mem[0])) = bits
	return g.tensor(dataType, ones, ones, byValue, Address(uintptr(unsafe.Pointer(&mem[0]))))
}

// cudnnTypeOf the elements of a tensor.
func cudnnTypeOf(t *tensor, d schema.DType) int32 {
	switch {
	case t.Sums, t.Factors:
		return cudnnFloat
	case d == schema.FP16:
		return cudnnHalf
	case d == schema.BF16:
		return cudnnBF16
	}
	return cudnnFloat
}

// pointwise is y = mode(x, b, t), computed in a type; b and t may be left out. A mode that needs it is
// given the axis along which it counts.
func (g *graph) pointwise(mode, compute int32, y node, in []node, more ...attribute) {
	d := g.add(kindPointwise, append([]attribute{one(attrPointwiseMode, typePointwise, mode), one(attrPointwiseType, typeDataType, compute)}, more...)...)
	attributes := []attribute{one(attrPointwiseDescriptor, typeDescriptor, d), one(attrPointwiseY, typeDescriptor, y.number)}
	for i, x := range in {
		attributes = append(attributes, one([]int32{attrPointwiseX, attrPointwiseB, attrPointwiseT}[i], typeDescriptor, x.number))
	}
	g.ops = append(g.ops, g.add(kindPointwiseOp, attributes...))
}

// axis is what an index is counted along.
func axis(i int64) attribute { return one(attrPointwiseAxis, typeInt64, i) }

// reduce is y = mode of all elements of x along the dimensions in which y has one.
func (g *graph) reduce(mode int32, y, x node) {
	d := g.add(kindReduction, one(attrReductionMode, typeReduction, mode), one[int32](attrReductionType, typeDataType, cudnnFloat))
	g.ops = append(g.ops, g.add(kindReductionOp,
		one(attrReductionDescriptor, typeDescriptor, d), one(attrReductionX, typeDescriptor, x.number), one(attrReductionY, typeDescriptor, y.number)))
}

// matmul is y = a b, of matrices in the last two dimensions, added in fp32.
func (g *graph) matmul(y, a, b node) {
	d := g.add(kindMatmul, one[int32](attrMatmulType, typeDataType, cudnnFloat))
	g.ops = append(g.ops, g.add(kindMatmulOp, one(attrMatmulDescriptor, typeDescriptor, d),
		one(attrMatmulA, typeDescriptor, a.number), one(attrMatmulB, typeDescriptor, b.number), one(attrMatmulC, typeDescriptor, y.number)))
}

// convolve is y = the cross-correlation of x with the filters w, added in fp32.
func (g *graph) convolve(y, x, w node, p bench.Conv2dParams) {
	pad := []int64{p.Pad, p.Pad}
	d := g.add(kindConvolution, one[int32](attrConvType, typeDataType, cudnnFloat), one[int32](attrConvMode, typeConvolution, crossCorrelation),
		many(attrConvDilations, typeInt64, []int64{1, 1}), many(attrConvStrides, typeInt64, []int64{p.Stride, p.Stride}),
		many(attrConvPostPaddings, typeInt64, pad), many(attrConvPrePaddings, typeInt64, pad), one[int64](attrConvSpatialDims, typeInt64, 2))
	g.ops = append(g.ops, g.add(kindConvolutionOp, one[float32](attrConvAlpha, typeFloat, 1), one[float32](attrConvBeta, typeFloat, 0),
		one(attrConvDescriptor, typeDescriptor, d), one(attrConvW, typeDescriptor, w.number),
		one(attrConvX, typeDescriptor, x.number), one(attrConvY, typeDescriptor, y.number)))
}
