package ref

import "math"

// Bias is Y[.,n] = X[.,n] + b[n].
func Bias(x, b Field, n int64, p Precision) Field {
	return Add(x, func(i int64) Num { return b(i % n) }, p)
}

// ChannelBias is Y = X + b[c] on X[N,C,spatial].
func ChannelBias(x, b Field, channels, spatial int64, p Precision) Field {
	return func(i int64) Num {
		a, c := x(i), b(i/spatial%channels)
		v, e := a.V+c.V, a.E+c.E
		return Num{V: v, E: e + p.U*(abs(v)+e) + p.first(a, c.V)}
	}
}

// Add is Y = X + Z.
func Add(x, z Field, p Precision) Field {
	return func(i int64) Num {
		a, c := x(i), z(i)
		v := a.V + c.V
		e := a.E + c.E
		return Num{V: v, E: e + p.U*(abs(v)+e)}
	}
}

// Sub is Y = X - Z.
func Sub(x, z Field, p Precision) Field {
	return Add(x, func(i int64) Num { a := z(i); return Num{V: -a.V, E: a.E} }, p)
}

// Div is Y = X / Z. What is off in Z by e is off in its inverse by e / (|z| (|z| - e)).
func Div(x, z Field, p Precision) Field {
	return func(i int64) Num {
		a, c := x(i), z(i)
		v := a.V / c.V
		e := (a.E + abs(v)*c.E) / max(abs(c.V)-c.E, 0)
		return Num{V: v, E: e + p.gamma(2)*(abs(v)+e)}
	}
}

// Mul is Y = X Z.
func Mul(x, z Field, p Precision) Field {
	return func(i int64) Num {
		a, c := x(i), z(i)
		e := abs(a.V)*c.E + abs(c.V)*a.E + a.E*c.E
		return Num{V: a.V * c.V, E: e + p.U*(abs(a.V*c.V)+e)}
	}
}

// ReLU is Y = max(X, 0).
func ReLU(x Field) Field {
	return func(i int64) Num {
		a := x(i)
		return Num{V: max(a.V, 0), E: a.E}
	}
}

// GELU is Y = X/2 (1 + erf(X/sqrt 2)). Its slope is below 1.13 everywhere. The
// kernels compute erf to a few ulp of 1, which X/2 scales.
func GELU(x Field, p Precision) Field {
	return func(i int64) Num {
		a := x(i)
		v := a.V / 2 * math.Erfc(-a.V/math.Sqrt2)
		return Num{V: v, E: 1.13*a.E + p.gamma(slack)*(abs(a.V)+a.E)}
	}
}

// GELUTanh is Y = X/2 (1 + tanh(sqrt(2/pi) (X + 0.044715 X^3))). Its slope is below 1.13
// everywhere. The kernels compute the weight of X to a few ulp of 1.
func GELUTanh(x Field, p Precision) Field {
	return func(i int64) Num {
		a := x(i)
		v := a.V / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(a.V+0.044715*a.V*a.V*a.V))) // (1 + tanh z)/2 = 1/(1 + e^-2z)
		return Num{V: v, E: 1.13*a.E + p.gamma(slack)*(abs(a.V)+a.E)}
	}
}

// Exp is Y = e^X.
func Exp(x Field, p Precision) Field {
	return func(i int64) Num {
		a := x(i)
		v := math.Exp(a.V)
		return Num{V: v, E: v * (math.Expm1(a.E) + p.gamma(slack)*math.Exp(a.E))}
	}
}

// Tanh is Y = tanh X, of slope 1 at most. Numbers close to 0 keep their digits.
func Tanh(x Field, p Precision) Field {
	return func(i int64) Num {
		a := x(i)
		v := math.Tanh(a.V)
		return Num{V: v, E: a.E + p.gamma(slack)*(abs(v)+a.E)}
	}
}

// Sigmoid is Y = 1 / (1 + e^-X), of slope 1/4 at most. Kernels keep the digits of small
// results.
func Sigmoid(x Field, p Precision) Field {
	return func(i int64) Num {
		a := x(i)
		v := 1 / (1 + math.Exp(-a.V))
		return Num{V: v, E: a.E/4 + p.gamma(slack)*(abs(v)+a.E)}
	}
}

// Requantize is Y = X scale[c] factor on X[N,C,spatial], rounded to an integer and limited
// to +-127. A sum beyond 2^24 is rounded in fp32, scale times factor is, and so is their
// product; the fourth rounding is the reference's own. What that moves across the
// middle between two integers may come out as either.
func Requantize(x, scale Field, channels, spatial int64, factor float64, p Precision) Field {
	integer := func(v float64) float64 { return max(-127, min(math.RoundToEven(v), 127)) }
	return func(i int64) Num {
		a, s := x(i), scale(i/spatial%channels).V*factor
		e := abs(s) * (a.E + p.gamma(4)*(abs(a.V)+a.E))
		v := integer(a.V * s)
		return Num{V: v, E: max(integer(a.V*s+e)-v, v-integer(a.V*s-e))}
	}
}

// SiLU is Y = X / (1 + e^-X). Its slope is below 1.1 everywhere. The kernels compute
// the weight of X to a few ulp of 1, which X scales.
func SiLU(x Field, p Precision) Field {
	return func(i int64) Num {
		a := x(i)
		v := a.V / (1 + math.Exp(-a.V))
		return Num{V: v, E: 1.1*a.E + p.gamma(slack)*(abs(a.V)+a.E)}
	}
}

// Scale is Y = s X.
func Scale(x Field, s float64, p Precision) Field {
	return func(i int64) Num {
		a := x(i)
		return Num{V: s * a.V, E: abs(s) * (a.E + 2*p.U*(abs(a.V)+a.E))}
	}
}

// BatchNorm is the inference form on X[N,C,spatial]:
// Y = (X - mean[c]) gamma[c] / sqrt(var[c] + eps) + beta[c].
func BatchNorm(x, gamma, beta, mean, variance Field, channels, spatial int64, eps float64, p Precision) Field {
	return func(i int64) Num {
		c := i / spatial % channels
		a, m, b := x(i), mean(c).V, beta(c).V
		s := gamma(c).V / math.Sqrt(variance(c).V+eps)
		// Kernels may compute X s + (beta - mean s), or fold s into the weights
		// that made X: each term of either is rounded a few times.
		terms := abs(s)*(abs(a.V)+a.E+abs(m)) + abs(b)
		return Num{V: (a.V-m)*s + b, E: abs(s)*a.E + p.gamma(slack)*terms + p.first(a, b-m*s)}
	}
}

// FoldBatchNorm says what the weights [K,filter] of a convolution may be where the batch
// norm behind it is folded into them: W gamma / sqrt(var + eps), as it is stored, divided
// by its factor again.
func FoldBatchNorm(w, gamma, variance Field, filter int64, eps float64, stored Rounding) Field {
	return func(i int64) Num {
		k := i / filter
		s := gamma(k).V / math.Sqrt(variance(k).V+eps)
		a := w(i)
		if s == 0 {
			return a // folded, it is 0 and so is what it makes
		}
		folded := stored.Round(func(int64) Num { return Num{V: a.V * s, E: a.E * abs(s)} })(i)
		return Num{V: a.V, E: folded.E / abs(s)}
	}
}
