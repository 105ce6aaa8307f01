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

// bindReduceRows takes rows, or planes of an image, to one number each.
func bindReduceRows[T float](r bench.Reduction) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		src, dst := data[T](ws, c[0].In[0]), data[T](ws, c.Output())
		n, parts := len(src)/len(dst), partsOf(ws, len(dst), 1)
		reduce := rowReduction[T](ws.isa, r, n)
		return elementwise(ws, c.String(), func(w *worker) {
			if p := parts[w.id]; p.lo < p.hi {
				reduce(dst[p.lo:p.hi], src[p.lo*n:p.hi*n])
			}
		}), nil
	}
}

// rowReduction takes rows of n elements to one of dst each.
func rowReduction[T float](isa ISA, r bench.Reduction, n int) func(dst, rows []T) {
	k := vecKernelsFor[T](isa)
	reduce := k.rowSums
	if r == bench.ReduceMax {
		reduce = k.rowMaxes
	}
	return func(dst, rows []T) {
		eachRows(len(dst), n, func(i, m int) { reduce(&dst[i], &rows[i*n], n, m, n) })
		if r == bench.ReduceMean {
			k.scale.slice(dst, dst, nil, T(1/float64(n)), 0)
		}
	}
}

// shortRow is the number of bytes up to which rows are reduced a few columns at a time,
// all rows of a block of shortRows bytes, with the results in registers. Wider rows are
// added to the results one after the other: memory is then read in order.
const (
	shortRow  = 512
	shortRows = 16 << 10
)

// bindReduceCols lets each worker reduce its rows to one, and then its columns of those. What comes from memory
// is paced, and what comes from L3 is not: it is tried which that is, as storing does.
func bindReduceCols[T float](r bench.Reduction) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		near, err := reduceCols[T](ws, c, r, false)
		if err != nil || !canPace(ws.isa) || !ws.beyondL2(int(c[0].In[0].Bytes(ws.dtype))) {
			return near, err
		}
		far, err := reduceCols[T](ws, c, r, true)
		if err != nil {
			return nil, err
		}
		far.name += "_paced"
		return tried(ws, c, far, near), nil
	}
}

func reduceCols[T float](ws *workspace, c bench.Chain, r bench.Reduction, far bool) (*kernel, error) {
	src, dst := data[T](ws, c[0].In[0]), data[T](ws, c.Output())
	n := widthOf(c[0].In[0])
	reduction, err := newColReduction[T](ws, r, len(src)/n, n, far)
	if err != nil {
		return nil, err
	}
	parts := partsOf(ws, len(src)/n, 1)
	return elementwise(ws, c.String(), func(w *worker) {
		p := parts[w.id]
		reduction.begin(w)
		reduction.take(w, src[p.lo*n:p.hi*n])
		w.barrier()
		columns := reduction.columns[w.id]
		reduction.end(columns, dst[columns.lo:columns.hi])
	}), nil
}

// colReduction is that of a matrix of m rows of n elements, which come from memory if they are far.
type colReduction[T float] struct {
	partial [][]T  // of each worker
	columns []span // of each worker
	down    func(dst, rows []T)
	set     mapKernel[T]
	join    mapKernel[T]
	scale   mapKernel[T]
	empty   T
	factor  T // of the result
}

func newColReduction[T float](ws *workspace, r bench.Reduction, m, n int, far bool) (*colReduction[T], error) {
	partial, err := blocksOf[T](ws, n)
	if err != nil {
		return nil, err
	}
	k := vecKernelsFor[T](ws.isa)
	x := &colReduction[T]{
		partial: partial, columns: partsOf(ws, n, lineElems),
		set: k.set, join: k.add, scale: k.scale, factor: 1,
	}
	down, addRows := k.colSum, k.addFar
	switch r {
	case bench.ReduceMax:
		down, addRows, x.join, x.empty = k.colMax, k.maxFar, k.max, T(math.Inf(-1))
	case bench.ReduceMean:
		x.factor = T(1 / float64(m))
	}
	if !far {
		addRows = x.join
	}
	x.down = func(dst, rows []T) { addRows.matrix(dst, 0, dst, 0, rows, n, len(rows)/n, n, 0, 0) }
	if rowBytes := n * int(unsafe.Sizeof(x.empty)); rowBytes <= shortRow {
		most := shortRows / rowBytes
		x.down = func(dst, rows []T) {
			for m := len(rows) / n; m > 0; m -= most {
				down(&dst[0], &rows[0], n, min(most, m), n)
				rows = rows[min(most, m)*n:]
			}
		}
	}
	return x, nil
}

// begin forgets what a worker reduced before.
func (x *colReduction[T]) begin(w *worker) {
	mine := x.partial[w.id]
	x.set.slice(mine, mine, nil, 0, x.empty)
}

// take reduces more rows to the worker's own.
func (x *colReduction[T]) take(w *worker, rows []T) { x.down(x.partial[w.id], rows) }

// end joins columns of all workers' rows.
func (x *colReduction[T]) end(p span, to []T) {
	copy(to, x.partial[0][p.lo:p.hi])
	for _, from := range x.partial[1:] {
		x.join.slice(to, to, from[p.lo:p.hi], 0, 0)
	}
	if x.factor != 1 {
		x.scale.slice(to, to, nil, x.factor, 0)
	}
}

func bindMSE[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	k := vecKernelsFor[T](ws.isa)
	x, target, dst := data[T](ws, c[0].In[0]), data[T](ws, c[0].In[1]), data[T](ws, c.Output())
	return meanOf(ws, c, c.String(), func(_ *worker, p span) float64 {
		sum := 0.0
		inCalls(p.hi-p.lo, func(lo, hi int) {
			sum += float64(k.rowDistance(&x[p.lo+lo], &target[p.lo+lo], hi-lo))
		})
		return sum
	}, func(mean float64) { dst[0] = T(mean) })
}

// meanOf divides what sum makes of the workers' elements of the input, added up in float64,
// by their number.
func meanOf(ws *workspace, c bench.Chain, name string, sum func(w *worker, p span) float64, store func(mean float64)) (*kernel, error) {
	n := int(c[0].In[0].Elems())
	sums, err := blocksOf[float64](ws, 1)
	if err != nil {
		return nil, err
	}
	parts := partsOf(ws, n, lineElems)
	return elementwise(ws, name, func(w *worker) {
		sums[w.id][0] = sum(w, parts[w.id])
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

// lossRows is the number of rows whose maxima are kept until their logarithms are taken.
const lossRows = 256

func bindCrossEntropy[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	x, labels, dst := data[T](ws, c[0].In[0]), as[int32](ws.bytes(c[0].In[1])), data[T](ws, c.Output())
	n := widthOf(c[0].In[0])
	rooms, err := blocksOf[T](ws, lossRows)
	if err != nil {
		return nil, err
	}
	k := vecKernelsFor[T](ws.isa)
	parts := partsOf(ws, len(dst), 1)
	return elementwise(ws, c.String(), func(w *worker) {
		p := parts[w.id]
		k.losses(dst[p.lo:p.hi], x[p.lo*n:p.hi*n], labels[p.lo:p.hi], rooms[w.id])
	}), nil
}

// losses writes the cross entropy of each row; the maxima have room for some rows.
func (k *vecKernels[T]) losses(dst, x []T, labels []int32, largest []T) {
	if len(dst) == 0 {
		return
	}
	n := len(x) / len(dst)
	most := min(len(largest), max(1, vecCall/n))
	for lo := 0; lo < len(dst); lo += most {
		m := min(most, len(dst)-lo)
		rows := x[lo*n:][:m*n]
		k.rowExpSums(&dst[lo:][:m][0], &largest[0], &rows[0], n, m, n)
		for i := range m {
			picked := rows[i*n+int(labels[lo+i])]
			dst[lo+i] = T(math.Log(float64(dst[lo+i])) + float64(largest[i]) - float64(picked))
		}
	}
}
