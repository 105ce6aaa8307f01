package cpu

import (
	"math"
	"slices"
	"unsafe"
)

// The twins of what is done to whole rows or columns.

func softmaxRowsPortable[T float](dst, src, y, _ *T, ldd, lds, ldy, m, n int, scale T, _ nontemporal) {
	tos, froms := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n)
	for i := range m {
		to, from := tos[i*ldd:][:n], froms[i*lds:][:n]
		if y != nil {
			addRow(to, from, unsafe.Slice(y, (m-1)*ldy+n)[i*ldy:][:n], 0, 0)
			from = to
		}
		largest, sum := T(math.Inf(-1)), T(0)
		for _, x := range from {
			if x > largest {
				largest = x
			}
		}
		for j, x := range from {
			to[j] = T(math.Exp(float64(x*scale - largest*scale)))
			sum += to[j]
		}
		for j := range to {
			to[j] /= sum
		}
	}
}

func affineRowsPortable[T float](dst, src, a, b *T, ldd, lds, m, n int, _ nontemporal) {
	to, from := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n)
	factors, summands := unsafe.Slice(a, m), unsafe.Slice(b, m)
	for i := range m {
		affineRow(to[i*ldd:i*ldd+n], from[i*lds:i*lds+n], nil, factors[i], summands[i])
	}
}

func rowDistancePortable[T float](src, y *T, n int, _ bool) T {
	var sum T
	with := unsafe.Slice(y, n)
	for j, x := range unsafe.Slice(src, n) {
		sum += (x - with[j]) * (x - with[j])
	}
	return sum
}

func dropoutPortable[T float](dst, src *T, n int, scale T, least, at uint32, _ nontemporal) {
	to := unsafe.Slice(dst, n)
	for j, x := range unsafe.Slice(src, n) {
		at += weyl
		if mix(at) >= least {
			to[j] = scale * x
		} else {
			to[j] = 0
		}
	}
}

func colMaxPortable[T float](dst, src *T, ld, m, n int) {
	largest, from := unsafe.Slice(dst, n), unsafe.Slice(src, (m-1)*ld+n)
	for i := range m {
		for j, x := range from[i*ld : i*ld+n] {
			if x > largest[j] {
				largest[j] = x
			}
		}
	}
}

func colSumPortable[T float](dst, src *T, ld, m, n int) {
	sums, from := unsafe.Slice(dst, n), unsafe.Slice(src, (m-1)*ld+n)
	for i := range m {
		for j, x := range from[i*ld : i*ld+n] {
			sums[j] += x
		}
	}
}

func colExpSumPortable[T float](dst, src, shift, sum *T, ld, m, n int, scale T) {
	to, from := unsafe.Slice(dst, (m-1)*ld+n), unsafe.Slice(src, (m-1)*ld+n)
	shifts, sums := unsafe.Slice(shift, n), unsafe.Slice(sum, n)
	for i := range m {
		for j, x := range from[i*ld : i*ld+n] {
			p := T(math.Exp(float64(x*scale + shifts[j])))
			to[i*ld+j] = p
			sums[j] += p
		}
	}
}

func dotsPortable[T float](m, n, d int, q *T, ldq int, k *T, ldk int, s *T, row, step, _ int, _ bool) {
	qs, ks := unsafe.Slice(q, (m-1)*ldq+d), unsafe.Slice(k, (n-1)*ldk+d)
	to := unsafe.Slice(s, (m-1)*row+(n/4-1)*step+4)
	for j := range n {
		key := ks[j*ldk:][:d]
		for i := range m {
			var sum T
			for p, x := range qs[i*ldq:][:d] {
				sum += x * key[p]
			}
			to[i*row+j/4*step+j%4] = sum
		}
	}
}

func copyColumnsPortable[T float](dst, src *T, lds, m, n int) {
	to, from := unsafe.Slice(dst, m*n), unsafe.Slice(src, (m-1)*lds+n)
	for i := range m {
		copy(to[i*n:][:n], from[i*lds:])
	}
}

func gatherRowsPortable[T float](dst, src *T, index *int32, ldd, lds, m, n, _ int, _ nontemporal) {
	to := unsafe.Slice(dst, (m-1)*ldd+n)
	for i, row := range unsafe.Slice(index, m) {
		copy(to[i*ldd:][:n], unsafe.Slice(src, int(row)*lds+n)[int(row)*lds:])
	}
}

func transposeSquaresPortable[T inMemory](dst, src, _ *T, ldd, lds, m, n int, _ nontemporal) {
	to, from := unsafe.Slice(dst, (n-1)*ldd+m), unsafe.Slice(src, (m-1)*lds+n)
	for i := range m {
		for j, x := range from[i*lds:][:n] {
			to[j*ldd+i] = x
		}
	}
}

// rowOf is n elements of row i.
func rowOf[T float](p *T, i, ld, n int) []T { return unsafe.Slice(p, i*ld+n)[i*ld:] }

func sumOf[T float](row []T) T {
	var sum T
	for _, x := range row {
		sum += x
	}
	return sum
}

func rowSumsPortable[T float](dst, src *T, lds, m, n int) {
	for i := range m {
		unsafe.Slice(dst, m)[i] = sumOf(rowOf(src, i, lds, n))
	}
}

func rowMaxesPortable[T float](dst, src *T, lds, m, n int) {
	for i := range m {
		unsafe.Slice(dst, m)[i] = slices.Max(rowOf(src, i, lds, n))
	}
}

func rowExpSumsPortable[T float](sums, largest, src *T, lds, m, n int) {
	rowMaxesPortable(largest, src, lds, m, n)
	for i, most := range unsafe.Slice(largest, m) {
		var sum T
		for _, x := range rowOf(src, i, lds, n) {
			sum += T(math.Exp(float64(x - most)))
		}
		unsafe.Slice(sums, m)[i] = sum
	}
}

func layerNormPortable[T float](dst, src, gamma, beta *T, ldd, lds, m, n int, eps T, _ nontemporal) {
	factors, summands := unsafe.Slice(gamma, n), unsafe.Slice(beta, n)
	for i := range m {
		to, from := rowOf(dst, i, ldd, n), rowOf(src, i, lds, n)
		mean := sumOf(from) / T(n)
		// The mean is off by the rounding of a long sum, which the sum of what is left tells.
		var off, squares T
		for _, x := range from {
			off += x - mean
			squares += (x - mean) * (x - mean)
		}
		variance := max(squares-off*off/T(n), 0) / T(n)
		mean += off / T(n)
		scale := T(1 / math.Sqrt(float64(variance+eps)))
		for j, x := range from {
			to[j] = (x-mean)*scale*factors[j] + summands[j]
		}
	}
}

func addLayerNormPortable[T float](dst, src, y, gamma, beta, _ *T, ldd, lds, ldy, m, n int, eps T, _ nontemporal) {
	for i := range m {
		to := rowOf(dst, i, ldd, n)
		addRow(to, rowOf(src, i, lds, n), rowOf(y, i, ldy, n), 0, 0)
		layerNormPortable(&to[0], &to[0], gamma, beta, n, n, 1, n, eps, cached)
	}
}

func rmsNormPortable[T float](dst, src, gamma *T, ldd, lds, m, n int, eps T, _ nontemporal) {
	factors := unsafe.Slice(gamma, n)
	for i := range m {
		to, from := rowOf(dst, i, ldd, n), rowOf(src, i, lds, n)
		var squares T
		for _, x := range from {
			squares += x * x
		}
		scale := T(1 / math.Sqrt(float64(squares/T(n)+eps)))
		for j, x := range from {
			to[j] = x * scale * factors[j]
		}
	}
}

// maxTapsByRows raises all rows to one tap after the other.
func maxTapsByRows[T float](copyRows, maxRows mapKernel[T, T]) func(dst, src *T, ldd, lds, m, n int, offsets *int, taps int) {
	return func(dst, src *T, ldd, lds, m, n int, offsets *int, taps int) {
		for t, tap := range unsafe.Slice(offsets, taps) {
			if t == 0 {
				copyRows(dst, at(src, tap), nil, ldd, lds, 0, m, n, 0, 0, cached)
				continue
			}
			maxRows(dst, dst, at(src, tap), ldd, ldd, lds, m, n, 0, 0, cached)
		}
	}
}
