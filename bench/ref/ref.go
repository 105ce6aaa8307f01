// Package ref says what every operation means, in float64, and how far a correct
// implementation in a narrower type may be from it. It is slow and obviously
// right.
//
// A tensor is a Field: a function from the row-major index of an element to its
// value, computed on demand, so that a few elements of a large result can be
// checked without computing the rest.
package ref

// Num is the exact value V of an element (to float64) and a bound E on the
// absolute error of a correct implementation. Bounds travel with the values: they
// are derived by standard error analysis (Higham, Accuracy and Stability of
// Numerical Algorithms, chapters 2 and 3) and never picked.
type Num struct {
	V, E float64
	// Terms is the number of products if the element is a sum, else 0. Kernels choose the order of the sum: what
	// is added to it later may have been its first term.
	Terms int64
}

// Field is a tensor, by the row-major index of its elements.
type Field func(i int64) Num

// Exact is a field that holds the values as they are.
func Exact(at func(i int64) float64) Field {
	return func(i int64) Num { return Num{V: at(i)} }
}

// Precision is the arithmetic of the implementation.
type Precision struct {
	U float64 // unit roundoff of the accumulation; 0 is exact
	// Short bounds the relative error of the partial sums that are added in U, where
	// they are computed in a narrower type.
	Short float64
	// Tiny bounds the absolute error of one rounding in that type where the result is
	// below its normal numbers.
	Tiny float64
	// Stored is the rounding of a result to the type of the elements, if that is narrower.
	Stored Rounding
}

// Rounding is the error of rounding a number to a type: at most U of it, or Tiny where
// it is below the normal numbers.
type Rounding struct{ U, Tiny float64 }

// Round allows for a field to be rounded as it is stored, or not: a fused kernel does
// not store what one of its operations hands to the next.
func (r Rounding) Round(x Field) Field {
	return func(i int64) Num {
		a := x(i)
		return Num{V: a.V, E: a.E + r.U*(abs(a.V)+a.E) + r.Tiny, Terms: a.Terms}
	}
}

// longest is the number of successive roundings that a sum may have. The worst-case bound on longer sums would say
// nothing: for 2^24 terms in fp32 it is infinite, and for 2^20 it accepts a sum that lacks a sixteenth. So kernels
// have to add long sums in parts. Roundings also cancel: of k hardly ever more than 4 sqrt(k) are left (Higham
// and Mary, A new approach to probabilistic rounding error analysis, 2019), which for 2^26 is longest.
const longest = 1 << 15

// gamma is the bound on the relative error of k roundings, k*u / (1 - k*u).
func (p Precision) gamma(k int64) float64 {
	ku := float64(min(k, longest)) * p.U
	return ku / (1 - ku)
}

// slack is the number of roundings that fused and unfused kernels may add to a
// sum: a folded weight (3), a bias, a scale and the rescaling of a partial result.
const slack = 8

func abs(x float64) float64 { return max(x, -x) }

// first bounds the further error of a + b if a kernel began the sum a with b, which then took part in its roundings.
func (p Precision) first(a Num, b float64) float64 { return p.gamma(a.Terms) * abs(b) }

// dot is the inner product of k pairs of elements. Each product and each partial
// sum is rounded once, in any order.
func (p Precision) dot(k int64, pair func(i int64) (a, b Num)) Num {
	var v, magnitude, carried float64
	for i := range k {
		a, b := pair(i)
		v += a.V * b.V
		magnitude += abs(a.V * b.V)
		carried += abs(a.V)*b.E + abs(b.V)*a.E + a.E*b.E
	}
	e := (p.gamma(k+slack)+p.Short)*(magnitude+carried) + carried
	return Num{V: v, E: e + float64(k)*p.Tiny*(1+p.Short), Terms: k}
}
