package cpu

import "hwcal/bench"

// What normalises whole rows of bf16 or fp16.

func init() {
	registerNarrow("layernorm", bindHalfLayerNorm, nil)
	registerNarrow("add+layernorm", bindHalfLayerNorm, nil)
	registerNarrow("rmsnorm", bindHalfRMSNorm, nil)
	registerNarrow("softmax", bindHalfSoftmax, nil)
	registerNarrow("mask+softmax", bindHalfSoftmax, nil)
}

func bindHalfLayerNorm(ws *workspace, c bench.Chain) (*kernel, error) {
	norm := newLayerNorm[float32](ws, c[len(c)-1])
	var second []uint16
	if len(c) > 1 {
		second = halves(ws, c[0].In[1])
	}
	return inHalfRows(ws, c, second, func(rows []float32, _, _ int) {
		norm.rows(rows, rows, false)
	})
}

func bindHalfRMSNorm(ws *workspace, c bench.Chain) (*kernel, error) {
	norm := newRMSNorm[float32](ws, c[0])
	return inHalfRows(ws, c, nil, func(rows []float32, _, _ int) {
		norm.rows(rows, rows, false)
	})
}

// bindHalfSoftmax is the softmax of rows, or of their sum with a mask.
func bindHalfSoftmax(ws *workspace, c bench.Chain) (*kernel, error) {
	k := vecKernelsFor[float32](ws.isa)
	var mask []uint16
	if len(c[0].In) > 1 {
		mask = halves(ws, c[0].In[1])
	}
	return inHalfRows(ws, c, mask, func(rows []float32, m, n int) {
		k.softmax(rows, n, rows, n, nil, 0, m, n, 1)
	})
}

// inHalfRows lets f work in fp32 on m rows of n elements of the first input, or of its sum
// with a second one, which repeats if it is smaller. They are few enough to stay in L1,
// or one.
func inHalfRows(ws *workspace, c bench.Chain, second []uint16, f func(rows []float32, m, n int)) (*kernel, error) {
	n := widthOf(c.Output())
	most := max(1, blockElems/n)
	blocks, err := blocksOf[float32](ws, most*n)
	if err != nil {
		return nil, err
	}
	half := halfKernelsFor(ws.dtype, ws.isa)
	src, dst := halves(ws, c[0].In[0]), halves(ws, c.Output())
	parts := partsOf(ws, len(dst)/n, 1)
	return elementwise(ws, nameOf(ws, c), func(w *worker) {
		p := parts[w.id]
		met := 0 // of the second input
		if second != nil {
			met = p.lo * n % len(second)
		}
		for i := p.lo; i < p.hi; i += most {
			m := min(most, p.hi-i)
			rows := blocks[w.id][:m*n]
			half.widenSlice(rows, src[i*n:][:m*n])
			for at := 0; second != nil && at < len(rows); {
				count := min(vecCall, len(rows)-at, len(second)-met)
				half.addWide(&rows[at], &rows[at], &second[met], count, count, count, 1, count)
				at, met = at+count, (met+count)%len(second)
			}
			f(rows, m, n)
			half.roundSlice(dst[i*n:][:m*n], rows)
		}
	}), nil
}
