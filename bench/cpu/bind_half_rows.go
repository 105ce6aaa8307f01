package cpu

import "hwcal/bench"

// What normalises whole rows of bf16 or fp16.

func init() {
	registerNarrow("layernorm", bindHalfLayerNorm, nil)
	registerNarrow("add+layernorm", bindHalfLayerNorm, nil)
	registerNarrow("mask+softmax", bindHalfMaskedSoftmax, nil)
}

func bindHalfLayerNorm(ws *workspace, c bench.Chain) (*kernel, error) {
	norm := newLayerNorm[float32](ws, c[len(c)-1])
	var second []uint16
	if len(c) > 1 {
		second = halves(ws, c[0].In[1])
	}
	return inHalfRows(ws, c, second, func(rows []float32, m, n int) {
		for i := range m {
			row := rows[i*n:][:n]
			norm.row(row, row, nil)
		}
	})
}

func bindHalfMaskedSoftmax(ws *workspace, c bench.Chain) (*kernel, error) {
	k := vecKernelsFor[float32](ws.isa)
	return inHalfRows(ws, c, halves(ws, c[0].In[1]), func(rows []float32, m, n int) {
		k.softmax(rows, n, rows, n, nil, 0, m, n, 1)
	})
}

// inHalfRows lets f work in fp32 on m rows of n elements of the first input, or of its sum
// with a second matrix, whose rows repeat where it has fewer. They are few enough to
// stay in L1, or one.
func inHalfRows(ws *workspace, c bench.Chain, second []uint16, f func(rows []float32, m, n int)) (*kernel, error) {
	n := widthOf(c.Output())
	most := max(1, blockElems/n)
	room := ceilDiv(most*n, lineElems) * lineElems
	blocks, err := scratch[float32](ws, len(ws.workers)*room)
	if err != nil {
		return nil, err
	}
	half := halfKernelsFor(ws.dtype, ws.isa)
	src, dst := halves(ws, c[0].In[0]), halves(ws, c.Output())
	return inRepeats(ws, nameOf(ws, c), c.Output(), len(second)/n, func(w *worker, i, j, m int) {
		for end := i + m; i < end; i, j = i+most, j+most {
			count := min(most, end-i)
			rows, from, to := blocks[w.id*room:][:count*n], src[i*n:][:count*n], dst[i*n:][:count*n]
			for at := 0; at < len(rows); at += vecCall {
				part := min(vecCall, len(rows)-at)
				half.widen(&rows[at], &from[at], part, part, 1, part)
				if second != nil {
					half.addWide(&rows[at], &rows[at], &second[j*n+at], part, part, part, 1, part)
				}
			}
			f(rows, count, n)
			half.roundSlice(to, rows)
		}
	}), nil
}
