package cpu

import (
	"math"

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
	half, width := halfKernelsFor(ws.dtype, ws.isa), widthOf(c.Output())
	if f := finishColumns(ws, half, c[1:], nr, out); f != nil {
		return f, nil
	}
	steps, err := newSteps[float32](ws, c[1:])
	if err != nil {
		return nil, err
	}
	epi := epilogueOf(steps)
	return func(sums []byte, i0, j0, m, n int) {
		tile, to := as[float32](sums), out[i0*width+j0:][:(m-1)*width+n]
		if epi != nil {
			epi(tile, nr, i0, j0, m, n)
		}
		half.round(&to[0], &tile[0], width, nr, m, n)
	}, nil
}

// finishColumns adds a bias, applies ReLU or adds a residual if the chain does, and rounds, all in one pass; nil for
// other chains.
func finishColumns(ws *workspace, half halfKernels, c bench.Chain, nr int, out []uint16) finish {
	var residual []uint16
	floor := float32(math.Inf(-1))
	switch c.String() {
	case "bias":
	case "bias+relu":
		floor = 0
	case "bias+add":
		residual = halves(ws, c[1].In[1])
	default:
		return nil
	}
	bias, width := data[float32](ws, c[0].In[1]), widthOf(c.Output())
	return func(sums []byte, i0, j0, m, n int) {
		tile, at, size := as[float32](sums)[:(m-1)*nr+n], i0*width+j0, (m-1)*width+n
		half.finishCols(&out[at:][:size][0], &tile[0], &bias[j0:][:n][0], startOf(residual, at, size), width, nr, width, m, n, floor)
	}
}

// startOf is where n elements of a residual begin, nil if there is none.
func startOf(residual []uint16, at, n int) *uint16 {
	if residual == nil {
		return nil
	}
	return &residual[at:][:n][0]
}
