package cpu

import (
	"math"

	"hwcal/bench"
	"hwcal/bench/element"
)

// convEpilogue is what is done to the sums while they are in registers: Y =
// max(sum + bias + residual, floor), with a bias for each channel and a residual that
// has the layout of Y or is nil.
type convEpilogue[T float] struct {
	bias, residual []T
	floor          T
	add            mapKernel[T, T] // the residual, behind kernels that do not
	half           *halfChannels   // Y and the residual of a type of 16 bits, in place of those of T; it has the floor too
}

// newConvEpilogue cuts off below 0 if relu.
func newConvEpilogue[T float](isa ISA, bias, residual []T, relu bool) convEpilogue[T] {
	vec := vecKernelsFor[T](isa)
	if relu {
		return convEpilogue[T]{bias: bias, residual: residual, add: vec.addRelu}
	}
	return convEpilogue[T]{bias: bias, residual: residual, floor: T(math.Inf(-1)), add: vec.add}
}

// halfChannels is Y of a convolution in a type of 16 bits, and what is done to its sums in fp32, ending with the only
// rounding to the type.
type halfChannels struct {
	y, residual []uint16 // there may be no residual
	pixels      int      // of a channel
	bias        []float32
	floor       float32
	finishRows  finishHalves
}

// halfChannelsOf gives the weights too: with batch norm in them they are rounded again.
func halfChannelsOf(ws *workspace, c bench.Chain) (weights func() []byte, h halfChannels) {
	p := convParameters[float32](ws, c)
	weights = func() []byte { return ws.bytes(c[0].In[1]) }
	if p.folded {
		weights = func() []byte { return rounded(p.weights(), element.Of(ws.dtype)) }
	}
	h = halfChannels{
		y: halves(ws, c.Output()), pixels: pixelsOf(c.Output()), bias: p.bias, floor: float32(math.Inf(-1)),
		finishRows: halfKernelsFor(ws.dtype, ws.isa).finishRows,
	}
	if p.residual != nil {
		h.residual = halves(ws, p.residual)
	}
	if p.relu {
		h.floor = 0
	}
	return weights, h
}

// finish makes elements of Y as finishChannels does, of sums in rows of ld.
func (h *halfChannels) finish(sums []float32, ld, channel, at, m, n int) {
	from, to := sums[:(m-1)*ld+n], h.y[at:][:(m-1)*h.pixels+n]
	h.finishRows(&to[0], &from[0], &h.bias[channel:][:m][0], startOf(h.residual, at, len(to)), h.pixels, ld, h.pixels, m, n, h.floor)
}

// epilogue is that of a convolution whose sums begin with the bias.
func (h halfChannels) epilogue() convEpilogue[float32] {
	epi := convEpilogue[float32]{bias: h.bias, floor: float32(math.Inf(-1))}
	h.bias = make([]float32, len(h.bias))
	epi.half = &h
	return epi
}
