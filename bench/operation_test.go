package bench

import (
	"testing"

	"hwcal/schema"
)

// The counts of operations on X[4*8,16], by method: FLOP, and what must be read and
// written in fp32.
func TestOperationCounts(t *testing.T) {
	const rows, dim = 32, 16
	const n, e = rows * dim, 4
	for name, want := range map[string]struct{ flop, bytes int64 }{
		"add":              {n, 3 * e * n},
		"gelu":             {5 * n, 2 * e * n},
		"gelu_tanh":        {9 * n, 2 * e * n},
		"sigmoid":          {4 * n, 2 * e * n},
		"bias":             {n, e * (2*n + dim)},
		"reduce_sum_rows":  {n, e * (n + rows)},
		"reduce_mean_cols": {n + dim, e * (n + dim)},
		"softmax":          {5 * n, 2 * e * n},
		"layernorm":        {7 * n, e * (2*n + 2*dim)},
		"rmsnorm":          {4 * n, e * (2*n + dim)},
		"batchnorm":        {2 * n, e * (2*n + 4*dim)},
		"mse":              {3*n + 1, e * (2*n + 1)},
		"cross_entropy":    {4*n + 2*rows, e*(n+rows) + LabelBytes*rows},
		"embedding":        {0, 2*e*n + LabelBytes*rows}, // of the table only the rows looked up
		"concat":           {0, 4 * e * n},
		"set":              {0, e * n},
	} {
		p, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.Build(dims(operationDims, 4, 8, dim), Place{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if flop, bytes := c.FLOP(), c.FusedBytes(schema.FP32); flop != want.flop || bytes != want.bytes {
			t.Errorf("%s: %d FLOP and %d bytes, want %d and %d", name, flop, bytes, want.flop, want.bytes)
		}
	}
}

func TestLabels(t *testing.T) {
	if Masking.Classes() != 0 || Labels(7).Classes() != 7 {
		t.Errorf("classes: %d and %d, want 0 and 7", Masking.Classes(), Labels(7).Classes())
	}
	seen := map[float64]bool{}
	for _, v := range Labels(7).Block(1, 0, 1000) {
		seen[v] = true
	}
	for i := range 7 {
		delete(seen, float64(i))
	}
	if len(seen) > 0 {
		t.Errorf("labels that are none of 0 to 6: %v", seen)
	}
}
