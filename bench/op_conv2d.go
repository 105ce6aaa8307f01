package bench

import (
	"fmt"

	"hwcal/bench/ref"
)

// Conv2dParams are the stride and padding, the same in both directions, and the
// number of groups into which the channels are split.
type Conv2dParams struct{ Stride, Pad, Groups int64 }

// Conv2d is Y[N,K,P,Q] from X[N,C,H,W], W[K,C/groups,R,S] and the convolution's
// own bias b[K], which may be nil; 2 N K P Q C R S / groups FLOP, padding included.
func Conv2d(x, w, b *Tensor, params Conv2dParams) (Op, error) {
	s := ref.Conv2dShape{
		N: x.Dims[0], C: x.Dims[1], H: x.Dims[2], W: x.Dims[3],
		K: w.Dims[0], R: w.Dims[2], S: w.Dims[3],
		Stride: params.Stride, Pad: params.Pad, Groups: params.Groups,
	}
	switch {
	case s.Stride < 1:
		return Op{}, fmt.Errorf("bench: conv2d: stride %d, want at least 1", s.Stride)
	case s.Groups < 1 || s.C%s.Groups != 0 || s.K%s.Groups != 0:
		return Op{}, fmt.Errorf("bench: conv2d: %d groups do not divide %d input and %d output channels", s.Groups, s.C, s.K)
	case s.H+2*s.Pad < s.R || s.W+2*s.Pad < s.S:
		return Op{}, fmt.Errorf("bench: conv2d: kernel %dx%d is larger than the padded input %dx%d", s.R, s.S, s.H+2*s.Pad, s.W+2*s.Pad)
	}
	inputs := []*Tensor{x, w}
	if b != nil {
		inputs = append(inputs, b)
	}
	out := &Tensor{Name: "conv2d", Dims: []int64{s.N, s.K, s.P(), s.Q()}}
	taps := 2 * s.N * s.K * s.C / s.Groups // FLOP for each tap of a pixel of Y
	return Op{
		Name:    "conv2d",
		In:      inputs,
		Out:     out,
		FLOP:    taps * s.P() * s.Q() * s.R * s.S,
		Padding: taps * (s.P()*s.Q()*s.R*s.S - params.Inside(s.H, s.R, s.P())*params.Inside(s.W, s.S, s.Q())),
		Params:  params,
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			var bias ref.Field
			if b != nil {
				bias = in[2]
			}
			return ref.Conv2d(in[0], in[1], bias, s, p)
		},
	}, nil
}

// Inside counts, along one direction of an image, the taps of all outputs that are not
// padding.
func (p Conv2dParams) Inside(size, taps, outputs int64) int64 {
	n := int64(0)
	for tap := range taps { // an output meets it from first to last
		first := max(p.Pad-tap+p.Stride-1, 0) / p.Stride
		if reach := size - 1 + p.Pad - tap; reach >= 0 {
			n += max(min(reach/p.Stride, outputs-1)-first+1, 0)
		}
	}
	return n
}
