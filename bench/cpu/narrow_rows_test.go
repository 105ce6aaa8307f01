package cpu

import (
	"fmt"
	"testing"

	"hwcal/bench"
	"hwcal/bench/ref"
	"hwcal/schema"
)

// halfBackend runs what multiplies nothing in a type of 16 bits, which needs no unit.
func halfBackend(t testing.TB, isa ISA, d schema.DType) *Backend {
	b := testBackend(t, isa)
	b.units = map[schema.DType][]unit{d: {{name: "none", dtype: d}}}
	return b
}

// Operations on elements and rows of 16 bits agree with float64, one by one and fused,
// at sizes around vectors, lines, blocks and the parts of workers: rows of which many,
// one, and less than one fit a block, or a call.
func TestHalfChainsAgreeWithReference(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			b := halfBackend(t, isa, d)
			for name, shapes := range map[string][]string{
				"Bias_GELU_Dropout":  {"1x1", "3x17", "65x130", "2x2500"},
				"Residual_LayerNorm": {"1x1", "3x17", "65x130", "2x2500", "1x33000"},
				"Softmax_Mask":       {"1x1x1", "3x5x17", "2x7x130", "2x3x700", "70x1x33"},
			} {
				for _, text := range shapes {
					for _, threads := range threadCounts(b) {
						verifyIn(t, b, name, text, d, threads)
					}
				}
			}
			for _, dims := range [][]int64{{1, 1}, {3, 17}, {33, 100}, {2, 2500}} {
				x, z := &bench.Tensor{Name: "X", Dims: dims}, &bench.Tensor{Name: "Z", Dims: dims}
				row := &bench.Tensor{Name: "M", Dims: dims[1:]}
				for _, op := range []bench.Op{
					bench.Mul(x, z), bench.Mask(x, row), bench.Add(x, z), bench.SiLU(x),
					bench.Dropout(x, bench.DropoutParams{P: 0.25, Seed: 9}),
				} {
					for _, threads := range threadCounts(b) {
						c := bench.Case{Chain: bench.Chain{op}, DType: d, Place: bench.Place{Threads: threads}, Seed: 5}
						if _, err := bench.Verify(b, c); err != nil {
							t.Errorf("%s %v %s %d threads: %v", op.Name, dims, d, threads, err)
						}
					}
				}
			}
		}
	})
}

// Mask and softmax in one kernel agree with float64 if they are one operation, which
// stores nothing between.
func TestHalfMaskedSoftmax(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, d := range halfTypes {
			b := halfBackend(t, isa, d)
			for _, dims := range [][]int64{{1, 1, 1}, {3, 5, 17}, {70, 1, 33}, {2, 7, 130}, {2, 3, 700}, {2, 2, 2500}} {
				mask := bench.Mask(&bench.Tensor{Name: "X", Dims: dims}, &bench.Tensor{Name: "M", Dims: dims[1:], Fill: bench.Masking})
				op := bench.Softmax(mask.Out)
				softmax := op.Ref
				op.Name, op.In = "mask+softmax", mask.In
				op.Ref = func(in []ref.Field, p ref.Precision) ref.Field {
					return softmax([]ref.Field{mask.Ref(in, p)}, p)
				}
				for _, threads := range threadCounts(b) {
					c := bench.Case{Chain: bench.Chain{op}, DType: d, Place: bench.Place{Threads: threads}, Seed: 5}
					if _, err := bench.Verify(b, c); err != nil {
						t.Errorf("%v %s %d threads: %v", dims, d, threads, err)
					}
				}
			}
		}
	})
}

// rowPatterns need more than the sums of a tile.
var rowPatterns = []string{"Linear_Bias_GELU_Linear", "SwiGLU", "Linear_LayerNorm"}

// Chains that keep rows in the caches agree with float64 where these hold few rows, so
// that there are several blocks and a last one that is smaller; the gated layer, which
// has no such blocks, where there are several panels of pairs.
func TestNarrowRowBlocks(t *testing.T) {
	eachUnit(t, func(t *testing.T, u unit) {
		if u.dtype == schema.INT8 {
			t.Skip("norms, GELU and SiLU are no functions of integers")
		}
		b := testBackend(t, "")
		b.units, b.caches.L3 = map[schema.DType][]unit{u.dtype: {u}}, 1
		for _, threads := range threadCounts(b) {
			for _, name := range rowPatterns {
				rows := fmt.Sprintf("%dx19x9", 2*u.gemm.mr*threads+5)
				if name == "SwiGLU" {
					rows = fmt.Sprintf("3x%dx35", u.gemm.nr+9)
				}
				for _, text := range []string{"1x1x1", rows} {
					verifyIn(t, b, name, text, u.dtype, threads)
				}
			}
		}
	})
}
