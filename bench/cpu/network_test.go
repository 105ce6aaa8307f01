package cpu

import (
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// Every part of a network agrees with float64 of what it has read, unfused and fused, on images and
// sequences so small that all layers straddle edges.
func TestNetworks(t *testing.T) {
	b := testBackend(t, "")
	shapes := map[string]string{"ResNet50": "2x33x47", "MobileNet": "1x40x33", "BERT_Encoder": "2x9x3"}
	for _, d := range []schema.DType{schema.FP32, schema.BF16} {
		if b.Unsupported(d) != "" {
			continue
		}
		for name, text := range shapes {
			c := caseOf(t, name, text, d, 2)
			p, err := bench.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			c.Parts = p.Parts(c.Chain, d, b)
			if _, err := bench.Verify(b, c); err != nil {
				t.Errorf("%s %s: %v", name, d, err)
			}
		}
	}
}
