package ref

import "math"

// Softmax is Y[.,j] = exp(X[.,j] - max) / sum over rows of n elements.
//
// The relative error of an element is that of its exponential, exp of the
// absolute error of its argument, plus the mean of those of the row (from the
// sum), plus the roundings of the subtraction, the exponential, the sum and the
// quotient.
func Softmax(x Field, n int64, p Precision) Field {
	return softmax(x, n, func(int64) int64 { return n }, p)
}

// CausalSoftmax is Softmax over matrices of m rows of n elements, where row i ends with
// element i + n - m: what lies behind is 0.
func CausalSoftmax(x Field, m, n int64, p Precision) Field {
	return softmax(x, n, func(r int64) int64 { return r%m + 1 + n - m }, p)
}

// softmax is that of rows of n elements, of which the first used(row) count.
func softmax(x Field, n int64, used func(row int64) int64, p Precision) Field {
	// The last row is kept: its elements are asked for one after the other.
	kept := int64(-1)
	row := make([]Num, n)
	return func(i int64) Num {
		if r := i / n; r != kept {
			clear(row)
			softmaxRow(row[:used(r)], func(j int64) Num { return x(r*n + j) }, p)
			kept = r
		}
		return row[i%n]
	}
}

func softmaxRow(row []Num, x func(j int64) Num, p Precision) {
	largest := math.Inf(-1)
	for j := range row {
		row[j] = x(int64(j))
		largest = max(largest, row[j].V)
	}
	var sum, carried float64
	for j, a := range row {
		y := math.Exp(a.V - largest)
		// Kernels may form the argument as x c - max c, with c the scale and the
		// base of the exponential.
		err := a.E + p.gamma(4)*(abs(a.V)+abs(largest))
		row[j] = Num{V: y, E: err}
		sum += y
		carried += y * err
	}
	common := carried/sum + p.gamma(int64(len(row))+slack)
	for j, a := range row {
		y := a.V / sum
		row[j] = Num{V: y, E: y * math.Expm1(a.E+common)}
	}
}
