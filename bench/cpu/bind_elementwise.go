package cpu

import (
	"fmt"
	"math"
	"unsafe"

	"hwcal/bench"
)

func init() {
	for _, chain := range []string{
		"add", "sub", "mul", "div", "bias", "mask", "exp", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh",
		"dropout", "copy", "set", "bias+gelu+dropout",
	} {
		register(chain, bindElementwise[float32], bindElementwise[float64])
	}
	register("scale", bindScale[float32], bindScale[float64])
	register("channel_bias", bindChannelBias[float32], bindChannelBias[float64])
	register("batchnorm", bindBatchNorm[float32], bindBatchNorm[float64])
}

// bindScale scales all elements, or of causal scores those that are seen.
func bindScale[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	if c.Output().Causal {
		return bindCausalScale[T](ws, c[0])
	}
	return bindElementwise[T](ws, c)
}

// elementwise is a chain of operations of which each worker runs its part.
func elementwise(ws *workspace, chain string, body func(w *worker)) *kernel {
	return &kernel{name: fmt.Sprintf("vec_%s_%s", chain, ws.isa), body: body}
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

// bindElementwise runs the first step from the input to the output, and those that
// follow in place, on tiles that stay in L1 between.
func bindElementwise[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	steps, err := newSteps[T](ws, c)
	if err != nil {
		return nil, err
	}
	dst := data[T](ws, c.Output())
	src := dst // an operation without input reads nothing
	if len(c[0].In) > 0 {
		src = data[T](ws, c[0].In[0])
	}
	width, limit := widthOf(c.Output()), len(dst)
	if len(steps) > 1 {
		limit = orElse(ws.caches.L1, typicalCaches.L1) / 2 / int(unsafe.Sizeof(T(0)))
	}
	work := tilesOf(ws, len(dst), width, limit)
	body := func(steps []step[T]) func(w *worker) {
		return func(w *worker) {
			for _, t := range work[w.id] {
				to, from := dst[t.i*width+t.j:], src[t.i*width+t.j:]
				for _, s := range steps {
					s(to, width, from, width, t.i, t.j, t.m, t.n)
					from = to
				}
			}
		}
	}
	if len(steps) > 1 {
		return elementwise(ws, c.String(), body(steps)), nil
	}
	past, err := stepsStoring[T](ws, c, true)
	if err != nil {
		return nil, err
	}
	return storing(ws, c, func(nt bool) func(w *worker) {
		if nt {
			return body(past)
		}
		return body(steps)
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

// inTiles lets each worker run f over its part of rows of the given width: on m x n
// elements, from index at and column j on, few enough for a call that the collector
// cannot interrupt.
func inTiles(ws *workspace, chain string, elems, width int, f func(at, j, m, n int)) *kernel {
	work := tilesOf(ws, elems, width, vecCall)
	return elementwise(ws, chain, func(w *worker) {
		for _, t := range work[w.id] {
			f(t.i*width+t.j, t.j, t.m, t.n)
		}
	})
}

func bindBatchNorm[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	factor, summand := normFactors[T](ws, c[0])
	return perChannel(ws, c, factor, summand), nil
}

// normFactors turns the statistics into a factor and a summand a channel.
func normFactors[T float](ws *workspace, op bench.Op) (factor, summand []T) {
	gamma, beta := data[T](ws, op.In[1]), data[T](ws, op.In[2])
	mean, variance := data[T](ws, op.In[3]), data[T](ws, op.In[4])
	factor, summand = make([]T, len(gamma)), make([]T, len(gamma))
	for i := range factor {
		s := float64(gamma[i]) / math.Sqrt(float64(variance[i])+op.Params.(bench.BatchNormParams).Eps)
		factor[i], summand[i] = T(s), T(float64(beta[i])-float64(mean[i])*s)
	}
	return factor, summand
}

// bindChannelBias adds a constant to each channel.
func bindChannelBias[T float](ws *workspace, c bench.Chain) (*kernel, error) {
	bias := data[T](ws, c[0].In[1])
	return perChannel(ws, c, repeated[T](1, len(bias)), bias), nil
}

// perChannel writes factor x + summand, with one of each a channel.
func perChannel[T float](ws *workspace, c bench.Chain, factor, summand []T) *kernel {
	src, dst := data[T](ws, c[0].In[0]), data[T](ws, c.Output())
	affine := vecKernelsFor[T](ws.isa).affineRows
	return storing(ws, c, func(nt bool) func(w *worker) {
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
	parts := partsOf(ws, images*channels, 1)
	return func(w *worker) {
		p := parts[w.id]
		for first := p.lo / channels * channels; first < p.hi; first += channels {
			// The channels of an image.
			for i := max(first, p.lo); i < min(first+channels, p.hi); {
				m := min(most, min(first+channels, p.hi)-i)
				f(i*spatial, i-first, m, spatial)
				i += m
			}
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
