package cpu

import "unsafe"

// mapKernel is an element-wise operation on an m x n matrix,
//
//	dst[i*ldd+j] = f(src[i*lds+j], row[j], a, b)
//
// where f uses what it needs of row, a and b. dst may be src. m and n are
// positive. The methods take slices, of any length, and bound the time of one
// call, which the collector cannot interrupt.
type mapKernel[T float] func(dst, src, row *T, ldd, lds, m, n int, a, b T)

// vecKernels are the element-wise kernels and the reductions of one element type
// for one instruction set.
//
// The errors of the assembly are the largest found in units in the last place (fp32:
// every 101st of all arguments, against float64; fp64: 60000 random ones, against
// 200 bits). u is 2^-24 or 2^-53. NaN gives NaN, and the limits at infinity are
// exact. exp underflows gradually.
type vecKernels[T float] struct {
	exp           mapKernel[T] // e^x; 0.92 ulp fp32, 0.86 ulp fp64
	erf           mapKernel[T] // erf(x); 2.6 ulp fp32, 2.7 ulp fp64
	tanh          mapKernel[T] // tanh(x); 2.5 ulp fp32, 2.5 ulp fp64
	relu          mapKernel[T] // max(x, 0), NaN for NaN
	gelu          mapKernel[T] // x/2 (1 + erf(x/sqrt 2)); 1.2 u|x| fp32, 2.2 u|x| fp64
	scale         mapKernel[T] // a x
	addScalar     mapKernel[T] // x + b
	addScalarRelu mapKernel[T] // max(x + b, 0)
	affine        mapKernel[T] // a x + b
	affineRelu    mapKernel[T] // max(a x + b, 0)
	addRow        mapKernel[T] // x + row[j]
	addRowRelu    mapKernel[T] // max(x + row[j], 0)
	addRowGelu    mapKernel[T] // gelu(x + row[j])
	mulRow        mapKernel[T] // x row[j]

	// softmaxRows writes dst[i*ldd+j] = e^(scale (src[i*lds+j] - max)) / sum, with the
	// maximum of row i and the sum over it, for m rows of n elements. Denormal results
	// may be 0. dst may be src.
	softmaxRows func(dst, src *T, ldd, lds, m, n int, scale T)
	// colMax raises dst[j] to the maximum of column j of an m x n matrix.
	colMax func(dst, src *T, ld, m, n int)
	// colExpSum writes dst[i][j] = e^(scale src[i][j] + shift[j]) and adds column
	// j to sum[j]. Both matrices have the leading dimension ld. The exponents must not
	// be positive beyond rounding; denormal results may be 0.
	colExpSum func(dst, src, shift, sum *T, ld, m, n int, scale T)
	// dots writes s[i*row+j/4*step+j%4] = q_i . k_j for m queries q_i = q[i*ldq:] and n
	// keys k_j = k[j*ldk:] of d elements; n is a multiple of 4.
	dots func(m, n, d int, q *T, ldq int, k *T, ldk int, s *T, row, step int)
	// copyColumns writes dst[i*n+j] = src[i*lds+j] for i < m and j < n, where n elements
	// are two vectors at most.
	copyColumns func(dst, src *T, lds, m, n int)
}

// vecKernelsFor is the table of an instruction set that ISAs lists.
func vecKernelsFor[T float](isa ISA) vecKernels[T] {
	if k, ok := vecAssembly[T](isa); ok {
		return k
	}
	return vecPortable[T]()
}

// vecCall is the number of elements of one call: at a few cycles each far below
// 1 ms.
const vecCall = 1 << 15

// slice applies the kernel to src; row, where it is used, is as long as src.
func (f mapKernel[T]) slice(dst, src, row []T, a, b T) {
	dst = dst[:len(src)]
	for at := 0; at < len(src); at += vecCall {
		n := min(vecCall, len(src)-at)
		var r *T
		if row != nil {
			r = &row[at : at+n][0]
		}
		f(&dst[at], &src[at], r, n, n, 1, n, a, b)
	}
}

// matrix applies the kernel to an m x n matrix.
func (f mapKernel[T]) matrix(dst []T, ldd int, src []T, lds, m, n int, row []T, a, b T) {
	if m <= 0 || n <= 0 {
		return
	}
	if n > vecCall {
		for i := range m {
			f.slice(dst[i*ldd:], src[i*lds:i*lds+n], row, a, b)
		}
		return
	}
	_, _ = dst[(m-1)*ldd+n-1], src[(m-1)*lds+n-1]
	rows := vecCall / n
	for i := 0; i < m; i += rows {
		f(&dst[i*ldd], &src[i*lds], unsafe.SliceData(row), ldd, lds, min(rows, m-i), n, a, b)
	}
}

// tile applies the kernel to an m x n tile in place: the epilogue of a matrix
// multiplication.
func (f mapKernel[T]) tile(c []T, ldc, m, n int, row []T, a, b T) {
	f.matrix(c, ldc, c, ldc, m, n, row, a, b)
}
