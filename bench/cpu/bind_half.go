package cpu

import "hwcal/bench"

// bf16 and fp16: what is stored has 16 bits, what is computed 32.

func init() {
	registerNarrow("bias", bindHalfBias, bindSumBias)
	registerNarrow("relu", bindHalf(func(k vecKernels[float32]) mapKernel[float32] { return k.relu }), bindSumReLU)
	registerNarrow("gelu", bindHalf(func(k vecKernels[float32]) mapKernel[float32] { return k.gelu }), nil)
}

// finishHalf is the epilogue of a layer in fp32, if the chain goes on, and the only
// rounding to the type.
func finishHalf(ws *workspace, c bench.Chain, nr int) finish {
	var epi epilogue[float32]
	if len(c) > 1 {
		epi = linearEpilogue(ws.isa, c[1:], widened(ws, c[1].In[1]))
	}
	out := as[uint16](ws.bytes(c.Output()))
	cols := int(c.Output().Dims[1])
	round := conversionOf(ws.dtype, ws.isa).round
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
	src := as[uint16](ws.bytes(t))
	dst := make([]float32, len(src))
	conversionOf(ws.dtype, ws.isa).widen(&dst[0], &src[0], 1, 1, len(src), 1)
	return dst
}

// bindHalf binds an operation of one input to its kernel for fp32.
func bindHalf(choose func(vecKernels[float32]) mapKernel[float32]) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		f := choose(vecKernelsFor[float32](ws.isa))
		elems := int(c.Output().Elems())
		return elementwiseHalf(ws, c[0], func(w *worker) (lo, rows, cols int) {
			lo, hi := w.share(elems, lineElems)
			return lo, 1, hi - lo
		}, func(x []float32, _, _, _ int) { f.slice(x, x, nil, 0, 0) })
	}
}

func bindHalfBias(ws *workspace, c bench.Chain) (*kernel, error) {
	bias := widened(ws, c[0].In[1])
	add := vecKernelsFor[float32](ws.isa).add
	cols := len(bias)
	return elementwiseHalf(ws, c[0], func(w *worker) (lo, rows, _ int) {
		lo, hi := w.share(int(c.Output().Elems())/cols, 1)
		return lo * cols, hi - lo, cols
	}, func(x []float32, j0, m, n int) { add.tile(x, n, m, n, bias[j0:j0+n], 0, 0) })
}

// elementwiseHalf lets each worker run f on blocks of its part: rows x cols elements
// from lo on.
func elementwiseHalf(ws *workspace, op bench.Op, part func(w *worker) (lo, rows, cols int), f func(x []float32, j0, m, n int)) (*kernel, error) {
	blocks, err := scratch[float32](ws, len(ws.workers)*blockElems)
	if err != nil {
		return nil, err
	}
	src, dst := as[uint16](ws.bytes(op.In[0])), as[uint16](ws.bytes(op.Out))
	convert := conversionOf(ws.dtype, ws.isa)
	return elementwise(ws, op.Name+"_"+string(ws.dtype), func(w *worker) {
		lo, rows, cols := part(w)
		convert.inBlocks(blocks[w.id*blockElems:][:blockElems], dst[lo:], src[lo:], rows, cols, f)
	}), nil
}
