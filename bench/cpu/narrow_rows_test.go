package cpu

import (
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
			} {
				for _, text := range shapes {
					for _, threads := range []int{1, len(b.cpus)} {
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
					for _, threads := range []int{1, len(b.cpus)} {
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
			for _, dims := range [][]int64{{1, 1, 1}, {3, 5, 17}, {2, 7, 130}, {2, 3, 700}, {2, 2, 2500}} {
				mask := bench.Mask(&bench.Tensor{Name: "X", Dims: dims}, &bench.Tensor{Name: "M", Dims: dims[1:], Fill: bench.Masking})
				op := bench.Softmax(mask.Out)
				softmax := op.Ref
				op.Name, op.In = "mask+softmax", mask.In
				op.Ref = func(in []ref.Field, p ref.Precision) ref.Field {
					return softmax([]ref.Field{mask.Ref(in, p)}, p)
				}
				for _, threads := range []int{1, len(b.cpus)} {
					c := bench.Case{Chain: bench.Chain{op}, DType: d, Place: bench.Place{Threads: threads}, Seed: 5}
					if _, err := bench.Verify(b, c); err != nil {
						t.Errorf("%v %s %d threads: %v", dims, d, threads, err)
					}
				}
			}
		}
	})
}
