package cpu

import (
	"math"
	"unsafe"
)

// vecPortable are the kernels in Go. The transcendental functions are those of
// package math, rounded once.
func vecPortable[T float]() vecKernels[T] {
	return vecKernels[T]{
		storedKernels: storedKernels[T, T]{
			exp:            unary[T](math.Exp),
			tanh:           unary[T](math.Tanh),
			gelu:           unary[T](gelu),
			silu:           unary[T](silu),
			relu:           rows(reluRow[T]),
			scale:          rows(scaleRow[T]),
			add:            rows(addRow[T]),
			mul:            rows(mulRow[T]),
			sub:            rows(subRow[T]),
			div:            rows(divRow[T]),
			maxFar:         rows(maxRow[T]),
			addFar:         rows(addRow[T]),
			geluTanh:       unary[T](geluTanh),
			sigmoid:        unary[T](sigmoid),
			affineRows:     affineRowsPortable[T],
			dropout:        dropoutPortable[T],
			addGeluDropout: addGeluThenDropout(rows(addGeluRow[T]), dropoutPortable[T]),
			softmaxRows:    softmaxRowsPortable[T],
			colMax:         colMaxPortable[T],
			rowDistance:    rowDistancePortable[T],
			rowSums:        rowSumsPortable[T],
			rowMaxes:       rowMaxesPortable[T],
			rowExpSums:     rowExpSumsPortable[T],
			layerNorm:      layerNormPortable[T],
			addLayerNorm:   addLayerNormPortable[T],
			rmsNorm:        rmsNormPortable[T],
			colSum:         colSumPortable[T],
		},
		erf:             unary[T](math.Erf),
		log:             unary[T](math.Log),
		affine:          rows(affineRow[T]),
		addRelu:         rows(addReluRow[T]),
		addGelu:         rows(addGeluRow[T]),
		addSilu:         rows(addSiluRow[T]),
		siluMul:         rows(siluMulRow[T]),
		max:             rows(maxRow[T]),
		copy:            rows(copyRow[T]),
		set:             rows(setRow[T]),
		colExpSum:       colExpSumPortable[T],
		dots:            dotsPortable[T],
		copyColumns:     copyColumnsPortable[T],
		maxTaps:         maxTapsByRows(rows(copyRow[T]), rows(maxRow[T])),
		gatherRows:      gatherRowsPortable[T],
		transpose:       transposeSquaresPortable[T],
		transposeHalves: transposeSquaresPortable[uint16],
	}
}

// gelu is x/2 (1 + erf(x/sqrt 2)) without the cancellation for x < 0.
func gelu(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return 0.5 * x * math.Erfc(-x/math.Sqrt2)
}

// silu is x/(1 + e^-x); it is 0 where e^-x is infinite.
func silu(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return x / (1 + math.Exp(-x))
}

// geluTanh is x times the sigmoid of 2 sqrt(2/pi) (x + 0.044715 x^3).
func geluTanh(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return x * sigmoid(2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// rows makes a kernel of a loop over one row. y is empty where it is not given.
func rows[T float](f func(dst, src, y []T, a, b T)) mapKernel[T, T] {
	return func(dst, src, y *T, ldd, lds, ldy, m, n int, a, b T, _ nontemporal) {
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

func unary[T float](f func(float64) float64) mapKernel[T, T] {
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

func affineRow[T float](dst, src, _ []T, a, b T) {
	for j, x := range src {
		dst[j] = a*x + b
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

func addSiluRow[T float](dst, src, y []T, _, _ T) {
	for j, x := range src {
		dst[j] = T(silu(float64(x + y[j])))
	}
}

func siluMulRow[T float](dst, src, y []T, _, _ T) {
	for j, x := range src {
		dst[j] = T(silu(float64(x))) * y[j]
	}
}

func mulRow[T float](dst, src, y []T, _, _ T) {
	for j, x := range src {
		dst[j] = x * y[j]
	}
}

func subRow[T float](dst, src, y []T, _, _ T) {
	for j, x := range src {
		dst[j] = x - y[j]
	}
}

func divRow[T float](dst, src, y []T, _, _ T) {
	for j, x := range src {
		dst[j] = x / y[j]
	}
}

func maxRow[T float](dst, src, y []T, _, _ T) {
	for j, x := range src {
		dst[j] = max(x, y[j])
	}
}

func copyRow[T float](dst, src, _ []T, _, _ T) { copy(dst, src) }

func setRow[T float](dst, _, _ []T, _, b T) {
	for j := range dst {
		dst[j] = b
	}
}
