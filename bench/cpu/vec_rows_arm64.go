package cpu

import (
	"math"
	"unsafe"
)

// neonRows are the kernels of one row of n > 0 elements.
type neonRows[T float] struct {
	sum, largest func(src *T, n int) T
	distance     func(src, y *T, n int) T
	// deviations are the sums of x - c and of (x - c)^2.
	deviations func(src *T, n int, c T) (sum, squares T)
	// exps writes 2^(scale (x - largest)), which must not be beyond 1 but for rounding, and returns the
	// sum; expSum is that alone.
	exps   func(dst, src *T, n int, scale, largest T) T
	expSum func(src *T, n int, scale, largest T) T
	// normalize writes (x - mean) scale gamma[j] + beta[j], scaleMul x scale gamma[j].
	normalize func(dst, src, gamma, beta *T, n int, mean, scale T)
	scaleMul  func(dst, src, gamma *T, n int, scale T)
}

// addTo replaces what is done to rows and columns in a table that has maps already. A row passes several kernels
// while it is in L1.
func (r neonRows[T]) addTo(k *vecKernels[T]) {
	add, larger, scaled := k.add, k.max, k.scale
	// A map whose rows all meet the same results.
	k.colSum = func(dst, src *T, ld, m, n int) { add(dst, dst, src, 0, 0, ld, m, n, 0, 0, cached) }
	k.colMax = func(dst, src *T, ld, m, n int) { larger(dst, dst, src, 0, 0, ld, m, n, 0, 0, cached) }
	k.rowDistance = func(src, y *T, n int, _ bool) T { return r.distance(src, y, n) }
	k.rowSums = func(dst, src *T, lds, m, n int) {
		for i := range m {
			*at(dst, i) = r.sum(at(src, i*lds), n)
		}
	}
	k.rowMaxes = func(dst, src *T, lds, m, n int) {
		for i := range m {
			*at(dst, i) = r.largest(at(src, i*lds), n)
		}
	}
	k.rowExpSums = func(sums, largest, src *T, lds, m, n int) {
		for i := range m {
			row := at(src, i*lds)
			most := r.largest(row, n)
			*at(largest, i), *at(sums, i) = most, r.expSum(row, n, math.Log2E, most)
		}
	}
	k.softmaxRows = func(dst, src, y, _ *T, ldd, lds, ldy, m, n int, scale T, _ nontemporal) {
		for i := range m {
			to, from := at(dst, i*ldd), at(src, i*lds)
			if y != nil {
				add(to, from, at(y, i*ldy), n, n, n, 1, n, 0, 0, cached)
				from = to
			}
			sum := r.exps(to, from, n, scale*math.Log2E, r.largest(from, n))
			scaled(to, to, nil, n, n, n, 1, n, 1/sum, 0, cached)
		}
	}
	k.layerNorm = func(dst, src, gamma, beta *T, ldd, lds, m, n int, eps T, _ nontemporal) {
		for i := range m {
			r.layerNorm(at(dst, i*ldd), at(src, i*lds), gamma, beta, n, eps)
		}
	}
	k.addLayerNorm = func(dst, src, y, gamma, beta, _ *T, ldd, lds, ldy, m, n int, eps T, _ nontemporal) {
		for i := range m {
			to := at(dst, i*ldd)
			add(to, at(src, i*lds), at(y, i*ldy), n, n, n, 1, n, 0, 0, cached)
			r.layerNorm(to, to, gamma, beta, n, eps)
		}
	}
	k.rmsNorm = func(dst, src, gamma *T, ldd, lds, m, n int, eps T, _ nontemporal) {
		for i := range m {
			from := at(src, i*lds)
			_, squares := r.deviations(from, n, 0)
			r.scaleMul(at(dst, i*ldd), from, gamma, n, inverseRoot(squares/T(n)+eps))
		}
	}
}

// layerNorm shifts its sums by the mean of the first elements, as those of amd64 do: see norms in
// asm/vec/norms.go. As many as there are partial results add up to an exact multiple of equal ones.
func (r neonRows[T]) layerNorm(dst, src, gamma, beta *T, n int, eps T) {
	first := min(n, 64/int(unsafe.Sizeof(T(0))))
	c := r.sum(src, first) / T(first)
	sum, squares := r.deviations(src, n, c)
	off := sum / T(n)
	variance := max(squares-off*sum, 0) / T(n)
	r.normalize(dst, src, gamma, beta, n, c+off, inverseRoot(variance+eps))
}

func inverseRoot[T float](x T) T { return T(1 / math.Sqrt(float64(x))) }
