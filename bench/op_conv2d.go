package bench

import (
	"fmt"

	"hwcal/bench/ref"
)

// Conv2dParams are the stride and padding, the same in both directions, and the
// number of groups into which the channels are split.
type Conv2dParams struct{ Stride, Pad, Groups int64 }

// Conv2d is Y[N,K,P,Q] from X[N,C,H,W], W[K,C/groups,R,S] and the convolution's
// own bias b[K], which may be nil; 2 N K P Q C R S / groups FLOP, padding included, as the kernels
// compute it.
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
	return Op{
		Name:   "conv2d",
		In:     inputs,
		Out:    out,
		FLOP:   2 * out.Elems() * s.C / s.Groups * s.R * s.S,
		Params: params,
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			var bias ref.Field
			if b != nil {
				bias = in[2]
			}
			return ref.Conv2d(in[0], in[1], bias, s, p)
		},
	}, nil
}
