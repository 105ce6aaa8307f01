package cuda

import (
	"fmt"
	"math"
	"strings"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

func init() {
	register("conv2d", entry{provider: own, dtypes: products, least: tensorCores, bind: bindConv})
	for _, chain := range []string{"conv2d+channel_bias", "conv2d+relu",
		"conv2d+batchnorm", "conv2d+batchnorm+relu", "conv2d+batchnorm+add+relu"} {
		register(chain, entry{provider: own, dtypes: floats, least: tensorCores, bind: bindConv})
	}
	for _, chain := range []string{"conv2d+channel_bias+channel_requantize", "conv2d+relu+channel_requantize"} {
		register(chain, entry{provider: own, dtypes: []schema.DType{schema.INT8}, least: tensorCores, bind: bindConv})
	}
	register("conv2d+relu+conv2d", entry{provider: own, dtypes: floats, least: tensorCores, bind: bindSeparable})
}

// convolution is one with what follows it.
type convolution struct {
	bench.Conv2dParams
	x, w, y []int64 // dimensions of X, of the filters and of Y
	epilogue
}

func (ws *workspace) convolutionOf(op bench.Op, then bench.Chain) (convolution, error) {
	c := convolution{Conv2dParams: op.Params.(bench.Conv2dParams), x: op.In[0].Dims, w: op.In[1].Dims, y: op.Out.Dims}
	for _, d := range [][]int64{c.x, c.y} {
		if d[1]*d[2]*d[3] > math.MaxInt32 {
			return c, fmt.Errorf("an image of %dx%dx%d: %w", d[1], d[2], d[3], bench.ErrUnsupported)
		}
	}
	var bias *bench.Tensor
	if len(op.In) > 2 {
		bias = op.In[2]
	}
	var err error
	c.epilogue, err = ws.epilogueOf(op, bias, then)
	return c, err
}

// depthwise convolutions have one filter for each channel.
func (c convolution) depthwise() bool { return c.Groups == c.x[1] && c.w[0] == c.x[1] && c.Groups > 1 }

// shape is that of the product which a convolution is: a row for each pixel of Y, a column for
// each filter.
func (c convolution) shape() gemmShape {
	return gemmShape{
		batch: 1, m: c.y[0] * c.y[2] * c.y[3], n: c.w[0], k: c.w[1] * c.w[2] * c.w[3], operands: 1, byRows: true, channels: c.w[1],
	}
}

// geometry are the arguments of the parameters GEOMETRY of a kernel.
func (c convolution) geometry() []Arg {
	return []Arg{Int(int(c.x[2])), Int(int(c.x[3])), Int(int(c.x[1])), Int(int(c.y[2])), Int(int(c.y[3])),
		Int(int(c.w[2])), Int(int(c.w[3])), Int(int(c.Stride)), Int(int(c.Pad))}
}

// bindConv is for a convolution and what is done to each of its elements. Batch norm is folded
// into it.
func bindConv(ws *workspace, chain bench.Chain) (*kernel, error) {
	op := chain[0]
	c, err := ws.convolutionOf(op, chain[1:])
	if err != nil {
		return nil, err
	}
	if c.Groups != 1 && !c.depthwise() {
		return nil, fmt.Errorf("%d groups of %d channels and %d filters: %w", c.Groups, c.x[1], c.w[0], bench.ErrUnsupported)
	}
	filters, err := ws.filters(op.In[1], c)
	if err != nil {
		return nil, err
	}
	x := ws.pointer(op.In[0])
	if !c.depthwise() {
		return ws.multiply("conv", "conv2d", c.shape(), x, Pointer(filters), c.epilogue, c.geometry()...)
	}
	return ws.bindDepthwise(c, x, Pointer(filters))
}

// bindDepthwise is the kernel of kernels/depthwise.cu.
func (ws *workspace) bindDepthwise(c convolution, x, filters Arg) (*kernel, error) {
	const (
		pixels   = 4 // of a thread, along q
		channels = 8
		threads  = 256
	)
	args, err := c.args(ws)
	if err != nil {
		return nil, err
	}
	name := "conv2d_depthwise"
	if c.x[1]%channels != 0 {
		name += "_ragged"
	}
	if err := counted(c.y[0] * c.y[2] * c.y[3]); err != nil {
		return nil, err
	}
	n := c.y[0] * c.y[2] * ((c.y[3] + pixels - 1) / pixels) * ((c.x[1] + channels - 1) / channels)
	return ws.ours("depthwise", name, linear(n, threads, 1), join([]Arg{x, filters, Int(int(c.x[0]))}, c.geometry(), args)...)
}

// filters are those of a convolution as its kernel wants them: with what is folded into them,
// and of a depthwise one as [r,s,c].
func (ws *workspace) filters(w *bench.Tensor, c convolution) (Address, error) {
	t := ws.of(w)
	if c.by == nil && !c.depthwise() {
		return t.address, nil
	}
	form := []string{"filters"}
	if c.depthwise() {
		form = append(form, "depthwise")
	}
	if c.by != nil {
		for _, t := range c.of {
			form = append(form, t.Name)
		}
	}
	return ws.packedOnce(packedKey{w, strings.Join(form, ",")}, func() ([]byte, error) {
		v, err := ws.parameter(w)
		if err != nil {
			return nil, err
		}
		each, taps := t.Elems()/w.Dims[0], w.Dims[2]*w.Dims[3]
		mem := make([]byte, t.bytes())
		for i := range int64(len(v)) {
			x, filter, to := v[i], i/each, t.at(i)
			if c.by != nil {
				x *= c.by[filter]
			}
			if c.depthwise() {
				to = i%taps*w.Dims[0] + filter
			}
			ws.set(t.element, mem, to, x)
		}
		return mem, nil
	})
}

// set writes a value that was read from the device.
func (ws *workspace) set(e element.Element, mem []byte, i int64, v float64) {
	if ws.dtype == schema.INT8 {
		v /= bench.Int8Unit // which Set multiplies by
	}
	e.Set(mem, i, v)
}

// bindSeparable is for a depthwise convolution, max(x, 0) and a convolution of 1x1.
func bindSeparable(ws *workspace, chain bench.Chain) (*kernel, error) {
	first, err := ws.convolutionOf(chain[0], chain[1:2])
	if err != nil {
		return nil, err
	}
	second, err := ws.convolutionOf(chain[2], nil)
	if err != nil {
		return nil, err
	}
	pointwise := second.w[2]*second.w[3] == 1 && second.Conv2dParams == bench.Conv2dParams{Stride: 1, Pad: 0, Groups: 1}
	if chain[2].In[0] != chain[1].Out || !first.depthwise() || !pointwise {
		return nil, fmt.Errorf("a convolution behind one that is no depthwise and pointwise one: %w", bench.ErrUnsupported)
	}
	filters, err := ws.filters(chain[0].In[1], first)
	if err != nil {
		return nil, err
	}
	if first.plus == nil {
		first.plus, first.of = make([]float64, first.x[1]), []*bench.Tensor{chain[0].In[1]}
	}
	between, err := ws.columns(first.plus, first.of, "added between")
	if err != nil {
		return nil, err
	}
	return ws.multiply("conv", "separable", second.shape(),
		ws.pointer(chain[0].In[0]), ws.pointer(chain[2].In[1]), second.epilogue,
		join(first.geometry(), []Arg{Pointer(filters), Pointer(between), Int(first.activation)})...)
}
