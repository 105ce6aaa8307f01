package ref

import "math"

// Max is Y[i] = the largest of the n numbers x(i, .).
func Max(x func(i, j int64) Num, n int64) Field {
	return func(i int64) Num {
		largest := Num{V: math.Inf(-1)}
		for j := range n {
			a := x(i, j)
			largest = Num{V: max(largest.V, a.V), E: max(largest.E, a.E)}
		}
		return largest
	}
}

// Sum is Y[i] = the sum of the n numbers x(i, .), in any order.
func Sum(x func(i, j int64) Num, n int64, p Precision) Field {
	return func(i int64) Num {
		var sum, magnitude, carried float64
		for j := range n {
			a := x(i, j)
			sum += a.V
			magnitude += abs(a.V)
			carried += a.E
		}
		return Num{V: sum, E: carried + p.gamma(n+slack)*(magnitude+carried)}
	}
}

// Mean is Y[i] = Sum / n. The division is one of the roundings that Sum leaves room for.
func Mean(x func(i, j int64) Num, n int64, p Precision) Field {
	sum := Sum(x, n, p)
	return func(i int64) Num {
		s := sum(i)
		return Num{V: s.V / float64(n), E: s.E / float64(n)}
	}
}

// MSE is the one element Y = the mean of (X - T)^2 over n elements.
func MSE(x, t Field, n int64, p Precision) Field {
	difference := Sub(x, t, p)
	return Mean(func(_, j int64) Num { return square(difference(j)) }, n, p)
}

// square is exact but for the error of its argument: what is summed up may be a fused
// multiply-add.
func square(a Num) Num { return Num{V: a.V * a.V, E: 2*abs(a.V)*a.E + a.E*a.E} }
