package cpu

import (
	"math"
	"unsafe"

	"hwcal/bench"
)

func init() {
	for _, r := range []bench.Reduction{bench.ReduceSum, bench.ReduceMax, bench.ReduceMean} {
		register("reduce_"+string(r)+"_rows", bindReduceRows[float32](r), bindReduceRows[float64](r))
		register("reduce_"+string(r)+"_cols", bindReduceCols[float32](r), bindReduceCols[float64](r))
	}
	register("mse", bindMSE[float32], bindMSE[float64])
	register("cross_entropy", bindCrossEntropy[float32], bindCrossEntropy[float64])
}

// inCalls runs f over parts [lo, hi) of n elements, few enough for a call that the
// collector cannot interrupt.
func inCalls(n int, f func(lo, hi int)) {
	for lo := 0; lo < n; lo += vecCall {
		f(lo, min(lo+vecCall, n))
	}
}

func bindReduceRows[T float](r bench.Reduction) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		k := vecKernelsFor[T](ws.isa)
		src, dst := data[T](ws, c[0].In[0]), data[T](ws, c.Output())
		n := widthOf(c[0].In[0])
		reduce := k.rowSums
		if r == bench.ReduceMax {
			reduce = k.rowMaxes
		}
		return elementwise(ws, c.String(), inRows(ws, c, func(lo, hi int) {
			eachRows(hi-lo, n, func(i, m int) { reduce(&dst[lo+i], &src[(lo+i)*n], n, m, n) })
			if r == bench.ReduceMean {
				k.scale.slice(dst[lo:hi], dst[lo:hi], nil, T(1/float64(n)), 0)
			}
		})), nil
	}
}

// shortRow is the number of bytes up to which rows are reduced a few columns at a time,
// all rows of a block of shortRows bytes, with the results in registers. Wider rows are
// added to the results one after the other: memory is then read in order.
const (
	shortRow  = 512
	shortRows = 16 << 10
)

// bindReduceCols lets each worker reduce its rows to one, and then its columns of those.
func bindReduceCols[T float](r bench.Reduction) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		k := vecKernelsFor[T](ws.isa)
		src, dst := data[T](ws, c[0].In[0]), data[T](ws, c.Output())
		n := widthOf(c[0].In[0])
		partial, err := blocksOf[T](ws, n)
		if err != nil {
			return nil, err
		}
		down, join, empty := k.colSum, k.accumulate, T(0)
		if r == bench.ReduceMax {
			down, join, empty = k.colMax, k.raiseTo, T(math.Inf(-1))
		}
		rowBytes := n * int(unsafe.Sizeof(empty))
		reduce := func(dst, src []T, m int) { join.matrix(dst, 0, dst, 0, src, n, m, n, 0, 0) }
		if rowBytes <= shortRow {
			most := shortRows / rowBytes
			reduce = func(dst, src []T, m int) {
				for i := 0; i < m; i += most {
					down(&dst[0], &src[i*n], n, min(most, m-i), n)
				}
			}
		}
		parts, columns := partsOf(ws, len(src)/n, 1), partsOf(ws, n, lineElems)
		return elementwise(ws, c.String(), func(w *worker) {
			mine, rows := partial[w.id], parts[w.id]
			k.set.slice(mine, mine, nil, 0, empty)
			reduce(mine, src[rows.lo*n:], rows.hi-rows.lo)
			w.barrier()
			p := columns[w.id]
			to := dst[p.lo:p.hi]
			copy(to, partial[0][p.lo:p.hi])
			for _, from := range partial[1:] {
				join.slice(to, to, from[p.lo:p.hi], 0, 0)
			}
			if r == bench.ReduceMean {
				k.scale.slice(to, to, nil, T(1/float64(len(src)/n)), 0)
			}
		}), nil
	}
}

// bindMSE adds up the parts of all workers in float64.
func bindMSE[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	k := vecKernelsFor[T](ws.isa)
	x, target, dst := data[T](ws, c[0].In[0]), data[T](ws, c[0].In[1]), data[T](ws, c.Output())
	sums, err := blocksOf[float64](ws, 1)
	if err != nil {
		return nil, err
	}
	parts := partsOf(ws, len(x), lineElems)
	return elementwise(ws, c.String(), func(w *worker) {
		p, sum := parts[w.id], 0.0
		inCalls(p.hi-p.lo, func(lo, hi int) {
			sum += float64(k.rowDistance(&x[p.lo+lo], &target[p.lo+lo], hi-lo))
		})
		sums[w.id][0] = sum
		w.barrier()
		if w.id == 0 {
			sum := 0.0
			for _, s := range sums {
				sum += s[0]
			}
			dst[0] = T(sum / float64(len(x)))
		}
	}), nil
}

// lossRows is the number of rows whose sums are kept until their logarithms are taken.
const lossRows = 256

func bindCrossEntropy[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	k := vecKernelsFor[T](ws.isa)
	x, labels, dst := data[T](ws, c[0].In[0]), as[int32](ws.bytes(c[0].In[1])), data[T](ws, c.Output())
	n := widthOf(c[0].In[0])
	rooms, err := blocksOf[T](ws, 2*lossRows)
	if err != nil {
		return nil, err
	}
	parts, most := partsOf(ws, len(dst), rowGrain), min(lossRows, max(1, vecCall/n))
	return elementwise(ws, c.String(), func(w *worker) {
		sums, largest := rooms[w.id][:lossRows], rooms[w.id][lossRows:]
		for lo, hi := parts[w.id].lo, parts[w.id].hi; lo < hi; lo += most {
			m := min(most, hi-lo)
			k.rowExpSums(&sums[0], &largest[0], &x[lo*n:][:m*n][0], n, m, n)
			for i := range m {
				picked := x[(lo+i)*n+int(labels[lo+i])]
				dst[lo+i] = T(math.Log(float64(sums[i])) + float64(largest[i]) - float64(picked))
			}
		}
	}), nil
}
