package cpu

import (
	"math"
	"unsafe"

	"hwcal/bench"
)

func init() {
	for _, r := range []bench.Reduction{bench.ReduceSum, bench.ReduceMax, bench.ReduceMean} {
		rows, cols := "reduce_"+string(r)+"_rows", "reduce_"+string(r)+"_cols"
		register(rows, bindReduceRows[float32, float32](r), bindReduceRows[float64, float64](r))
		registerNarrow(rows, bindReduceRows[uint16, float32](r), nil)
		register(cols, bindReduceCols[float32, float32](r), bindReduceCols[float64, float64](r))
		registerNarrow(cols, bindReduceCols[uint16, float32](r), nil)
	}
	register("mse", bindMSE[float32, float32], bindMSE[float64, float64])
	registerNarrow("mse", bindMSE[uint16, float32], nil)
	register("cross_entropy", bindCrossEntropy[float32, float32], bindCrossEntropy[float64, float64])
	registerNarrow("cross_entropy", bindCrossEntropy[uint16, float32], nil)
}

// inCalls runs f over parts [lo, hi) of n elements, few enough for a call that the
// collector cannot interrupt.
func inCalls(n int, f func(lo, hi int)) {
	for lo := 0; lo < n; lo += vecCall {
		f(lo, min(lo+vecCall, n))
	}
}

// resultRows is the number of rows whose results are kept until they are stored.
const resultRows = 1024

// results lets f compute numbers of dst: there, or if they are halves in a room, from which they are rounded.
func (k *storedKernels[S, T]) results(dst []S, room []T, f func(to []T)) {
	if k.keep == nil {
		f(as[T](asBytes(dst)))
		return
	}
	to := room[:len(dst)]
	f(to)
	k.keep(dst, to)
}

// taken makes dst what src is in memory.
func (k *storedKernels[S, T]) taken(dst []T, src []S) {
	if k.take == nil {
		copy(dst, as[T](asBytes(src)))
		return
	}
	k.take(dst, src)
}

// eachResult lets each worker run f over rows of the first input, or planes of an image: m of n elements each from
// row i on, which become one number each.
func eachResult[S inMemory, T float](ws *workspace, c bench.Chain, k *storedKernels[S, T], f func(w *worker, to []T, i, m, n int)) (*kernel, error) {
	dst := data[S](ws, c.Output())
	n, parts := int(c[0].In[0].Elems())/len(dst), partsOf(ws, len(dst), 1)
	rooms, err := blocksOf[T](ws, resultRows)
	if err != nil {
		return nil, err
	}
	most := min(resultRows, max(1, rowsCall/n))
	return elementwise(ws, nameOf(ws, c), func(w *worker) {
		p := parts[w.id]
		for i := p.lo; i < p.hi; i += most {
			m := min(most, p.hi-i)
			k.results(dst[i:i+m], rooms[w.id], func(to []T) { f(w, to, i, m, n) })
		}
	}), nil
}

// bindReduceRows takes rows, or planes of an image, to one number each.
func bindReduceRows[S inMemory, T float](r bench.Reduction) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		k, src, scale := storedKernelsFor[S, T](ws), data[S](ws, c[0].In[0]), vecKernelsFor[T](ws.isa).scale
		reduce := k.rowSums
		if r == bench.ReduceMax {
			reduce = k.rowMaxes
		}
		return eachResult(ws, c, k, func(_ *worker, to []T, i, m, n int) {
			reduce(&to[0], &src[i*n], n, m, n)
			if r == bench.ReduceMean {
				scale.slice(to, to, nil, T(1/float64(n)), 0)
			}
		})
	}
}

// Rows of up to shortRow bytes are reduced a few columns at a time, over all rows of a block of shortRows bytes,
// with the results in registers. Wider rows are reduced groupRows at a time: a Zen 3 takes 1.6 cycles for a vector
// so, and 2.4 where each row loads and stores the results. They are cut into columns of groupCols bytes, so that the
// results and what is prefetched fit into L1 together. Rows from memory are added to the results one by one, so
// that memory is read in order.
const (
	shortRow  = 512
	shortRows = 16 << 10
	groupRows = 4
	groupCols = 4096
)

// nearOrFar is the faster of two kernels, found by trial as in storing: one for input from L3, and one for input from
// memory, whose loads are paced: it waits for them every few lines.
func nearOrFar(ws *workspace, c bench.Chain, bind func(ws *workspace, c bench.Chain, far bool) (*kernel, error)) (*kernel, error) {
	near, err := bind(ws, c, false)
	if err != nil || !hasFarKernels(ws.isa, ws.dtype) || !ws.beyondL2(int(c[0].In[0].Bytes(ws.dtype))) {
		return near, err
	}
	far, err := bind(ws, c, true)
	if err != nil {
		return nil, err
	}
	far.name += "_far"
	return tried(ws, c, []*kernel{near, far}), nil
}

// bindReduceCols lets each worker reduce its columns over all rows, if its pieces of rows are near, or long enough for the
// hardware to prefetch. Else, and where memory is to be read in order, each reduces its rows to one row of partial
// results, and then its columns over those of all workers.
func bindReduceCols[S inMemory, T float](r bench.Reduction) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		return nearOrFar(ws, c, func(ws *workspace, c bench.Chain, far bool) (*kernel, error) {
			return reduceCols[S, T](ws, c, r, far)
		})
	}
}

func reduceCols[S inMemory, T float](ws *workspace, c bench.Chain, r bench.Reduction, far bool) (*kernel, error) {
	x, err := newColReduction[S, T](ws, data[S](ws, c[0].In[0]), widthOf(c[0].In[0]), r, far)
	if err != nil {
		return nil, err
	}
	dst := data[S](ws, c.Output())
	return elementwise(ws, nameOf(ws, c), func(w *worker) {
		x.reduce(w)
		if x.byRows {
			w.barrier()
		}
		x.end(w, dst)
	}), nil
}

// colReduction is that of the matrix src with rows of n elements.
type colReduction[S inMemory, T float] struct {
	src     []S
	n       int
	byRows  bool
	parts   []span // of each worker: its rows or its columns
	columns []span // of each worker: of the result
	partial [][]T  // by rows, of each worker; else the first is all workers'
	down    func(dst []T, src []S, m int)
	stored  *storedKernels[S, T]
	set     mapKernel[T, T]
	join    mapKernel[T, T]
	scale   mapKernel[T, T]
	empty   T
	factor  T // of the result
}

func newColReduction[S inMemory, T float](ws *workspace, src []S, n int, r bench.Reduction, far bool) (*colReduction[S, T], error) {
	partial, err := blocksOf[T](ws, n)
	if err != nil {
		return nil, err
	}
	k, stored := vecKernelsFor[T](ws.isa), storedKernelsFor[S, T](ws)
	x := &colReduction[S, T]{
		src: src, n: n, columns: partsOf(ws, n, lineElems),
		partial: partial, stored: stored, set: k.set, join: k.add, scale: k.scale, factor: 1,
	}
	size := int(unsafe.Sizeof(S(0)))
	rowBytes := n * size
	piecewise := rowBytes >= len(ws.workers)*groupCols || !ws.beyondL2(len(src)*size) && n >= len(ws.workers)*lineElems
	x.byRows, x.parts = far || !piecewise, x.columns
	if x.byRows {
		x.parts = partsOf(ws, len(src)/n, 1)
	}
	down, inOrder := stored.colSum, stored.addFar
	switch r {
	case bench.ReduceMax:
		down, inOrder = stored.colMax, stored.maxFar
		x.join, x.empty = k.max, T(math.Inf(-1))
	case bench.ReduceMean:
		x.factor = T(1 / float64(len(src)/n))
	}
	x.down = func(dst []T, src []S, m int) { inOrder.matrix(dst, 0, dst, 0, src, n, m, len(dst), 0, 0) }
	if rowBytes <= shortRow || !far {
		rows, cols := max(groupRows, shortRows/rowBytes), groupCols/size
		x.down = func(dst []T, src []S, m int) {
			for j := 0; j < len(dst); j += cols {
				for i := 0; i < m; i += rows {
					down(&dst[j], &src[i*n+j], n, min(rows, m-i), min(cols, len(dst)-j))
				}
			}
		}
	}
	return x, nil
}

// reduce takes the worker's part to one row.
func (x *colReduction[S, T]) reduce(w *worker) {
	to, src, p := x.partial[w.id], x.src, x.parts[w.id]
	if x.byRows {
		src = src[p.lo*x.n : p.hi*x.n]
	} else {
		to, src = x.partial[0][p.lo:p.hi], src[p.lo:]
	}
	x.set.slice(to, to, nil, 0, x.empty)
	x.down(to, src, ceilDiv(len(src), x.n))
}

// end joins the worker's columns of all rows, in those of the first partial result, which nobody else reads.
func (x *colReduction[S, T]) end(w *worker, dst []S) {
	p := x.columns[w.id]
	x.stored.results(dst[p.lo:p.hi], x.partial[0][p.lo:p.hi], func(to []T) {
		copy(to, x.partial[0][p.lo:p.hi])
		if x.byRows {
			for _, from := range x.partial[1:] {
				x.join.slice(to, to, from[p.lo:p.hi], 0, 0)
			}
		}
		if x.factor != 1 {
			x.scale.slice(to, to, nil, x.factor, 0)
		}
	})
}

func bindMSE[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	return nearOrFar(ws, c, meanSquare[S, T])
}

func meanSquare[S inMemory, T float](ws *workspace, c bench.Chain, far bool) (*kernel, error) {
	k := storedKernelsFor[S, T](ws)
	x, target, dst := data[S](ws, c[0].In[0]), data[S](ws, c[0].In[1]), data[S](ws, c.Output())
	room := make([]T, 1)
	return meanOf(ws, c, func(p span) float64 {
		sum := 0.0
		inCalls(p.hi-p.lo, func(lo, hi int) {
			sum += float64(k.rowDistance(&x[p.lo+lo], &target[p.lo+lo], hi-lo, far))
		})
		return sum
	}, func(mean float64) {
		k.results(dst, room, func(to []T) { to[0] = T(mean) })
	})
}

// meanOf divides what sum makes of the workers' elements of the input, added up in float64,
// by their number.
func meanOf(ws *workspace, c bench.Chain, sum func(p span) float64, store func(mean float64)) (*kernel, error) {
	n := int(c[0].In[0].Elems())
	sums, err := blocksOf[float64](ws, 1)
	if err != nil {
		return nil, err
	}
	parts := partsOf(ws, n, lineElems)
	return elementwise(ws, nameOf(ws, c), func(w *worker) {
		sums[w.id][0] = sum(parts[w.id])
		w.barrier()
		if w.id == 0 {
			all := 0.0
			for _, s := range sums {
				all += s[0]
			}
			store(all / float64(n))
		}
	}), nil
}

// bindCrossEntropy writes ln(sum of e^x) - x[label] of each row.
func bindCrossEntropy[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	k, logs := storedKernelsFor[S, T](ws), vecKernelsFor[T](ws.isa).log
	x, labels := data[S](ws, c[0].In[0]), as[int32](ws.bytes(c[0].In[1]))
	rooms, err := blocksOf[T](ws, 3*resultRows)
	if err != nil {
		return nil, err
	}
	return eachResult(ws, c, k, func(w *worker, to []T, first, m, n int) {
		room := rooms[w.id]
		maxima, picked, stored := room[:m], room[resultRows:][:m], as[S](asBytes(room[2*resultRows:]))[:m]
		k.rowExpSums(&to[0], &maxima[0], &x[first*n], n, m, n)
		for i := range stored {
			stored[i] = x[(first+i)*n+int(labels[first+i])]
		}
		k.taken(picked, stored)
		logs.slice(to, to, nil, 0, 0)
		for i := range to {
			to[i] += maxima[i] - picked[i]
		}
	})
}
