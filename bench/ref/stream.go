package ref

import "math"

// ChecksumBits is how many bits of a Checksum count, so that it is exact as a
// float64.
const ChecksumBits = 52

// Checksum is the one element Y of the bit patterns of the n float64 elements of X: in each of `passes`
// passes it is shifted left by a bit, and becomes its exclusive or with all of them. Modulo 2^52 it is exact,
// whatever the order, and no pass takes back what another one did.
func Checksum(x Field, n, passes int64) Field {
	return func(int64) Num {
		var all, sum uint64
		for j := range n {
			all ^= math.Float64bits(x(j).V)
		}
		for range min(passes, 64) { // more of them shift the first ones out
			sum = sum<<1 ^ all
		}
		return Num{V: float64(sum & (1<<ChecksumBits - 1))}
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
