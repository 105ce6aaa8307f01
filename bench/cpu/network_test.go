package cpu

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hwcal/bench"
	"hwcal/schema"
)

// Every part of a network agrees with float64 of what it has read, unfused and fused, on images and
// sequences so small that all layers straddle edges.
func TestNetworks(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: no architecture joins parts in a way of its own")
	}
	b := testBackend(t, "")
	shapes := map[string]string{"ResNet50": "2x33x47", "MobileNet": "1x40x33", "BERT_Encoder": "2x9x3"}
	dtypes := []schema.DType{schema.FP32, schema.BF16}
	for _, d := range dtypes {
		if b.Unsupported(d) != "" {
			continue
		}
		for name, text := range shapes {
			c := caseOf(t, name, text, d, len(b.cpus))
			p, err := bench.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			c.Parts = p.Parts(c.Chain, d, b)
			if _, err := bench.Verify(b, c); err != nil {
				t.Errorf("%s %s: %v", name, d, err)
			}
			apart := c
			apart.Parts = nil
			open, err := b.Open(apart) // as long as one is, what was tried is known, and both take the same kernels
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(resultOf(t, b, apart, c.Parts), resultOf(t, b, c, c.Parts)); diff != "" {
				t.Errorf("%s %s: where tensors share memory the result is another: -apart +shared\n%s", name, d, diff)
			}
			if err := open.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// resultOf runs all parts twice, as those of a network that run again find what the last run has left.
func resultOf(t *testing.T, b *Backend, c bench.Case, parts bench.Parts) []float64 {
	t.Helper()
	ws, err := b.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	var ks []bench.Kernel
	for _, part := range parts {
		k, err := ws.Bind(part)
		if err != nil {
			t.Fatal(err)
		}
		ks = append(ks, k)
	}
	if _, err := bench.Sample(ws, ks, 2); err != nil {
		t.Fatal(err)
	}
	result := make([]float64, c.Chain.Output().Elems())
	if err := ws.Read(c.Chain.Output(), 0, result); err != nil {
		t.Fatal(err)
	}
	return result
}
