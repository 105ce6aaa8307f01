package cpu

import (
	"fmt"
	"math"

	"hwcal/bench"
)

// int8: sums are int32 until they are requantized.

func init() { registerNarrow("requantize", nil, ofSums(bindRequantize)) }

// ofSums binds what is done to sums, and not to int8 itself.
func ofSums(bind binder) binder {
	return func(ws *workspace, c bench.Chain) (*kernel, error) {
		if !c[0].In[0].Sums {
			return nil, fmt.Errorf("there is a kernel for int32 sums, and none for int8: %w", bench.ErrUnsupported)
		}
		return bind(ws, c)
	}
}

// finishQuantized adds the bias to the sums and requantizes them, where ReLU is a floor.
func finishQuantized(ws *workspace, c bench.Chain, nr int) finish {
	last := c[len(c)-1]
	floor := float32(noFloor)
	if c[len(c)-2].Name == "relu" {
		floor = 0
	}
	bias, factors := sums(ws, c[1].In[1]), requantizeFactors(ws, last)
	out := as[int8](ws.bytes(last.Out))
	cols := len(factors)
	requantize := sumKernelsFor(ws.isa).requantize
	return func(sums []byte, i0, j0, m, n int) {
		tile, to := as[int32](sums), out[i0*cols+j0:][:(m-1)*cols+n]
		requantize(&to[0], &tile[0], &bias[j0:][:n][0], &factors[j0:][:n][0], cols, nr, m, n, floor)
	}
}

// requantizeFactors are those of the channels, known before the run.
func requantizeFactors(ws *workspace, op bench.Op) []float32 {
	common := op.Params.(bench.RequantizeParams).Factor
	factors := make([]float32, op.In[1].Elems())
	for j, f := range as[float32](ws.bytes(op.In[1])) {
		factors[j] = float32(float64(f) * common)
	}
	return kept(ws, factors)
}

func bindSumBias(ws *workspace, c bench.Chain) (*kernel, error) {
	add := sumKernelsFor(ws.isa).addFloor
	row, src, dst := sums(ws, c[0].In[1]), sums(ws, c[0].In[0]), sums(ws, c.Output())
	width := len(row)
	return inTiles(ws, c[0].Name+"_int32", len(dst), width, func(at, j, m, n int) {
		add(&dst[at], &src[at], &row[j], width, width, m, n, math.MinInt32)
	}), nil
}

func bindSumReLU(ws *workspace, c bench.Chain) (*kernel, error) {
	add, none := sumKernelsFor(ws.isa).addFloorRows, new(int32)
	src, dst := sums(ws, c[0].In[0]), sums(ws, c.Output())
	return inTiles(ws, c[0].Name+"_int32", len(dst), len(dst), func(at, _, m, n int) {
		add(&dst[at], &src[at], none, n, n, m, n, 0)
	}), nil
}

// sums views a tensor as such.
func sums(ws *workspace, t *bench.Tensor) []int32 { return as[int32](ws.bytes(t)) }

func bindRequantize(ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	factors := requantizeFactors(ws, op)
	none := make([]int32, len(factors))
	requantize := sumKernelsFor(ws.isa).requantize
	src, dst := sums(ws, op.In[0]), as[int8](ws.bytes(op.Out))
	width := len(factors)
	return inTiles(ws, nameOf(ws, c), len(dst), width, func(at, j, m, n int) {
		requantize(&dst[at], &src[at], &none[j], &factors[j], width, width, m, n, noFloor)
	}), nil
}
