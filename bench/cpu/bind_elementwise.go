package cpu

import (
	"fmt"

	"hwcal/bench"
)

func init() {
	for _, chain := range []string{
		"add", "sub", "mul", "div", "bias", "mask", "exp", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh",
		"copy", "set",
	} {
		register(chain, bindElementwise[float32], bindElementwise[float64])
	}
	register("dropout", bindDropout[float32, float32], bindDropout[float64, float64])
	register("bias+gelu+dropout", bindBiasGELUDropout[float32, float32], bindBiasGELUDropout[float64, float64])
	register("scale", bindScale[float32, float32], bindScale[float64, float64])
	register("channel_bias", bindChannelBias[float32, float32], bindChannelBias[float64, float64])
	register("batchnorm", bindBatchNorm[float32, float32], bindBatchNorm[float64, float64])
}

// bindScale scales all elements, or of causal scores those that are seen.
func bindScale[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	if c.Output().Causal {
		return bindCausalScale[S, T](ws, c)
	}
	return bindStored[S, T](ws, c)
}

// elementwise is a chain of operations of which each worker runs its part.
func elementwise(ws *workspace, chain string, body func(w *worker)) *kernel {
	return &kernel{name: fmt.Sprintf("vec_%s_%s", chain, vecISA(ws.isa, chain)), body: body}
}

// lineElems is a number of elements that fills cache lines in every type.
const lineElems = 64

// span is the items [lo, hi).
type span struct{ lo, hi int }

// partsOf are the workers' parts of n items, cut at multiples of grain. They are cut
// when a kernel is bound: a division takes as long as copying a kilobyte in L1.
func partsOf(ws *workspace, n, grain int) []span {
	parts := make([]span, len(ws.workers))
	for i, w := range ws.workers {
		parts[i].lo, parts[i].hi = w.share(n, grain)
	}
	return parts
}

func bindElementwise[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	k := vecKernelsFor[T](ws.isa)
	return mapped(ws, c, newMapping(ws, &k, c)), nil
}

// bindStored is bindElementwise for what halves have too.
func bindStored[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	return mapped(ws, c, newStoredMapping(ws, storedKernelsFor[S, T](ws), c)), nil
}

// mapped runs one kernel on whole tensors: seen as rows, each as long as what they meet.
func mapped[S inMemory, T float](ws *workspace, c bench.Chain, m mapping[S, T]) *kernel {
	dst := data[S](ws, c.Output())
	src, width := dst, len(dst) // an operation without input reads nothing
	if len(c[0].In) > 0 {
		src = data[S](ws, c[0].In[0])
	}
	if len(m.y) > 0 {
		width = len(m.y)
	}
	return storingFar(ws, c, func(nt nontemporal) func(w *worker) {
		return eachTile(ws, len(dst), width, func(at, j, rows, n int) {
			var y *S
			if len(m.y) > 0 {
				y = &m.y[j]
			}
			m.kernel(&dst[at], &src[at], y, width, width, 0, rows, n, m.a, m.b, nt)
		})
	})
}

func bindDropout[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	k, d := storedKernelsFor[S, T](ws), newDropper[T](c[0])
	src, dst := data[S](ws, c[0].In[0]), data[S](ws, c.Output())
	return storing(ws, c, func(nt nontemporal) func(w *worker) {
		return eachTile(ws, len(dst), len(dst), func(at, _, _, n int) {
			k.dropout(&dst[at], &src[at], n, d.scale, d.least, d.at(at), nt)
		})
	}), nil
}

// bindBiasGELUDropout is all three at once, row by row.
func bindBiasGELUDropout[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	k, d := storedKernelsFor[S, T](ws), newDropper[T](c[2])
	src, bias, dst := data[S](ws, c[0].In[0]), data[S](ws, c[0].In[1]), data[S](ws, c.Output())
	width := len(bias)
	return storing(ws, c, func(nt nontemporal) func(w *worker) {
		return eachTile(ws, len(dst), width, func(at, j, m, n int) {
			for end := at + m*width; at < end; at += width {
				k.addGeluDropout(&dst[at], &src[at], &bias[j], n, d.scale, d.least, d.at(at), nt)
			}
		})
	}), nil
}

// widthOf is the length of the rows of a tensor.
func widthOf(t *bench.Tensor) int { return int(t.Dims[len(t.Dims)-1]) }

// tile is m x n elements from (i, j) on.
type tile struct{ i, j, m, n int }

// tilesOf are the workers' tiles of so many elements.
func tilesOf(ws *workspace, elems, width, limit int) [][]tile {
	work := make([][]tile, len(ws.workers))
	for i, p := range partsOf(ws, elems, lineElems) {
		work[i] = tiles(p.lo, p.hi, width, limit)
	}
	return work
}

// tiles cuts the elements [lo, hi) of rows of the given width into whole rows and parts
// of one, of at most limit elements.
func tiles(lo, hi, width, limit int) []tile {
	var all []tile
	for lo < hi {
		t := tile{lo / width, lo % width, min(hi-lo, limit) / width, width}
		if t.j > 0 || t.m == 0 {
			t.m, t.n = 1, min(width-t.j, hi-lo, limit)
		}
		all = append(all, t)
		lo += t.m * t.n
	}
	return all
}

// inTiles is a kernel of eachTile.
func inTiles(ws *workspace, chain string, elems, width int, f func(at, j, m, n int)) *kernel {
	return elementwise(ws, chain, eachTile(ws, elems, width, f))
}

// eachTile lets each worker run f over its part of rows of the given width: on m x n
// elements, from index at and column j on, few enough for a call that the collector
// cannot interrupt.
func eachTile(ws *workspace, elems, width int, f func(at, j, m, n int)) func(w *worker) {
	work := tilesOf(ws, elems, width, vecCall)
	return func(w *worker) {
		for _, t := range work[w.id] {
			f(t.i*width+t.j, t.j, t.m, t.n)
		}
	}
}

func bindBatchNorm[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	factor, summand := batchNormOf[T](ws, c[0]).affine()
	factor, summand = kept(ws, factor), kept(ws, summand)
	return perChannel[S](ws, c, factor, summand), nil
}

// bindChannelBias adds a constant to each channel.
func bindChannelBias[S inMemory, T float](ws *workspace, c bench.Chain) (*kernel, error) {
	bias := data[T](ws, c[0].In[1])
	return perChannel[S](ws, c, repeated[T](1, len(bias)), bias), nil
}

// perChannel writes factor x + summand, with one of each a channel.
func perChannel[S inMemory, T float](ws *workspace, c bench.Chain, factor, summand []T) *kernel {
	src, dst := data[S](ws, c[0].In[0]), data[S](ws, c.Output())
	affine := storedKernelsFor[S, T](ws).affineRows
	return storingFar(ws, c, func(nt nontemporal) func(w *worker) {
		return eachChannel(ws, c.Output(), func(at, channel, m, n int) {
			affine(&dst[at], &src[at], &factor[channel], &summand[channel], n, n, m, n, nt)
		})
	})
}

// inChannels is a kernel of eachChannel.
func inChannels(ws *workspace, name string, t *bench.Tensor, f func(at, channel, m, n int)) *kernel {
	return elementwise(ws, name, eachChannel(ws, t, f))
}

// eachChannel shares the channels of all images out and lets each worker run f over its
// own: m channels of an image of n elements each, from index at on.
func eachChannel(ws *workspace, t *bench.Tensor, f func(at, channel, m, n int)) func(w *worker) {
	images, channels, spatial := int(t.Dims[0]), int(t.Dims[1]), pixelsOf(t)
	most := max(1, vecCall/spatial) // rows of a call
	work := make([][]tile, len(ws.workers))
	for i, p := range partsOf(ws, images*channels, 1) {
		for lo := p.lo; lo < p.hi; {
			m := min(most, p.hi-lo, channels-lo%channels) // none of the next image
			work[i] = append(work[i], tile{lo, lo % channels, m, spatial})
			lo += m
		}
	}
	return func(w *worker) {
		for _, t := range work[w.id] {
			f(t.i*spatial, t.j, t.m, t.n)
		}
	}
}

// pixelsOf one channel of X[N,C,H,W].
func pixelsOf(t *bench.Tensor) int { return int(t.Dims[2] * t.Dims[3]) }

func repeated[T any](x T, n int) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = x
	}
	return s
}
