package cpu

import (
	"math"
	"unsafe"
)

// normBlock works on n elements of two rows. Of one, at src, it writes the results
// dst[j] = (src[j] - mean) scale gamma[j] + beta[j], past the caches or not; of another, at next, it returns the sums of
// x - shift and of the squares of that. Without src or next, which may be nil, it does the other alone. The norm of a sum
// has src[j] + y[j] in the place of src[j], and next[j] + nextY[j]; others read no y.
type normBlock[S inMemory, T float] func(dst, src, y, next, nextY *S, gamma, beta *T, n int, mean, scale, shift T) (sum, squares T)

// longNorm normalises rows of which L1 cannot hold two, and the weights. Row by row the weights would come from L2 each
// time. Loads from memory occupy most of the few misses that L1 can have outstanding, so that few should come from L2 beside
// them: with rows of 4096 a Zen 5 ran layer norm at 30 GB/s row by row, and runs it at 45 in groups.
type longNorm[S inMemory, T float] struct {
	block       normBlock[S, T]
	samples     func(dst *T, src *S, lds, m, n int) // sums of the first elements of rows
	gamma, beta []T                                 // without beta the mean counts as 0
	eps         T
	group       int // rows that are normalised together; half as many of a sum
}

const (
	// longRows is the number of rows in a group past the caches, longBlock the bytes of each that are worked
	// on in turn.
	longRows  = 16
	longBlock = 4096
	// longSample is the number of elements whose mean is the shift of a row.
	longSample = 64
)

// newLongNorm is nil if rows stay in L1, or if there is no kernel for those that do not.
func newLongNorm[S inMemory, T float](caches cacheSizes, block normBlock[S, T], samples func(dst *T, src *S, lds, m, n int), gamma, beta []T, eps T) *longNorm[S, T] {
	l := &longNorm[S, T]{block, samples, gamma, beta, eps, longRows}
	if block == nil || l.bytes() < orElse(caches.L1, typicalCaches.L1) {
		return nil
	}
	return l
}

// newNearNorm is newLongNorm for results that stay in the caches: groups have half as many rows, which have to exceed L1 by
// half, else it is nil. A Zen 4 runs layer norm of fp32 with rows of 4096 in L3 at .56 of the bandwidth of copy so, and at
// .44 row by row. Halves, sums and the root mean square gain nothing.
func newNearNorm[S inMemory, T float](caches cacheSizes, block normBlock[S, T], samples func(dst *T, src *S, lds, m, n int), gamma, beta []T, eps T) *longNorm[S, T] {
	l := newLongNorm(caches, block, samples, gamma, beta, eps)
	if l == nil || 2*l.bytes() < 3*orElse(caches.L1, typicalCaches.L1) {
		return nil
	}
	l.group = longRows / 2
	return l
}

// bytes are those of two rows and the weights.
func (l *longNorm[S, T]) bytes() int {
	return 2*len(l.gamma)*int(unsafe.Sizeof(S(0))) + (len(l.gamma)+len(l.beta))*int(unsafe.Sizeof(l.eps))
}

// takes tells whether there are such rows, to be stored past the caches, for which each has to begin a line.
func (l *longNorm[S, T]) takes(dst []S, nt nontemporal) bool {
	return l != nil && nt != cached && (uintptr(unsafe.Pointer(&dst[0]))|uintptr(len(l.gamma))*unsafe.Sizeof(dst[0]))%64 == 0
}

// rowMoments are the sums of a row, and what follows from them: see norms in asm/vec.
type rowMoments[T float] struct{ shift, sum, squares, mean, scale T }

func (m *rowMoments[T]) add(sum, squares T) {
	m.sum += sum
	m.squares += squares
}

func (m *rowMoments[T]) finish(n int, eps T) {
	mean := m.sum / T(n)
	variance := max(0, m.squares-m.sum*mean) / T(n)
	m.mean, m.scale = m.shift+mean, 1/T(math.Sqrt(float64(variance+eps)))
}

// rows normalises src, or src + y, in groups of rows. While it writes the results of a group, one block of all its rows
// after the other so that the weights of the block stay in L1, it sums up the next group, in the order of memory.
func (l *longNorm[S, T]) rows(dst, src, y []S) {
	n, group := len(l.gamma), l.group
	if y != nil {
		group /= 2
	}
	rows, width := len(src)/n, longBlock/int(unsafe.Sizeof(S(0)))
	blocks := (n + width - 1) / width
	of := func(x []S, at int) *S {
		if x == nil {
			return nil
		}
		return &x[at]
	}
	var known, taken [longRows]rowMoments[T]
	for first := 0; first < rows+group; first += group {
		taken = l.begin(group, from(src, first*n), from(y, first*n))
		for step := range group * blocks {
			take, write := &taken[step/blocks], &known[step%group]
			at, behind := step%blocks*width, step/group*width
			var to, row, rowY, next, nextY *S
			var summands *T
			if i := first + step/blocks; i < rows {
				next, nextY = &src[i*n+at], of(y, i*n+at)
			}
			if i := first - group + step%group; 0 <= i && i < rows {
				to, row, rowY = &dst[i*n+behind], &src[i*n+behind], of(y, i*n+behind)
			}
			if l.beta != nil {
				summands = &l.beta[behind]
			}
			m, others := min(width, n-at), min(width, n-behind)
			if next != nil && (row == nil || m != others) {
				take.add(l.block(nil, nil, nil, next, nextY, nil, nil, m, 0, 0, take.shift))
				next = nil
			}
			if row != nil {
				take.add(l.block(to, row, rowY, next, nextY, &l.gamma[behind], summands, others, write.mean, write.scale, take.shift))
			}
		}
		for r := range taken {
			taken[r].finish(n, l.eps)
		}
		known = taken
	}
}

// from is what is left of elements that begin before at, or nothing.
func from[S any](x []S, at int) []S { return x[min(at, len(x)):] }

// begin determines the shifts of a group, which are the first rows of src.
func (l *longNorm[S, T]) begin(group int, src, y []S) (moments [longRows]rowMoments[T]) {
	n := len(l.gamma)
	if l.beta == nil || len(src) == 0 {
		return moments
	}
	for _, x := range [][]S{src, y} {
		if x == nil {
			continue
		}
		var sums [longRows]T
		l.samples(&sums[0], &x[0], n, min(group, len(x)/n), longSample)
		for r, sum := range sums {
			moments[r].shift += sum / longSample
		}
	}
	return moments
}
