package ref

import "math"

// ChecksumBits is how many bits of a Checksum count, so that it is exact as a
// float64.
const ChecksumBits = 52

// Checksum is the one element Y = sum of the bit patterns of the n float64
// elements of X, added up `passes` times, modulo 2^52: it is exact, whatever the
// order.
func Checksum(x Field, n, passes int64) Field {
	return func(int64) Num {
		var sum uint64
		for j := range n {
			sum += math.Float64bits(x(j).V)
		}
		return Num{V: float64(sum * uint64(passes) & (1<<ChecksumBits - 1))}
	}
}

// Constant is Y = v everywhere, within a few roundings.
func Constant(v float64, p Precision) Field {
	return func(int64) Num { return Num{V: v, E: p.gamma(slack) * abs(v)} }
}

// Triad is Y = X + s Z; Add is Triad with s = 1.
func Triad(x, z Field, s float64, p Precision) Field {
	return func(i int64) Num {
		a, b := x(i), z(i)
		return Num{V: a.V + s*b.V, E: a.E + abs(s)*b.E + p.gamma(2)*(abs(a.V)+abs(s*b.V))}
	}
}
