package cpu

import (
	"testing"

	"hwcal/bench"
)

// Chains that keep rows in the caches agree with float64 where these hold few rows, so
// that there are many blocks and a last one that is smaller.
func TestRowBlocksAgreeWithReference(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		b := testBackend(t, isa)
		b.caches.L3 = 1
		for _, name := range []string{"Linear_Bias_GELU_Linear", "SwiGLU", "Linear_LayerNorm"} {
			p, err := bench.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, shape := range []string{"61x37x19", "100x33x70"} {
				for _, threads := range threadCounts(b) {
					verifyShape(t, b, p, shape, threads)
				}
			}
		}
	})
}
