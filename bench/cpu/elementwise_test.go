package cpu

import (
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// Element-wise operations by themselves agree with float64 at sizes around vectors,
// lines and the parts of workers.
func TestElementwiseAgreesWithReference(t *testing.T) {
	matrix := func(name string, m, n int64) *bench.Tensor { return &bench.Tensor{Name: name, Dims: []int64{m, n}} }
	eachISA(t, func(t *testing.T, isa ISA) {
		b := testBackend(t, isa)
		for _, dims := range [][2]int64{{1, 1}, {1, 15}, {3, 17}, {2, 64}, {7, 129}, {33, 100}} {
			x, z := matrix("X", dims[0], dims[1]), matrix("Z", dims[0], dims[1])
			for _, op := range []bench.Op{bench.Add(x, z)} {
				for _, d := range []schema.DType{schema.FP32, schema.FP64} {
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
