package bench

import (
	"fmt"
	"math"

	"hwcal/bench/ref"
)

// PoolParams are the side of the windows, their stride and the padding, the same in both
// directions.
type PoolParams struct{ Size, Stride, Pad int64 }

// MaxPool takes X[N,C,H,W] to Y[N,C,P,Q], the largest pixel of each window; 1 FLOP a pixel of a
// window. Padding is smaller than any pixel.
func MaxPool(x *Tensor, params PoolParams) (Op, error) {
	size, stride, pad := params.Size, params.Stride, params.Pad
	planes, h, w := x.Dims[0]*x.Dims[1], x.Dims[2], x.Dims[3]
	switch {
	case size < 1 || stride < 1:
		return Op{}, fmt.Errorf("bench: max_pool: windows of %d at a stride of %d, want at least 1", size, stride)
	case 2*pad > size:
		return Op{}, fmt.Errorf("bench: max_pool: padding %d is more than half of a window of %d", pad, size)
	case h+2*pad < size || w+2*pad < size:
		return Op{}, fmt.Errorf("bench: max_pool: windows of %dx%d are larger than the padded input %dx%d", size, size, h+2*pad, w+2*pad)
	}
	p, q := (h+2*pad-size)/stride+1, (w+2*pad-size)/stride+1
	taps := Conv2dParams{Stride: stride, Pad: pad}
	return Op{
		Name:   "max_pool",
		In:     []*Tensor{x},
		Out:    &Tensor{Name: "max_pool", Dims: []int64{x.Dims[0], x.Dims[1], p, q}},
		FLOP:   planes * taps.Inside(h, size, p) * taps.Inside(w, size, q),
		Params: params,
		Ref: func(in []ref.Field, _ ref.Precision) ref.Field {
			return ref.Max(func(i, tap int64) ref.Num {
				plane, y, x := i/(p*q), i/q%p*stride-pad+tap/size, i%q*stride-pad+tap%size
				if y < 0 || y >= h || x < 0 || x >= w {
					return ref.Num{V: math.Inf(-1)}
				}
				return in[0]((plane*h+y)*w + x)
			}, size*size)
		},
	}, nil
}

// GlobalAveragePool takes X[N,C,H,W] to Y[N,C], the mean of each channel; 1 FLOP a pixel, and one
// more a channel.
func GlobalAveragePool(x *Tensor) Op {
	pixels := x.Dims[2] * x.Dims[3]
	out := &Tensor{Name: "global_average_pool", Dims: x.Dims[:2]}
	return Op{
		Name: "global_average_pool",
		In:   []*Tensor{x},
		Out:  out,
		FLOP: x.Elems() + out.Elems(),
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.Mean(func(i, j int64) ref.Num { return in[0](i*pixels + j) }, pixels, p)
		},
	}
}
