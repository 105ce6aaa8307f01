package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"hwcal/bench"
	"hwcal/schema"
)

// int8 has sums in place of elements, for what is done to them before they are requantized.
var floatsAndSums = append(slices.Clone(floats), schema.INT8)

func init() {
	for _, chain := range []string{"relu", "add", "bias", "channel_bias"} {
		register(chain, entry{provider: own, dtypes: floatsAndSums, bind: bindElementwise})
	}
	for _, chain := range []string{
		"sub", "mul", "div", "exp", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "scale", "copy",
		"mask", "dropout", "bias+gelu+dropout", "batchnorm",
	} {
		register(chain, entry{provider: own, dtypes: floats, bind: bindElementwise})
	}
	register("set", entry{provider: own, dtypes: floats, bind: bindSet})
	for _, chain := range []string{"requantize", "channel_requantize"} {
		register(chain, entry{provider: own, dtypes: []schema.DType{schema.INT8}, bind: bindRequantize})
	}
}

const elementwiseThreads = 256 // of a block

// bindElementwise is one kernel for all operations of a chain, over the elements as they lie in
// memory.
func bindElementwise(ws *workspace, c bench.Chain) (*kernel, error) {
	x := c[0].In[0]
	if x.Causal {
		return bindCausalScale(ws, c[0])
	}
	name := c.String()
	args := []Arg{ws.pointer(c.Output()), ws.pointer(x)}
	total, period := Long(x.Elems()), int64(0) // of what is added again and again
	switch name {
	case "exp", "tanh": // which are functions of C, too
		name += "_all"
		args = append(args, total)
	case "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "copy":
		args = append(args, total)
	case "add", "sub", "mul", "div":
		args = append(args, ws.pointer(c[0].In[1]), total)
	case "bias", "mask":
		name, period = "add_repeated", c[0].In[1].Elems()
		args = append(args, ws.pointer(c[0].In[1]), total, Int(int(period)))
	case "channel_bias":
		if err := ws.needChannelsLast(x); err != nil {
			return nil, err
		}
		name, period = "add_repeated", x.Dims[1]
		args = append(args, ws.pointer(c[0].In[1]), total, Int(int(period)))
	case "batchnorm":
		if err := errors.Join(ws.needChannelsLast(x), counted(x.Dims[1])); err != nil {
			return nil, err
		}
		lines, err := ws.normLines(c[0])
		if err != nil {
			return nil, err
		}
		channels := x.Dims[1]
		if rows := x.Elems() / channels; channels%int64(ws.vector(x)) == 0 {
			grid := linear(divideUp(rows, 2)*channels, elementwiseThreads, ws.vector(x))
			return ws.ours("elementwise", "affine_rows", grid, append(args, Pointer(lines), Long(rows), Int(int(channels)))...)
		}
		name = "affine_repeated"
		args = append(args, Pointer(lines), total, Int(int(channels)))
	case "scale":
		args = append(args, total, ws.scalar(c[0].Params.(bench.ScaleParams).Factor))
	case "dropout":
		args = append(append(args, total), ws.dropoutArgs(c[0])...)
	case "bias+gelu+dropout":
		name, period = "bias_gelu_dropout", c[0].In[1].Elems()
		args = append(args, ws.pointer(c[0].In[1]), total, Int(int(period)))
		args = append(args, ws.dropoutArgs(c[2])...)
	}
	if err := counted(period); err != nil {
		return nil, err
	}
	grid := linear(x.Elems(), elementwiseThreads, ws.vector(x))
	return ws.ours("elementwise", name, grid, args...)
}

func bindSet(ws *workspace, c bench.Chain) (*kernel, error) {
	y := c[0].Out
	grid := linear(y.Elems(), elementwiseThreads, ws.vector(y))
	return ws.ours("elementwise", "set", grid, ws.pointer(y), Long(y.Elems()), ws.scalar(c[0].Params.(bench.SetParams).Value))
}

// bindCausalScale leaves out what is not seen.
func bindCausalScale(ws *workspace, op bench.Op) (*kernel, error) {
	x := op.In[0]
	if op.Name != "scale" {
		return nil, fmt.Errorf("%s of causal scores: %w", op.Name, bench.ErrUnsupported)
	}
	m, n := x.Dims[len(x.Dims)-2], x.Dims[len(x.Dims)-1]
	if err := counted(m, n); err != nil {
		return nil, err
	}
	grid := Grid{Blocks: [3]int{int(x.Elems() / n)}, Threads: [3]int{128}}
	return ws.ours("elementwise", "scale_causal", grid,
		ws.pointer(op.Out), ws.pointer(x), Int(int(m)), Int(int(n)), ws.scalar(op.Params.(bench.ScaleParams).Factor))
}

// bindRequantize takes sums to int8.
func bindRequantize(ws *workspace, c bench.Chain) (*kernel, error) {
	const each = 16 // elements of a thread
	op, x := c[0], c[0].In[0]
	if op.Name == "channel_requantize" {
		if err := ws.needChannelsLast(x); err != nil {
			return nil, err
		}
	}
	if err := counted(op.In[1].Elems()); err != nil {
		return nil, err
	}
	return ws.ours("elementwise", "requantize", linear(x.Elems(), elementwiseThreads, each),
		ws.pointer(op.Out), ws.pointer(x), ws.pointer(op.In[1]), Long(x.Elems()), Int(int(op.In[1].Elems())),
		Float(op.Params.(bench.RequantizeParams).Factor))
}

// vector is the number of elements of a tensor in 16 bytes.
func (ws *workspace) vector(t *bench.Tensor) int { return int(16 / ws.of(t).element.Bytes) }

// needChannelsLast refuses images whose channels do not come last: one of each channel would
// not be one of each column.
func (ws *workspace) needChannelsLast(x *bench.Tensor) error {
	if ws.of(x).layout != channelsLast {
		return fmt.Errorf("image %s%v with its channels not last: %w", x.Name, x.Dims, bench.ErrUnsupported)
	}
	return nil
}

func (ws *workspace) dropoutArgs(op bench.Op) []Arg {
	p := op.Params.(bench.DropoutParams)
	return []Arg{Arg(p.Seed), Arg(p.Least()), ws.scalar(p.Scale())}
}

// normLines turns statistics into a factor and a summand of each channel, in the type in which is
// computed.
func (ws *workspace) normLines(op bench.Op) (Address, error) {
	return ws.packedOnce(packedKey{op.In[1], "lines"}, func() ([]byte, error) {
		var values [4][]float64 // gamma, beta, mean, variance
		for i, t := range op.In[1:] {
			var err error
			if values[i], err = ws.values(t); err != nil {
				return nil, err
			}
		}
		var mem []byte
		for i, gamma := range values[0] {
			factor := gamma / math.Sqrt(values[3][i]+op.Params.(bench.BatchNormParams).Eps)
			for _, v := range []float64{factor, values[1][i] - values[2][i]*factor} {
				if ws.dtype == schema.FP64 {
					mem = binary.NativeEndian.AppendUint64(mem, math.Float64bits(v))
				} else {
					mem = binary.NativeEndian.AppendUint32(mem, math.Float32bits(float32(v)))
				}
			}
		}
		return mem, nil
	})
}
