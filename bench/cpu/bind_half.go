package cpu

import (
	"hwcal/bench"
	"hwcal/schema"
)

// bf16 and fp16: what is stored has 16 bits, what is computed 32.

func init() {
	registerNarrow("bias", bindStored[uint16, float32], ofSums(bindSumBias))
	registerNarrow("relu", bindStored[uint16, float32], ofSums(bindSumReLU))
	for _, chain := range []string{"add", "mask", "sub", "mul", "div", "exp", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"} {
		registerNarrow(chain, bindStored[uint16, float32], nil)
	}
	registerNarrow("scale", bindScale[uint16, float32], nil)
	registerNarrow("dropout", bindDropout[uint16, float32], nil)
	registerNarrow("bias+gelu+dropout", bindBiasGELUDropout[uint16, float32], nil)
	registerNarrow("softmax", bindSoftmax[uint16, float32], nil)
	registerNarrow("causal_softmax", bindCausalSoftmax[uint16, float32], nil)
	registerNarrow("mask+softmax", bindMaskedSoftmax[uint16, float32], nil)
	registerNarrow("layernorm", bindLayerNorm[uint16, float32], nil)
	registerNarrow("add+layernorm", bindLayerNorm[uint16, float32], nil)
	registerNarrow("rmsnorm", bindRMSNorm[uint16, float32], nil)
}

// halves views a tensor as numbers of 16 bits.
func halves(ws *workspace, t *bench.Tensor) []uint16 { return as[uint16](ws.bytes(t)) }

// nameOf a chain, with the type if that is of 16 bits.
func nameOf(ws *workspace, c bench.Chain) string {
	if ws.dtype.Bytes() < schema.FP32.Bytes() {
		return c.String() + "_" + string(ws.dtype)
	}
	return c.String()
}

// finishHalf is the epilogue of a layer in fp32, if the chain goes on, and the only
// rounding to the type.
func finishHalf(ws *workspace, c bench.Chain, nr int) (finish, error) {
	return finishHalfIn(ws, c, nr, halves(ws, c.Output()))
}

// finishHalfIn does so to memory other than that of the chain's output.
func finishHalfIn(ws *workspace, c bench.Chain, nr int, out []uint16) (finish, error) {
	half := halfKernelsFor(ws.dtype, ws.isa)
	steps, err := newHalfSteps(ws, half, c[1:])
	if err != nil {
		return nil, err
	}
	epi, width := epilogueOf(steps), widthOf(c.Output())
	return func(sums []byte, i0, j0, m, n int) {
		tile, to := as[float32](sums), out[i0*width+j0:][:(m-1)*width+n]
		if epi != nil {
			epi(tile, nr, i0, j0, m, n)
		}
		half.round(&to[0], &tile[0], width, nr, m, n)
	}, nil
}

// newHalfSteps cuts a chain into steps as newSteps does. A matrix that is added comes
// in 16 bits.
func newHalfSteps(ws *workspace, half halfKernels, c bench.Chain) ([]step[float32], error) {
	for i, op := range c {
		if op.Name != "add" {
			continue
		}
		before, err := newSteps[float32](ws, c[:i])
		if err != nil {
			return nil, err
		}
		y, width := halves(ws, op.In[1]), widthOf(op.Out)
		add := func(dst []float32, ldd int, src []float32, lds, i0, j0, m, n int) {
			from := y[i0*width+j0:][:(m-1)*width+n]
			_, _ = dst[(m-1)*ldd+n-1], src[(m-1)*lds+n-1]
			half.addTo(&dst[0], &src[0], &from[0], ldd, lds, width, m, n, 0, 0, cached)
		}
		after, err := newHalfSteps(ws, half, c[i+1:])
		return append(append(before, add), after...), err
	}
	return newSteps[float32](ws, c)
}
