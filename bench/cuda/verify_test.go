package cuda

import (
	"fmt"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// verifyKernels compares the kernels of chains, fused and one by one, with the float64 reference in
// each of the types.
func verifyKernels(t *testing.T, b *Backend, dtypes []schema.DType, chains ...bench.Chain) {
	t.Helper()
	for _, d := range dtypes {
		for _, c := range chains {
			if _, err := bench.Verify(b, bench.Case{Chain: c, DType: d, Seed: 7}); err != nil {
				t.Errorf("%s %s, first input %s: %v", c, d, dimsOf(c), err)
			}
		}
	}
}

// dimsOf the first tensor of a chain.
func dimsOf(c bench.Chain) string {
	t := c.Tensors()[0]
	return fmt.Sprintf("%s%v", t.Name, t.Dims)
}
