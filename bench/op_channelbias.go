package bench

import "hwcal/bench/ref"

// ChannelBias adds b[c] to every pixel of channel c of X[N,C,H,W], 1 FLOP an element.
func ChannelBias(x, b *Tensor) Op {
	channels, spatial := x.Dims[1], x.Dims[2]*x.Dims[3]
	return Op{
		Name: "channel_bias",
		In:   []*Tensor{x, b},
		Out:  like("channel_bias", x),
		FLOP: x.Elems(),
		Ref: func(in []ref.Field, p ref.Precision) ref.Field {
			return ref.ChannelBias(in[0], in[1], channels, spatial, p)
		},
	}
}
