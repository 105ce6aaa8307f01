package ref

// Conv2dShape holds the dimensions of a convolution: X[N,C,H,W], W[K,C/G,R,S],
// bias[K], Y[N,K,P,Q]; the same stride and padding in both directions.
type Conv2dShape struct {
	N, C, H, W, K, R, S, Stride, Pad, Groups int64
}

// P is the height of the result.
func (s Conv2dShape) P() int64 { return (s.H+2*s.Pad-s.R)/s.Stride + 1 }

// Q is the width of the result.
func (s Conv2dShape) Q() int64 { return (s.W+2*s.Pad-s.S)/s.Stride + 1 }

// Conv2d is the cross-correlation that networks call convolution, plus bias; a nil
// bias is none.
func Conv2d(x, w, bias Field, s Conv2dShape, p Precision) Field {
	P, Q := s.P(), s.Q()
	cg, kg := s.C/s.Groups, s.K/s.Groups
	return func(i int64) Num {
		n, k, py, qx := i/(s.K*P*Q), i/(P*Q)%s.K, i/Q%P, i%Q
		first := k / kg * cg // input channel with which the group begins
		taps := cg * s.R * s.S
		terms := taps
		if bias != nil {
			terms++ // one more product, bias x 1
		}
		return p.dot(terms, func(j int64) (Num, Num) {
			if j == taps {
				return bias(k), Num{V: 1}
			}
			c, r, t := j/(s.R*s.S), j/s.S%s.R, j%s.S
			y, z := py*s.Stride+r-s.Pad, qx*s.Stride+t-s.Pad
			if y < 0 || y >= s.H || z < 0 || z >= s.W {
				return Num{}, Num{}
			}
			return x(((n*s.C+first+c)*s.H+y)*s.W + z), w(k*taps + j)
		})
	}
}
