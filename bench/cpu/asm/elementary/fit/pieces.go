package main

import "math/big"

// piecewise is a function of x >= 0 to be approximated piece by piece: piece j reaches from (j - 1/2) to
// (j + 1/2) times the width, for j = 0 from 0. Its polynomial is one in x / width - j. The last of the
// pieces is 0 everywhere.
type piecewise struct {
	name, doc    string
	f            func(x *big.Float) *big.Float
	lanes        int // a lookup chooses from so many pieces
	width        float64
	bits, degree int // of the element type; of the polynomials
}

// fit returns the coefficients of each power, the lowest first, piece by piece, and the largest error.
func (p *piecewise) fit() (coefficients [][]float64, worst float64) {
	coefficients = make([][]float64, p.degree+1)
	for i := range coefficients {
		coefficients[i] = make([]float64, p.lanes)
	}
	for j := range p.lanes - 1 {
		lo := -0.5
		if j == 0 {
			lo = 0
		}
		t := target{
			f:      func(x *big.Float) *big.Float { return p.f(mul(add(x, num(float64(j))), num(p.width))) },
			weight: func(*big.Float) *big.Float { return num(1) },
			lo:     lo, hi: 0.5, bits: p.bits, degree: p.degree,
		}
		c, e := t.fit()
		for i := range c {
			coefficients[i][j] = c[i]
		}
		worst = max(worst, e)
	}
	end, _ := p.f(num((float64(p.lanes) - 1.5) * p.width)).Float64()
	return coefficients, max(worst, end)
}
