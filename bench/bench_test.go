package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hwcal/schema"
)

// The reductions of traffic that the shapes of the field's own documents give.
func TestMemoryReduction(t *testing.T) {
	for _, c := range []struct{ pattern, shape, want string }{
		{"Linear_Bias", "512x1024x1024", "33.3%"},
		{"Linear_Bias_ReLU", "512x1024x1024", "50.0%"},
		{"Linear_Bias_GELU", "512x1024x1024", "50.0%"},
		{"Conv2d_BatchNorm", "4x128x28x28x128x3x1x1x1", "45.8%"},
		{"Conv2d_BatchNorm_ReLU", "4x128x28x28x128x3x1x1x1", "62.8%"},
		{"QK_T", "4x1x256x64", "57.1%"},
		{"QK_T_Softmax", "4x1x256x64", "72.7%"},
		{"Full_Attention", "4x1x256x64", "85.7%"},
		{"Bias_GELU_Dropout", "512x1024", "66.6%"},
		{"Residual_LayerNorm", "512x1024", "40.0%"},
		{"Full_Attention", "4x8x256x64", "85.7%"},
		// 6 times 136 scores and 4 times 16x8 inputs and outputs, or the latter alone.
		{"Causal_Attention", "1x1x16x16x8", "61.4%"},
		// Fused: 4x1x8 of Q and of O, 1x16x8 of K and of V; besides 6 times 4x16 scores.
		{"Decode_Attention", "1x4x1x16x8", "54.5%"},
	} {
		_, chain := build(t, c.pattern, c.shape)
		got := fmt.Sprintf("%.1f%%", 100*(1-float64(chain.FusedBytes(schema.FP32))/float64(chain.UnfusedBytes(schema.FP32))))
		if got != c.want {
			t.Errorf("%s %s: %s less traffic, want %s", c.pattern, c.shape, got, c.want)
		}
	}
}

func build(t *testing.T, name, shape string) (Shape, Chain) {
	t.Helper()
	p, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseShape(shape, p.Dims)
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Build(s, Place{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// The FLOP of the method's table.
func TestFLOP(t *testing.T) {
	for _, c := range []struct {
		pattern, shape string
		want           int64
	}{
		{"matmul", "3x5x7", 2 * 3 * 5 * 7},
		{"Linear_Bias", "3x5x7", 2*3*5*7 + 3*5},
		{"Linear_Bias_GELU", "3x5x7", 2*3*5*7 + 3*5 + 5*3*5},
		{"Linear_Bias_SiLU", "3x5x7", 2*3*5*7 + 3*5 + 4*3*5},
		{"Linear_Bias_Residual", "3x5x7", 2*3*5*7 + 3*5 + 3*5},
		{"Linear_Bias_GELU_Linear", "3x5x7", 4*3*5*7 + 3*5 + 5*3*5},
		{"SwiGLU", "3x5x7", 4*3*5*7 + 4*3*5 + 3*5},
		{"Linear_LayerNorm", "3x5x7", 2*3*5*7 + 7*3*5},
		{"Conv2d_ReLU", "2x8x10x12x6x3x2x1x2", 2 * 2 * 6 * 5 * 6 * 8 * 3 * 3 / 2},
		{"Conv2d_BatchNorm", "1x4x4x4x8x1x1x0x1", 2*8*4*4*4 + 2*8*4*4},
		{"QK_T", "2x3x5x7", 2*2*3*5*5*7 + 2*3*5*5},
		{"Bias_GELU_Dropout", "3x5", (1 + 5 + 1) * 3 * 5},
		{"Residual_LayerNorm", "3x5", (1 + 7) * 3 * 5},
		{"Softmax_Mask", "2x3x5", (1 + 5) * 2 * 3 * 5},
		{"Full_Attention", "2x3x5x7", 4*2*3*5*5*7 + 6*2*3*5*5},
		// Query i of 5 sees i + 5 of 9 keys: 35 scores.
		{"Causal_Attention", "2x3x5x9x7", 2 * 3 * 35 * (4*7 + 6)},
		{"Grouped_Query_Attention", "2x6x3x5x5x7", 2 * 6 * 15 * (4*7 + 6)},
		{"Decode_Attention", "2x6x3x9x7", 2 * 6 * 9 * (4*7 + 6)},
	} {
		if _, chain := build(t, c.pattern, c.shape); chain.FLOP() != c.want {
			t.Errorf("%s %s: %d FLOP, want %d", c.pattern, c.shape, chain.FLOP(), c.want)
		}
	}
}

// The FLOP of a convolution that are on padding.
func TestPaddingFLOP(t *testing.T) {
	for shape, want := range map[string]int64{
		"1x4x7x7x8x3x1x1x1":     2 * 8 * 4 * (21*21 - 19*19), // of 21 rows or columns of taps, 2 lie outside
		"1x4x7x7x8x3x1x0x1":     0,
		"2x8x10x12x6x3x2x1x2":   2 * 2 * 6 * 4 * (15*18 - 14*17), // the right and the lower border are not reached
		"1x1x2x2x1x3x1x3x1":     2 * (18*18 - 6*6),               // windows wholly in the padding
		"1x3x224x224x2x7x2x3x1": 2 * 2 * 3 * (784*784 - 778*778), // 3 and 1 above, 2 below
	} {
		if _, chain := build(t, "Conv2d_BatchNorm", shape); chain.PaddingFLOP() != want {
			t.Errorf("%s: %d FLOP on padding, want %d", shape, chain.PaddingFLOP(), want)
		}
	}
}

func TestParseShape(t *testing.T) {
	names := []string{"m", "n", "k"}
	for _, text := range []string{"1x2x3", "m=1,n=2,k=3", "k=3 n=2 m=1"} {
		s, err := ParseShape(text, names)
		if err != nil || s.String() != "m=1 n=2 k=3" {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "1x2", "1x2x3x4", "axbxc", "m=1,n=2", "m=1,m=2,n=3,k=4", "m=1,n=2,k=3,z=4", "m=-1,n=2,k=3", "m=99999999999999999999,n=2,k=3", "1x2x"} {
		if s, err := ParseShape(text, names); err == nil {
			t.Errorf("%q: no error but %v", text, s)
		}
	}
}

func TestBuildRefusesShapes(t *testing.T) {
	for _, c := range []struct{ pattern, shape string }{
		{"matmul", "0x1x1"},
		{"matmul", "1099511627776x1099511627776x2"},
		{"Conv2d_ReLU", "1x3x8x8x4x3x1x1x2"}, // groups do not divide the channels
		{"Conv2d_ReLU", "1x4x2x2x4x5x1x0x1"}, // kernel larger than the image
		{"Conv2d_ReLU", "1x1x32x32x1x1x1x1099511627776x1"},
		{"conv2d", "1x1x131072x131072x1x65536x1x0x1"}, // more FLOP than 2^64
		{"max_pool", "1x1x131072x131072x65536x1x0"},
		{"max_pool", "1x1x1099511627776x32x1x1x0"},
		{"max_pool", "1x1x8x8x0x1x0"},
		{"max_pool", "1x1x8x8x2x0x0"},
		{"max_pool", "1x1x8x8x3x1x2"}, // a window of padding alone
		{"max_pool", "1x1x8x4x5x1x0"},
		{"Causal_Attention", "1x1x4294967296x4294967296x1"}, // the product of both is 0 in 64 bits
		{"Causal_Attention", "1x4x9x8x16"},                  // the first query would see no key
		{"Grouped_Query_Attention", "1x4x3x8x8x16"},
		{"Decode_Attention", "1x4x8x8x16"},
	} {
		p, err := Lookup(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseShape(c.shape, p.Dims)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Build(s, Place{Threads: 1}); err == nil {
			t.Errorf("%s %s: no error", c.pattern, c.shape)
		}
	}
}

// What is as large as its padded image has an output of one pixel.
func TestSmallestImages(t *testing.T) {
	for _, c := range []struct {
		pattern, shape string
		want           []int64 // shape of the output
	}{
		{"Conv2d_ReLU", "1x4x3x5x4x5x1x1x1", []int64{1, 4, 1, 3}},
		{"Conv2d_ReLU", "1x4x5x3x4x5x1x1x1", []int64{1, 4, 3, 1}},
		{"max_pool", "1x4x3x5x5x1x1", []int64{1, 4, 1, 3}},
		{"max_pool", "1x4x5x3x5x1x1", []int64{1, 4, 3, 1}},
		{"max_pool", "1x4x7x9x3x2x0", []int64{1, 4, 3, 4}},
	} {
		if _, chain := build(t, c.pattern, c.shape); !slices.Equal(chain.Output().Dims, c.want) {
			t.Errorf("%s %s: %v, want %v", c.pattern, c.shape, chain.Output().Dims, c.want)
		}
	}
}

func TestSelect(t *testing.T) {
	for words, want := range map[string]int{"all": 26, "none": 0, "network": 3, "elementwise": 3, "linear": 8, "linear,QK_T": 9, "attention,conv": 12, "linear,Linear_Bias": 8, "linear_bias_relu": 1} {
		if ps, err := Select(strings.Split(words, ",")); err != nil || len(ps) != want {
			t.Errorf("%s: %d patterns, %v, want %d", words, len(ps), err, want)
		}
	}
	for _, words := range []string{"matmul", "Linear_Bais", "none,linear", ""} {
		if ps, err := Select(strings.Split(words, ",")); err == nil {
			t.Errorf("%q: no error but %d patterns", words, len(ps))
		}
	}
}

func TestInside(t *testing.T) {
	for _, c := range []struct{ size, taps, stride, pad int64 }{{1, 1, 1, 0}, {5, 3, 1, 1}, {9, 3, 2, 1}, {8, 5, 3, 2}, {4, 1, 2, 3}, {3, 7, 1, 4}, {2, 2, 5, 9}} {
		outputs, want := (c.size+2*c.pad-c.taps)/c.stride+1, int64(0)
		for i := range outputs {
			for tap := range c.taps {
				if at := i*c.stride - c.pad + tap; at >= 0 && at < c.size {
					want++
				}
			}
		}
		if got := (Conv2dParams{Stride: c.stride, Pad: c.pad}).Inside(c.size, c.taps, outputs); got != want {
			t.Errorf("%+v: %d, want %d", c, got, want)
		}
	}
}
