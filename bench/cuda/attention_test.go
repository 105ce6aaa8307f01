package cuda

import (
	"errors"
	"strings"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// attentionChain builds a pattern of attention.
func attentionChain(t *testing.T, pattern string, dims ...int64) bench.Chain {
	t.Helper()
	p, err := bench.Lookup(pattern)
	if err != nil {
		t.Fatal(err)
	}
	s := make(bench.Shape, len(p.Dims))
	for i, name := range p.Dims {
		s[i] = bench.Dim{Name: name, N: dims[i]}
	}
	c, err := p.Build(s, bench.Place{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Sizes straddle the tiles of queries and keys, and rows end within 16 bytes or not.
func TestAttention(t *testing.T) {
	for _, d := range floats {
		t.Run(string(d), func(t *testing.T) {
			b := newEmulated(t, Capability{9, 0})
			verifyAttention(t, b, d)
			b.sms = 100
			verifyDividedAttention(t, b, d)
		})
	}
}

func verifyAttention(t *testing.T, b *Backend, d schema.DType) {
	for _, s := range []struct {
		pattern string
		dims    [][]int64
	}{
		{"QK_T", [][]int64{{1, 3, 65, 40}, {2, 1, 17, 23}, {1, 1, 33, 160}, {1, 4, 129, 72}}},
		{"QK_T_Softmax", [][]int64{{1, 3, 65, 40}, {2, 1, 17, 23}, {1, 1, 33, 160}, {1, 4, 129, 72}}},
		{"Full_Attention", [][]int64{{1, 3, 65, 40}, {2, 1, 17, 23}, {1, 1, 33, 160}, {1, 4, 129, 72}}},
		{"Grouped_Query_Attention", [][]int64{
			{1, 2, 1, 70, 131, 64}, {1, 4, 2, 65, 65, 24}, {1, 3, 3, 5, 77, 128}, {1, 2, 2, 37, 523, 33}, {1, 2, 1, 2, 2, 64},
		}},
		{"Decode_Attention", [][]int64{
			{1, 2, 2, 70, 64}, {2, 4, 2, 131, 128}, {1, 6, 1, 300, 40}, {1, 1, 1, 1, 64}, {1, 8, 2, 95, 23}, {1, 4, 1, 129, 256}, {1, 20, 1, 530, 64}, {1, 5, 1, 67, 100},
		}},
	} {
		for _, dims := range s.dims {
			verifyKernels(t, b, []schema.DType{d}, attentionChain(t, s.pattern, dims...))
		}
	}
}

// On a device with many SMs the keys are divided, and some parts have none that a query sees.
func verifyDividedAttention(t *testing.T, b *Backend, d schema.DType) {
	verifyKernels(t, b, []schema.DType{d},
		attentionChain(t, "QK_T", 1, 1, 300, 64),
		attentionChain(t, "Decode_Attention", 1, 1, 1, 2200, 16), // 34 parts
		attentionChain(t, "Causal_Attention", 1, 1, 270, 520, 16))
}

// Each reason for which there is no kernel is told.
func TestAttentionUnsupported(t *testing.T) {
	for _, c := range []struct {
		capability Capability
		dtype      schema.DType
		dims       []int64
		want       string
	}{
		{Capability{9, 0}, schema.BF16, []int64{1, 1, 9, 257}, "heads of 257 columns, the kernels take up to 256"},
		{Capability{8, 6}, schema.FP64, []int64{1, 1, 20, 200}, "want 134144 bytes of shared memory a block, the device has 101376"},
		{Capability{7, 5}, schema.FP32, []int64{1, 1, 9, 64}, "no kernel for qk_t in fp32"},
	} {
		_, err := bench.Verify(newEmulated(t, c.capability), bench.Case{Chain: attentionChain(t, "Full_Attention", c.dims...), DType: c.dtype, Seed: 7})
		if !errors.Is(err, bench.ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v on %s: %v, want %q", c.dtype, c.dims, c.capability, err, c.want)
		}
	}
}

// Parts fill the device in whole waves of blocks.
func TestAttentionFill(t *testing.T) {
	for _, c := range []struct{ blocks, resident, most, want int }{
		{32, 396, 128, 12}, // one wave of 384
		{1024, 396, 8, 3},  // 7.8 waves
		{300, 396, 8, 5},   // 3.8 waves
		{32, 396, 8, 8},
		{1, 396, 0, 1},
		{396, 396, 8, 1},
	} {
		if got := fill(c.blocks, c.resident, c.most); got != c.want {
			t.Errorf("%d blocks, %d at once, at most %d parts each: %d, want %d", c.blocks, c.resident, c.most, got, c.want)
		}
	}
}
