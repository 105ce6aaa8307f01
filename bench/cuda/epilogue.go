package cuda

import (
	"fmt"
	"math"
	"slices"

	"hwcal/bench"
	"hwcal/bench/element"
	"hwcal/schema"
)

// epilogue is what a kernel does to its sums before it stores them; see kernels/epilogue.cuh.
type epilogue struct {
	out *bench.Tensor
	// The result is by * sum + plus, each with one number for each column, or nil. Kernels only add `plus`: `by` is
	// folded into the weights.
	by, plus   []float64
	of         []*bench.Tensor // what by and plus are made of
	residual   *bench.Tensor
	scale      *bench.Tensor // of int8
	factor     float64
	activation int
}

// Activations by their numbers in kernels/epilogue.cuh.
var activations = map[string]int{"relu": 1, "gelu": 2, "silu": 3}

// The order in which a kernel does what an operation says.
var epilogueOrder = map[string]int{
	"bias": 1, "channel_bias": 1, "batchnorm": 1, "scale": 2, "add": 3, "relu": 4, "gelu": 4, "silu": 4,
	"requantize": 5, "channel_requantize": 5,
}

// epilogueOf gathers the operations behind a product or a convolution, which has a bias of its own
// or nil.
func (ws *workspace) epilogueOf(first bench.Op, bias *bench.Tensor, then bench.Chain) (epilogue, error) {
	e := epilogue{out: first.Out, factor: 1}
	if bias != nil {
		if err := e.add(ws, bias); err != nil {
			return e, err
		}
	}
	done := 0
	for _, op := range then {
		order := epilogueOrder[op.Name]
		if order < done || order == done && order != 1 || op.In[0] != e.out {
			return e, fmt.Errorf("%s behind %s in one kernel: %w", op.Name, e.out.Name, bench.ErrUnsupported)
		}
		switch op.Name {
		case "bias", "channel_bias":
			if err := e.add(ws, op.In[1]); err != nil {
				return e, err
			}
		case "batchnorm":
			if err := e.fold(ws, op); err != nil {
				return e, err
			}
		case "scale":
			e.factor = op.Params.(bench.ScaleParams).Factor
		case "add":
			e.residual = op.In[1]
		case "requantize", "channel_requantize":
			e.scale, e.factor = op.In[1], op.Params.(bench.RequantizeParams).Factor
		default:
			e.activation = activations[op.Name]
		}
		done, e.out = order, op.Out
	}
	if ws.dtype == schema.INT8 && e.scale == nil && !e.out.Sums {
		return e, fmt.Errorf("the sums of %s are no int8: %w", first.Name, bench.ErrUnsupported)
	}
	return e, nil
}

// add is for a bias.
func (e *epilogue) add(ws *workspace, bias *bench.Tensor) error {
	b, err := ws.parameter(bias)
	if err != nil {
		return err
	}
	if e.plus == nil {
		e.plus = make([]float64, len(b))
	}
	for i := range b {
		e.plus[i] += b[i]
	}
	e.of = append(e.of, bias)
	return nil
}

// fold makes s = gamma / sqrt(variance + eps) a factor of the weights, and (b - mean) s + beta the
// bias, for a batch norm behind bias b.
func (e *epilogue) fold(ws *workspace, op bench.Op) error {
	var p [4][]float64
	for i, t := range op.In[1:] {
		var err error
		if p[i], err = ws.parameter(t); err != nil {
			return err
		}
	}
	gamma, beta, mean, variance := p[0], p[1], p[2], p[3]
	if e.plus == nil {
		e.plus = make([]float64, len(gamma))
	}
	e.by = make([]float64, len(gamma))
	for i := range gamma {
		e.by[i] = gamma[i] / math.Sqrt(variance[i]+op.Params.(bench.BatchNormParams).Eps)
		e.plus[i] = (e.plus[i]-mean[i])*e.by[i] + beta[i]
	}
	e.of = append(e.of, op.In[1:]...)
	return nil
}

// parameter reads what is known before the run.
func (ws *workspace) parameter(t *bench.Tensor) ([]float64, error) {
	if !t.Param {
		return nil, fmt.Errorf("%s is no parameter: %w", t.Name, bench.ErrUnsupported)
	}
	return ws.values(t)
}

// sum is the element in which a type accumulates.
func sum(d schema.DType) element.Element { return element.OfTensor(&bench.Tensor{Sums: true}, d) }

// columns uploads numbers, one for each column, in the type of sums, followed by zeros up to a multiple of
// padding. Without numbers the address is 0.
func (ws *workspace) columns(v []float64, of []*bench.Tensor, form string) (Address, error) {
	if v == nil {
		return 0, nil
	}
	for _, t := range of[1:] {
		form += "," + t.Name
	}
	return ws.packedOnce(packedKey{of[0], form}, func() ([]byte, error) {
		e := sum(ws.dtype)
		mem := make([]byte, padded(int64(len(v)), padding)*e.Bytes)
		for i, x := range v {
			if ws.dtype == schema.INT8 {
				x /= bench.Int8Unit * bench.Int8Unit // which Set multiplies by
			}
			e.Set(mem, int64(i), x)
		}
		return mem, nil
	})
}

// padded rounds up to a multiple.
func padded(n, multiple int64) int64 { return (n + multiple - 1) / multiple * multiple }

// args are those of the parameters EPILOGUE of a kernel.
func (e epilogue) args(ws *workspace) ([]Arg, error) {
	bias, err := ws.columns(e.plus, e.of, "added to sums")
	if err != nil {
		return nil, err
	}
	return []Arg{ws.pointer(e.out), Pointer(bias), ws.optional(e.residual), ws.optional(e.scale),
		ws.scalar(e.factor), Int(e.activation), truth(e.out.Sums)}, nil
}

func (ws *workspace) optional(t *bench.Tensor) Arg {
	if t == nil {
		return Pointer(0)
	}
	return ws.pointer(t)
}

// join is all arguments of a launch.
func join(parts ...[]Arg) []Arg { return slices.Concat(parts...) }
