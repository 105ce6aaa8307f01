//go:build linux

package main

import (
	"fmt"
	"strconv"
	"strings"

	"hwcal/bench"
	"hwcal/schema"
)

// testCase is one thing that we and the peers compute.
type testCase struct {
	group string // cases of a group are printed together
	kind  string // what the peers are asked for
	dtype schema.DType
	shape string // as the peers read it
	chain bench.Chain
	work  float64 // FLOP of one execution
}

func (c testCase) String() string { return fmt.Sprintf("%s %s %s", c.kind, c.dtype, c.shape) }

// matmulShapes: squares, among them one that no tile divides; layers with many,
// few and one row; a narrow one.
var matmulShapes = []string{
	"256x256x256", "512x512x512", "1024x1024x1024", "2048x2048x2048", "4096x4096x4096",
	"512x1024x1024", "32x4096x4096", "8x4096x4096", "1x4096x4096", "4096x32x4096",
	"1023x1023x1023", "1000x999x1001",
}

// convShapes are layers of ResNet-50: 3x3 of each stage, at batch 1 and 4, and the
// 1x1 that widen and narrow.
var convShapes = []string{
	"1x64x56x56x64x3x1x1x1", "1x128x28x28x128x3x1x1x1", "4x128x28x28x128x3x1x1x1", "1x256x14x14x256x3x1x1x1", "1x512x7x7x512x3x1x1x1",
	"1x64x56x56x256x1x1x0x1", "1x256x56x56x64x1x1x0x1", "1x512x28x28x128x1x1x0x1",
}

var attentionShapes = []string{"4x8x256x64", "1x12x512x64", "1x4x2048x128"}

// plan lists the cases for a number of threads.
func plan(threads int) ([]testCase, error) {
	var all []testCase
	for _, p := range []struct {
		pattern string
		ops     int // of its chain; 0 for all
		kind    string
		shapes  []string
		dtypes  []schema.DType
	}{
		{"matmul", 0, "matmul", matmulShapes, []schema.DType{schema.FP32, schema.FP64}},
		{"matmul", 0, "matmul_packed", matmulShapes, []schema.DType{schema.FP32}},
		{"Conv2d_ReLU", 0, "conv_relu", convShapes, []schema.DType{schema.FP32}},
		{"Conv2d_ReLU", 1, "conv", convShapes, []schema.DType{schema.FP32}},
		{"Full_Attention", 0, "attention", attentionShapes, []schema.DType{schema.FP32}},
	} {
		pattern, err := bench.Lookup(p.pattern)
		if err != nil {
			return nil, err
		}
		for _, d := range p.dtypes {
			for _, text := range p.shapes {
				shape, err := bench.ParseShape(text, pattern.Dims)
				if err != nil {
					return nil, err
				}
				chain, err := pattern.Build(shape, threads)
				if err != nil {
					return nil, err
				}
				if p.ops > 0 {
					chain = chain[:p.ops]
				}
				all = append(all, testCase{p.kind, p.kind, d, text, chain, float64(chain.FLOP())})
			}
		}
	}
	return all, nil
}

// parseDims reads the dimensions of a case, "512x1024x1024".
func parseDims(text string) ([]int, error) {
	var dims []int
	for word := range strings.SplitSeq(text, "x") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("dimensions %q: %w", text, err)
		}
		dims = append(dims, n)
	}
	return dims, nil
}
