package cpu

import (
	"unsafe"

	"hwcal/bench"
)

// layerNorm normalises rows: each deviation from the mean is divided by the root of the
// variance, multiplied by gamma and added to beta.
type layerNorm[S inMemory, T float] struct {
	*storedKernels[S, T]
	gamma, beta []T
	eps         T
	overlap     bool // see rowsOverlap
	long, near  *longNorm[S, T]
	longSum     *longNorm[S, T] // of sums
}

func newLayerNorm[S inMemory, T float](ws *workspace, op bench.Op) *layerNorm[S, T] {
	l := &layerNorm[S, T]{
		storedKernels: storedKernelsFor[S, T](ws),
		gamma:         data[T](ws, op.In[1]), beta: data[T](ws, op.In[2]), eps: T(op.Params.(bench.LayerNormParams).Eps),
	}
	l.overlap = rowsOverlap[S](ws, l.gamma, l.beta)
	l.long = newLongNorm(ws.caches, l.layerBlock, l.rowSums, l.gamma, l.beta, l.eps)
	l.near = newNearNorm(ws.caches, l.layerNearBlock, l.rowSums, l.gamma, l.beta, l.eps)
	l.longSum = newLongNorm(ws.caches, l.addLayerBlock, l.rowSums, l.gamma, l.beta, l.eps)
	return l
}

// rows writes the norms of the rows that src holds; dst may be src. With nt they are stored
// past the caches.
func (l *layerNorm[S, T]) rows(dst, src []S, nt nontemporal) {
	n := len(l.gamma)
	if nt == cached && l.near != nil {
		l.near.rows(dst, src, nil)
		return
	}
	if l.long.takes(dst, nt) {
		l.long.rows(dst, src, nil)
		return
	}
	eachRows(len(src)/n, n, l.overlap, nt, func(i, m int) {
		to, from := dst[i*n:][:m*n], src[i*n:][:m*n]
		l.layerNorm(&to[0], &from[0], &l.gamma[0], &l.beta[0], n, n, m, n, l.eps, nt)
	})
}

// ofSum writes the norms of the rows of src + y, for which halves, and nt, need room for two rows.
func (l *layerNorm[S, T]) ofSum(room *T, dst, src, y []S, nt nontemporal) {
	n := len(l.gamma)
	if l.longSum.takes(dst, nt) {
		l.longSum.rows(dst, src, y)
		return
	}
	eachRows(len(src)/n, n, l.overlap, nt, func(i, m int) {
		to, from, with := dst[i*n:][:m*n], src[i*n:][:m*n], y[i*n:][:m*n]
		l.addLayerNorm(&to[0], &from[0], &with[0], &l.gamma[0], &l.beta[0], room, n, n, n, m, n, l.eps, nt)
	})
}

// rmsNorm divides rows by the root of their mean square and multiplies them by gamma.
type rmsNorm[S inMemory, T float] struct {
	*storedKernels[S, T]
	gamma   []T
	eps     T
	overlap bool // see rowsOverlap
	long    *longNorm[S, T]
}

func newRMSNorm[S inMemory, T float](ws *workspace, op bench.Op) *rmsNorm[S, T] {
	r := &rmsNorm[S, T]{
		storedKernels: storedKernelsFor[S, T](ws), gamma: data[T](ws, op.In[1]), eps: T(op.Params.(bench.RMSNormParams).Eps),
	}
	r.overlap = rowsOverlap[S](ws, r.gamma, nil)
	r.long = newLongNorm(ws.caches, r.rmsBlock, r.rowSums, r.gamma, nil, r.eps)
	return r
}

// rows writes the norms of the rows that src holds; dst may be src. With nt they are stored
// past the caches.
func (r *rmsNorm[S, T]) rows(dst, src []S, nt nontemporal) {
	n := len(r.gamma)
	if r.long.takes(dst, nt) {
		r.long.rows(dst, src, nil)
		return
	}
	eachRows(len(src)/n, n, r.overlap, nt, func(i, m int) {
		to, from := dst[i*n:][:m*n], src[i*n:][:m*n]
		r.rmsNorm(&to[0], &from[0], &r.gamma[0], n, n, m, n, r.eps, nt)
	})
}

// rowsOverlap says whether kernels are to sum up the next row while they write one. With AVX-512, unless halves are
// converted, L1 is the bottleneck: it pays only if both rows, the result and the weights fit into 15/16 of it. A Zen 4 runs
// layer norm of fp32 in L2 at .47 of the bandwidth of copy with rows of 2048 that overlap, and at .57 without; with rows of
// 1024 at .78 and .66.
func rowsOverlap[S inMemory, T float](ws *workspace, gamma, beta []T) bool {
	stored, computed := int(unsafe.Sizeof(S(0))), int(unsafe.Sizeof(T(0)))
	if ws.isa != AVX512 || stored < computed {
		return true
	}
	l1 := orElse(ws.caches.L1, typicalCaches.L1)
	return 3*len(gamma)*stored+(len(gamma)+len(beta))*computed <= l1-l1/16
}

// eachRows calls f for m rows of n elements from row i on: for as many as one call may take, or for one if rows are not to
// overlap. Stored past the caches they always do: the next row is prefetched to L2, and the result takes no room in L1.
func eachRows(rows, n int, overlap bool, nt nontemporal, f func(i, m int)) {
	most := 1
	if overlap || nt != cached {
		most = max(1, rowsCall/n)
	}
	for i := 0; i < rows; i += most {
		f(i, min(most, rows-i))
	}
}
