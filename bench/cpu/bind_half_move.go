package cpu

import (
	"math"

	"hwcal/bench"
)

// Moving elements does not depend on their type: two of 16 bits are moved as one of 32.

func init() {
	registerNarrow("copy", bindHalfCopy, nil)
	registerNarrow("set", bindHalfSet, nil)
	registerNarrow("concat", inPairs(bindConcat[float32], bindOddConcat), nil)
	registerNarrow("permute", inPairs(bindPermute[float32], bindOddPermute), nil)
	registerNarrow("embedding", inPairs(bindEmbedding[float32], bindOddEmbedding), nil)
	registerNarrow("transpose", bindHalfTranspose, nil)
}

func bindHalfCopy(ws *workspace, c bench.Chain) (*kernel, error) {
	src := halves(ws, c[0].In[0])
	pairs, last := paired(src)
	return movePairs(ws, c, vecKernelsFor[float32](ws.isa).copy, pairs, last, 0), nil
}

func bindHalfSet(ws *workspace, c bench.Chain) (*kernel, error) {
	value := float32(c[0].Params.(bench.SetParams).Value)
	half := make([]uint16, 1)
	halfKernelsFor(ws.dtype, ws.isa).round(&half[0], &value, 1, 1, 1, 1)
	pairs, last := paired(halves(ws, c.Output()))
	if len(last) > 0 {
		last = half
	}
	both := math.Float32frombits(uint32(half[0])<<16 | uint32(half[0]))
	return movePairs(ws, c, vecKernelsFor[float32](ws.isa).set, pairs, last, both), nil
}

// paired views numbers of 16 bits as pairs; the last one is left over of an odd number.
func paired(all []uint16) (pairs []float32, last []uint16) {
	even := len(all) / 2 * 2
	return as[float32](asBytes(all[:even])), all[even:]
}

// movePairs writes the pairs that a kernel makes of src and b, and the last number.
func movePairs(ws *workspace, c bench.Chain, move mapKernel[float32, float32], src []float32, last []uint16, b float32) *kernel {
	dst, dstLast := paired(halves(ws, c.Output()))
	parts := partsOf(ws, len(dst), lineElems)
	return storingFar(ws, c, func(nt nontemporal) func(w *worker) {
		move := move.storing(nt)
		return func(w *worker) {
			p := parts[w.id]
			move.slice(dst[p.lo:p.hi], src[p.lo:p.hi], nil, 0, b)
			if w.id == 0 {
				copy(dstLast, last)
			}
		}
	})
}

// inPairs takes the binder of pairs if all rows are made of them.
func inPairs(pairs, odd binder) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		if widthOf(c[0].In[0])%2 == 0 && widthOf(c.Output())%2 == 0 {
			return pairs(ws, c)
		}
		return odd(ws, c)
	}
}

func bindOddConcat(ws *workspace, c bench.Chain) (*kernel, error) {
	x, z := halves(ws, c[0].In[0]), halves(ws, c[0].In[1])
	n, k := widthOf(c[0].In[0]), widthOf(c[0].In[1])
	return rowByRow(ws, c, func(i int, to []uint16) {
		copy(to[:n], x[i*n:])
		copy(to[n:], z[i*k:])
	}), nil
}

func bindOddEmbedding(ws *workspace, c bench.Chain) (*kernel, error) {
	table, index := halves(ws, c[0].In[0]), as[int32](ws.bytes(c[0].In[1]))
	return rowByRow(ws, c, func(i int, to []uint16) { copy(to, table[int(index[i])*len(to):]) }), nil
}

func bindOddPermute(ws *workspace, c bench.Chain) (*kernel, error) {
	src, dst := halves(ws, c[0].In[0]), halves(ws, c.Output())
	s := c[0].Params.(bench.PermuteParams)
	d, parts := int(s.D), partsOf(ws, len(dst)/int(s.D), 1)
	return elementwise(ws, nameOf(ws, c), func(w *worker) {
		for i := parts[w.id].lo; i < parts[w.id].hi; i++ {
			copy(dst[i*d:][:d], src[permuted(i, int(s.P), int(s.Q))*d:])
		}
	}), nil
}

// permuted is the row of X[.,P,Q,D] that row i of Y[.,Q,P,D] is a copy of.
func permuted(i, p, q int) int {
	outer := i / (p * q)
	return (outer*p+i%p)*q + i/p%q
}

// rowByRow lets f write row i of the output, in Go: vectors of pairs begin at even elements.
func rowByRow(ws *workspace, c bench.Chain, f func(i int, to []uint16)) *kernel {
	dst, n := halves(ws, c.Output()), widthOf(c.Output())
	parts := partsOf(ws, len(dst)/n, 1)
	return elementwise(ws, nameOf(ws, c), func(w *worker) {
		for i := parts[w.id].lo; i < parts[w.id].hi; i++ {
			f(i, dst[i*n:][:n])
		}
	})
}

func bindHalfTranspose(ws *workspace, c bench.Chain) (*kernel, error) {
	return inSquares(ws, c, halves(ws, c[0].In[0]), halves(ws, c.Output()), squareOf[uint16](ws.isa), vecKernelsFor[float32](ws.isa).transposeHalves)
}
