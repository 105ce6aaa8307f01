//go:build linux

package cuda

import (
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

func TestNetworks(t *testing.T) { verifyNetworks(t, newEmulated(t, Capability{8, 0})) }

// verifyNetworks compares all parts of small networks, whose tensors share memory.
func verifyNetworks(t *testing.T, b *Backend) {
	for name, dims := range map[string][]int64{"MobileNet": {1, 9, 17}, "BERT_Encoder": {1, 5, 2}} {
		p, err := bench.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []schema.DType{schema.FP32, schema.BF16} {
			for _, chain := range chainsOf(t, name, d, dims) {
				parts := p.Parts(chain, d, b)
				if len(parts) == len(chain) {
					t.Errorf("%s %s: nothing is fused", name, d)
				}
				if _, err := bench.Verify(b, bench.Case{Chain: chain, Parts: parts, DType: d, Seed: 7}); err != nil {
					t.Errorf("%s %s: %v", name, d, err)
				}
			}
		}
	}
}
