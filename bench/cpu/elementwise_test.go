package cpu

import (
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// Operations by themselves agree with float64 at sizes around vectors, lines and the
// parts of workers, and beyond one call of a kernel.
func TestElementwiseAgreesWithReference(t *testing.T) {
	matrix := func(name string, m, n int64) *bench.Tensor { return &bench.Tensor{Name: name, Dims: []int64{m, n}} }
	eachISA(t, func(t *testing.T, isa ISA) {
		b := testBackend(t, isa)
		for _, dims := range [][2]int64{{1, 1}, {1, 15}, {3, 17}, {2, 64}, {7, 129}, {33, 100}, {9, 1200}, {1, vecCall + 3}} {
			m, n := dims[0], dims[1]
			x, z, row := matrix("X", m, n), matrix("Z", m, n), matrix("b", 1, n)
			for _, op := range []bench.Op{
				bench.Bias(x, row), bench.Add(x, z), bench.Mul(x, z), bench.Mask(x, row), bench.Mask(x, z),
				bench.ReLU(x), bench.GELU(x), bench.SiLU(x), bench.Scale(x, 0.3),
				bench.Dropout(x, bench.DropoutParams{P: 0.25, Seed: 9}), bench.Dropout(x, bench.DropoutParams{}),
				bench.LayerNorm(x, row, matrix("beta", 1, n), 1e-5), bench.Softmax(x),
			} {
				for _, d := range []schema.DType{schema.FP32, schema.FP64} {
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
