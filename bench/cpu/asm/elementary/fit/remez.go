package main

import (
	"math"
	"math/big"
)

const gridPoints = 2000

// sampled is the target on a grid that is dense at the ends of the interval.
type sampled struct{ x, f, weight []*big.Float }

func (t *target) sample() sampled {
	var s sampled
	for i := range gridPoints {
		c := math.Cos(math.Pi * float64(gridPoints-1-i) / (gridPoints - 1))
		x := num(t.lo + (t.hi-t.lo)*(c+1)/2)
		s.x = append(s.x, x)
		s.f = append(s.f, t.f(x))
		s.weight = append(s.weight, t.weight(x))
	}
	return s
}

func horner(c []*big.Float, x *big.Float) *big.Float {
	p := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		p = add(mul(p, x), c[i])
	}
	return p
}

// errors is weight * (p - f) at every grid point.
func (s sampled) errors(c []*big.Float) []float64 {
	e := make([]float64, gridPoints)
	for i := range e {
		e[i], _ = mul(sub(horner(c, s.x[i]), s.f[i]), s.weight[i]).Float64()
	}
	return e
}

func (t *target) worst(c []*big.Float) float64 {
	worst := 0.0
	for _, e := range t.sample().errors(c) {
		worst = math.Max(worst, math.Abs(e))
	}
	return worst
}

// remez returns the coefficients of the weighted minimax polynomial.
func (t *target) remez() []*big.Float {
	s := t.sample()
	n := t.degree + 2
	reference := make([]int, n)
	for i := range reference {
		reference[i] = i * (gridPoints - 1) / (n - 1)
	}
	var c []*big.Float
	for range 30 {
		c = s.level(reference)
		next := alternation(s.errors(c), n)
		if next == nil || equal(next, reference) {
			break
		}
		reference = next
	}
	return c
}

// level solves p(t_i) + (-1)^i h / weight_i = f_i on the reference points.
func (s sampled) level(reference []int) []*big.Float {
	n := len(reference)
	a := make([][]*big.Float, n)
	for row, at := range reference {
		power := num(1)
		for range n - 1 {
			a[row] = append(a[row], power)
			power = mul(power, s.x[at])
		}
		h := quo(num(1), s.weight[at])
		if row%2 == 1 {
			h = neg(h)
		}
		a[row] = append(a[row], h, s.f[at])
	}
	return solve(a)[:n-1]
}

// alternation picks n extrema of alternating sign from the error curve.
func alternation(e []float64, n int) []int {
	var peaks []int
	for i := range e {
		last := len(peaks) - 1
		switch {
		case last < 0 || e[i]*e[peaks[last]] < 0:
			peaks = append(peaks, i)
		case math.Abs(e[i]) > math.Abs(e[peaks[last]]):
			peaks[last] = i
		}
	}
	for len(peaks) > n {
		if math.Abs(e[peaks[0]]) < math.Abs(e[peaks[len(peaks)-1]]) {
			peaks = peaks[1:]
		} else {
			peaks = peaks[:len(peaks)-1]
		}
	}
	if len(peaks) < n {
		return nil
	}
	return peaks
}

func equal(a, b []int) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// solve is Gaussian elimination with pivoting on the augmented matrix a.
func solve(a [][]*big.Float) []*big.Float {
	n := len(a)
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if zero().Abs(a[i][k]).Cmp(zero().Abs(a[best][k])) > 0 {
				best = i
			}
		}
		a[k], a[best] = a[best], a[k]
		for i := k + 1; i < n; i++ {
			f := quo(a[i][k], a[k][k])
			for j := k; j <= n; j++ {
				a[i][j] = sub(a[i][j], mul(f, a[k][j]))
			}
		}
	}
	x := make([]*big.Float, n)
	for i := n - 1; i >= 0; i-- {
		sum := a[i][n]
		for j := i + 1; j < n; j++ {
			sum = sub(sum, mul(a[i][j], x[j]))
		}
		x[i] = quo(sum, a[i][i])
	}
	return x
}
