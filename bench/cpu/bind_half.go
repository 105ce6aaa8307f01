package cpu

import "hwcal/bench"

// bf16 and fp16: what is stored has 16 bits, what is computed 32.

func init() {
	registerNarrow("bias", bindHalfAdd, bindSumBias)
	registerNarrow("add", bindHalfAdd, nil)
	registerNarrow("relu", bindHalfReLU, bindSumReLU)
	registerNarrow("gelu", bindHalfGELU, nil)
}

// halves views a tensor as numbers of 16 bits.
func halves(ws *workspace, t *bench.Tensor) []uint16 { return as[uint16](ws.bytes(t)) }

// finishHalf is the epilogue of a layer in fp32, if the chain goes on, and the only
// rounding to the type.
func finishHalf(ws *workspace, c bench.Chain, nr int) finish {
	var epi epilogue[float32]
	if len(c) > 1 {
		epi = linearEpilogue(ws.isa, c[1:], widened(ws, c[1].In[1]))
	}
	out := halves(ws, c.Output())
	cols := int(c.Output().Dims[1])
	round := halfKernelsFor(ws.dtype, ws.isa).round
	return func(sums []byte, i0, j0, m, n int) {
		tile := as[float32](sums)
		if epi != nil {
			epi(tile, nr, i0, j0, m, n)
		}
		to := out[i0*cols+j0:][:(m-1)*cols+n]
		round(&to[0], &tile[0], cols, nr, m, n)
	}
}

// widened is a parameter in fp32, as it is before the run.
func widened(ws *workspace, t *bench.Tensor) []float32 {
	src := halves(ws, t)
	dst := make([]float32, len(src))
	halfKernelsFor(ws.dtype, ws.isa).widen(&dst[0], &src[0], 1, 1, len(src), 1)
	return dst
}

func bindHalfReLU(ws *workspace, c bench.Chain) (*kernel, error) {
	src, dst := halves(ws, c[0].In[0]), halves(ws, c[0].Out)
	relu := halfKernelsFor(ws.dtype, ws.isa).relu
	return elementwise(ws, c[0].Name+"_"+string(ws.dtype), func(w *worker) {
		lo, hi := w.share(len(src), lineElems)
		for at := lo; at < hi; at += vecCall {
			n := min(vecCall, hi-at)
			relu(&dst[at], &src[at], n, n, 1, n)
		}
	}), nil
}

// bindHalfAdd adds a row to all rows, or a matrix.
func bindHalfAdd(ws *workspace, c bench.Chain) (*kernel, error) {
	src, y, dst := halves(ws, c[0].In[0]), halves(ws, c[0].In[1]), halves(ws, c[0].Out)
	add := halfKernelsFor(ws.dtype, ws.isa).add
	dims := c[0].Out.Dims
	return elementwiseRows(ws, c[0].Name+"_"+string(ws.dtype), len(dst), int(dims[len(dims)-1]), func(at, m, n, cols, j int) {
		if len(y) < len(src) {
			add(&dst[at], &src[at], &y[j], cols, cols, 0, m, n)
		} else {
			add(&dst[at], &src[at], &y[at], cols, cols, cols, m, n)
		}
	}), nil
}

// bindHalfGELU computes so much for an element that it can pass through memory in L1.
func bindHalfGELU(ws *workspace, c bench.Chain) (*kernel, error) {
	blocks, err := scratch[float32](ws, len(ws.workers)*blockElems)
	if err != nil {
		return nil, err
	}
	src, dst := halves(ws, c[0].In[0]), halves(ws, c[0].Out)
	half, gelu := halfKernelsFor(ws.dtype, ws.isa), vecKernelsFor[float32](ws.isa).gelu
	return elementwise(ws, c[0].Name+"_"+string(ws.dtype), func(w *worker) {
		lo, hi := w.share(len(src), lineElems)
		half.inBlocks(blocks[w.id*blockElems:][:blockElems], dst[lo:hi], src[lo:hi], func(x []float32) {
			gelu.slice(x, x, nil, 0, 0)
		})
	}), nil
}
