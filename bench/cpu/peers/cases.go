//go:build linux

package main

import (
	"fmt"
	"strconv"
	"strings"

	"hwcal/bench"
	"hwcal/bench/cpu"
	"hwcal/schema"
)

// testCase is one thing that we and the peers do.
type testCase struct {
	group string // cases of a group are printed together
	name  string // in its group
	dtype schema.DType
	chain bench.Chain // ours, fused if it has several operations
	isa   cpu.ISA     // of our kernel, if not the best
	work  float64     // FLOP or bytes of one execution

	kind string // what the peers are asked for
	dims string // as they read them
	// shared cases work on inputs that the peers get from us, and their results
	// are held against ours. The others show only how fast a machine can be driven.
	shared  bool
	pattern bench.Pattern // that the chain is of; that of a network has parts
	// random results differ from peer to peer.
	random bool
}

func (c testCase) String() string { return fmt.Sprintf("%s %s %s", c.group, c.dtype, c.name) }

// matmulShapes: squares; layers with many, few and one row; a narrow one; sizes that
// no tile divides.
var matmulShapes = []string{
	"4096x4096x4096", "2048x2048x2048", "1024x1024x1024", "512x512x512", "256x256x256",
	"512x1024x1024", "32x4096x4096", "8x4096x4096", "1x4096x4096", "4096x32x4096",
	"1023x1023x1023", "1000x999x1001",
}

// batchedShapes: small squares, and the weighted values of attention at 512 and 1024 tokens.
var batchedShapes = []string{"64x128x128x128", "64x64x64x64", "64x32x32x32", "256x16x16x16", "12x512x64x512", "8x1024x64x1024"}

// convShapes are layers of ResNet-50: the stem; of each stage the 3x3, the 1x1 that
// narrows and the one that widens, some at batch 4; strided ones.
var convShapes = []string{
	"1x3x224x224x64x7x2x3x1",
	"1x64x56x56x64x3x1x1x1", "1x128x28x28x128x3x1x1x1", "4x128x28x28x128x3x1x1x1", "1x256x14x14x256x3x1x1x1", "1x512x7x7x512x3x1x1x1", "4x512x7x7x512x3x1x1x1",
	"1x128x56x56x128x3x2x1x1", "4x256x28x28x256x3x2x1x1", "1x256x56x56x512x1x2x0x1",
	"1x64x56x56x64x1x1x0x1", "1x256x56x56x64x1x1x0x1", "1x64x56x56x256x1x1x0x1", "4x64x56x56x256x1x1x0x1",
	"1x512x28x28x128x1x1x0x1", "1x1024x14x14x256x1x1x0x1", "4x256x14x14x1024x1x1x0x1", "1x512x7x7x2048x1x1x0x1",
}

// depthwiseShapes are those of MobileNet.
var depthwiseShapes = []string{
	"1x32x112x112x32x3x1x1x32", "1x64x112x112x64x3x2x1x64", "1x128x56x56x128x3x1x1x128", "4x256x28x28x256x3x1x1x256",
	"1x512x14x14x512x3x1x1x512", "4x512x14x14x512x3x2x1x512", "1x1024x7x7x1024x3x1x1x1024",
}

var (
	attentionShapes = []string{"4x8x256x64", "1x12x512x64", "1x4x2048x128"}
	causalShapes    = []string{"4x8x256x256x64", "1x12x512x512x64", "1x8x1024x1024x128"}
	imageShapes     = []string{"1x224x224", "4x224x224"}
	encoderShapes   = []string{"1x128x12", "1x384x12"}
	decodeShapes    = []string{"1x32x32x512x128", "1x32x32x2048x128", "8x32x32x512x128"}
)

// plan lists the cases for a number of threads.
func plan(threads int) ([]testCase, error) {
	all, err := peakCases(threads)
	if err != nil {
		return nil, err
	}
	all = append(all, streamCases(threads)...)
	operations, err := operationCases(threads)
	if err != nil {
		return nil, err
	}
	all = append(all, operations...)
	for _, p := range []struct {
		group, pattern string
		ops            int // of its chain; 0 for all
		shapes         []string
		dtypes         []schema.DType
	}{
		{"matmul", "matmul", 0, matmulShapes, []schema.DType{schema.FP32, schema.FP64, schema.BF16}},
		{"matmul_packed", "matmul_packed", 0, matmulShapes, []schema.DType{schema.FP32, schema.BF16, schema.INT8}},
		{"matmul_batched", "matmul_batched", 0, batchedShapes, []schema.DType{schema.FP32, schema.BF16, schema.INT8}},
		{"conv_relu", "Conv2d_ReLU", 0, convShapes, []schema.DType{schema.FP32, schema.BF16}},
		{"conv", "Conv2d_ReLU", 1, convShapes, []schema.DType{schema.FP32, schema.BF16}},
		{"conv", "Conv2d_ReLU", 1, depthwiseShapes, []schema.DType{schema.FP32}},
		{"attention", "Full_Attention", 0, attentionShapes, []schema.DType{schema.FP32}},
		{"attention_causal", "Causal_Attention", 0, causalShapes, []schema.DType{schema.FP32}},
		{"attention_decode", "Decode_Attention", 0, decodeShapes, []schema.DType{schema.FP32}},
		{"network_mobilenet", "MobileNet", 0, imageShapes, []schema.DType{schema.FP32}},
		{"network_resnet50", "ResNet50", 0, imageShapes, []schema.DType{schema.FP32}},
		{"network_bert_encoder", "BERT_Encoder", 0, encoderShapes, []schema.DType{schema.FP32}},
	} {
		pattern, err := bench.Lookup(p.pattern)
		if err != nil {
			return nil, err
		}
		for _, d := range p.dtypes {
			for _, dims := range p.shapes {
				chain, err := chainOf(pattern, dims, threads)
				if err != nil {
					return nil, err
				}
				if p.ops > 0 {
					chain = chain[:p.ops]
				}
				all = append(all, testCase{
					group: p.group, name: dims, dtype: d, chain: chain, work: float64(chain.FLOP()),
					kind: p.group, dims: dims, shared: true, pattern: pattern,
				})
			}
		}
	}
	return all, nil
}

// peakCases are the register peaks of the instruction sets that have assembly.
func peakCases(threads int) ([]testCase, error) {
	isas, err := cpu.ISAs()
	if err != nil {
		return nil, err
	}
	var all []testCase
	for _, isa := range isas {
		if isa == cpu.Portable {
			continue
		}
		for _, d := range []schema.DType{schema.FP32, schema.FP64} {
			op := registerPeak(threads)
			all = append(all, testCase{
				group: "peak", name: string(isa), dtype: d, chain: bench.Chain{op}, isa: isa, work: float64(op.FLOP),
				kind: "peak_" + string(isa), dims: fmt.Sprint(op.FLOP / int64(threads)),
			})
		}
	}
	return all, nil
}

// registerPeak makes one execution a fraction of a millisecond.
func registerPeak(threads int) bench.Op { return bench.PeakFMA(64, int64(threads)) }

// streamBytes of each array and thread are far more than any cache holds.
const streamBytes = 256 << 20

// streamCases hold each of our kernels against the one in C that stores in the same way: what
// "copy_nt4" does is "copy_nt".
func streamCases(threads int) []testCase {
	arrays := bench.NewStreamArrays(int64(threads)*streamBytes/schema.FP64.Bytes(), int64(threads))
	var all []testCase
	for _, s := range bench.Streams {
		all = append(all, testCase{
			group: "stream", name: s.Name, dtype: schema.FP64, chain: bench.Chain{s.Op(arrays)}, work: float64(s.Traffic(arrays)),
			kind: strings.TrimRight(s.Name, "0123456789"), dims: fmt.Sprint(int64(threads) * streamBytes / schema.FP64.Bytes()),
		})
	}
	return all
}

// chainOf builds a pattern on dimensions as text, "512x1024x1024".
func chainOf(pattern bench.Pattern, dims string, threads int) (bench.Chain, error) {
	shape, err := bench.ParseShape(dims, pattern.Dims)
	if err != nil {
		return nil, err
	}
	return pattern.Build(shape, bench.Place{Threads: threads})
}

// operationShapes are activations of 1 to 64 MiB.
var operationShapes = []string{"16x256x64", "64x1024x64", "16x2048x128", "128x256x256", "32x512x768", "16x256x4096"}

// poolShapes are those of ResNet-50.
var poolShapes = map[string][]string{"max_pool": {"1x64x112x112x3x2x1"}, "global_average_pool": {"1x2048x7x7"}}

// operationCases are the single operations, in bytes a second.
func operationCases(threads int) ([]testCase, error) {
	var all []testCase
	for _, d := range []schema.DType{schema.FP32, schema.BF16} {
		for _, pattern := range bench.Singles() {
			if pattern.Name == "conv2d" {
				continue // which has cases of its own
			}
			shapes, own := poolShapes[pattern.Name]
			if !own {
				shapes = operationShapes
			}
			for _, dims := range shapes {
				chain, err := chainOf(pattern, dims, threads)
				if err != nil {
					return nil, err
				}
				all = append(all, testCase{
					group: "op", name: pattern.Name + " " + dims, dtype: d, chain: chain,
					work: float64(chain.FusedBytes(d)), kind: "op_" + pattern.Name, dims: dims,
					shared: true, random: pattern.Name == "dropout",
				})
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
