package cpu

import (
	"math"
	"unsafe"
)

// vecPortable are the kernels in Go. The transcendental functions are those of
// package math, rounded once.
func vecPortable[T float]() vecKernels[T] {
	return vecKernels[T]{
		exp:           unary[T](math.Exp),
		erf:           unary[T](math.Erf),
		tanh:          unary[T](math.Tanh),
		gelu:          unary[T](gelu),
		relu:          rows(reluRow[T]),
		scale:         rows(scaleRow[T]),
		addScalar:     rows(addScalarRow[T]),
		addScalarRelu: rows(addScalarReluRow[T]),
		affine:        rows(affineRow[T]),
		affineRelu:    rows(affineReluRow[T]),
		add:           rows(addRow[T]),
		addRelu:       rows(addReluRow[T]),
		addGelu:       rows(addGeluRow[T]),
		mul:           rows(mulRow[T]),
		rowMax:        rowMaxPortable[T],
		expSum:        expSumPortable[T],
		colMax:        colMaxPortable[T],
		colExpSum:     colExpSumPortable[T],
	}
}

// gelu is x/2 (1 + erf(x/sqrt 2)) without the cancellation for x < 0.
func gelu(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return 0.5 * x * math.Erfc(-x/math.Sqrt2)
}

// rows makes a kernel of a loop over one row. y is empty where it is not given.
func rows[T float](f func(dst, src, y []T, a, b T)) mapKernel[T] {
	return func(dst, src, y *T, ldd, lds, ldy, m, n int, a, b T) {
		to, from := unsafe.Slice(dst, (m-1)*ldd+n), unsafe.Slice(src, (m-1)*lds+n)
		for i := range m {
			var with []T
			if y != nil {
				with = unsafe.Slice(y, (m-1)*ldy+n)[i*ldy : i*ldy+n]
			}
			f(to[i*ldd:i*ldd+n], from[i*lds:i*lds+n], with, a, b)
		}
	}
}

func unary[T float](f func(float64) float64) mapKernel[T] {
	return rows(func(dst, src, _ []T, _, _ T) {
		for j, x := range src {
			dst[j] = T(f(float64(x)))
		}
	})
}

// rectified is max(x, 0), and NaN for NaN.
func rectified[T float](x T) T {
	if x <= 0 {
		return 0
	}
	return x
}

func reluRow[T float](dst, src, _ []T, _, _ T) {
	for j, x := range src {
		dst[j] = rectified(x)
	}
}

func scaleRow[T float](dst, src, _ []T, a, _ T) {
	for j, x := range src {
		dst[j] = a * x
	}
}

func addScalarRow[T float](dst, src, _ []T, _, b T) {
	for j, x := range src {
		dst[j] = x + b
	}
}

func addScalarReluRow[T float](dst, src, _ []T, _, b T) {
	for j, x := range src {
		dst[j] = rectified(x + b)
	}
}

func affineRow[T float](dst, src, _ []T, a, b T) {
	for j, x := range src {
		dst[j] = a*x + b
	}
}

func affineReluRow[T float](dst, src, _ []T, a, b T) {
	for j, x := range src {
		dst[j] = rectified(a*x + b)
	}
}

func addRow[T float](dst, src, y []T, _, _ T) {
	for j, x := range src {
		dst[j] = x + y[j]
	}
}

func addReluRow[T float](dst, src, y []T, _, _ T) {
	for j, x := range src {
		dst[j] = rectified(x + y[j])
	}
}

func addGeluRow[T float](dst, src, y []T, _, _ T) {
	for j, x := range src {
		dst[j] = T(gelu(float64(x + y[j])))
	}
}

func mulRow[T float](dst, src, y []T, _, _ T) {
	for j, x := range src {
		dst[j] = x * y[j]
	}
}

func rowMaxPortable[T float](src *T, n int) T {
	largest := T(math.Inf(-1))
	for _, x := range unsafe.Slice(src, n) {
		if x > largest {
			largest = x
		}
	}
	return largest
}

func expSumPortable[T float](dst, src *T, n int, scale, max T) T {
	to := unsafe.Slice(dst, n)
	var sum T
	for j, x := range unsafe.Slice(src, n) {
		to[j] = T(math.Exp(float64(x*scale - max)))
		sum += to[j]
	}
	return sum
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
