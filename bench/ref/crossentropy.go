package ref

import "math"

// CrossEntropy is Y[i] = log(sum of exp(X[i,.])) - X[i,label[i]] over rows of n elements.
//
// Kernels form max + log(sum of exp(x - max)) - x[label]. The relative error of the sum, that
// of its terms as in Softmax and those of adding up, is the absolute one of its logarithm.
func CrossEntropy(x, label Field, n int64, p Precision) Field {
	return func(i int64) Num {
		largest := math.Inf(-1)
		for j := range n {
			largest = max(largest, x(i*n+j).V)
		}
		var sum, carried float64
		for j := range n {
			a := x(i*n + j)
			y := math.Exp(a.V - largest)
			sum += y
			carried += y * math.Expm1(a.E+p.gamma(4)*(abs(a.V)+abs(largest)))
		}
		picked, logarithm := x(i*n+int64(label(i).V)), math.Log(sum)
		e := carried/sum + p.gamma(n+slack) + picked.E
		return Num{V: largest + logarithm - picked.V, E: e + p.gamma(slack)*(abs(largest)+abs(logarithm)+abs(picked.V)+e)}
	}
}
