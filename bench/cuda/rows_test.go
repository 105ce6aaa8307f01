package cuda

import (
	"math"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// Rows of each size of kernel, with and without 16-byte accesses; fewer and more than a block takes.
func TestRows(t *testing.T) { verifyRows(t, newEmulated(t, Capability{8, 0})) }

func verifyRows(t *testing.T, b *Backend) {
	for _, s := range [][2]int64{{300, 4}, {7, 5}, {9, 64}, {3, 200}, {2, 777}, {1, 2056}, {1, 4099}, {1, 16400}, {1, 16387}} {
		m, n := s[0], s[1]
		add := bench.Add(matrix("X", m, n), matrix("R", m, n))
		norm := func(x *bench.Tensor) bench.Op { return bench.LayerNorm(x, param("gamma", n), param("beta", n), 1e-5) }
		mask := bench.Mask(matrix("X", 3, m, n), &bench.Tensor{Name: "M", Dims: []int64{m, n}, Fill: bench.Masking})
		verifyKernels(t, b, floats,
			bench.Chain{bench.Softmax(matrix("X", m, n))},
			bench.Chain{norm(matrix("X", m, n))},
			bench.Chain{mask, bench.Softmax(mask.Out)},
			bench.Chain{add, norm(add.Out)},
			bench.Chain{bench.RMSNorm(matrix("X", m, n), param("gamma", n), 1e-5)},
			bench.Chain{bench.CrossEntropy(matrix("X", m, n), &bench.Tensor{Name: "labels", Dims: []int64{m}, Fill: bench.Labels(n)})},
			bench.Chain{bench.ReduceRows(bench.ReduceSum, matrix("X", m, n))},
			bench.Chain{bench.ReduceRows(bench.ReduceMax, matrix("X", m, n))},
			bench.Chain{bench.ReduceRows(bench.ReduceMean, matrix("X", m, n))},
		)
	}
}

// Scaled causal scores and their softmax, where there is something to be seen; the rest
// has no meaning.
func TestCausalRows(t *testing.T) { verifyCausalRows(t, newEmulated(t, Capability{8, 0})) }

func verifyCausalRows(t *testing.T, b *Backend) {
	for _, d := range floats {
		for _, s := range [][2]int64{{1, 1}, {5, 5}, {8, 24}, {3, 17}, {2, 2500}} {
			m, n := s[0], s[1]
			x := matrix("scores", 2, m, n)
			x.Causal = true
			scale := bench.Scale(x, 0.5)
			c := bench.Chain{scale, bench.Softmax(scale.Out)}
			verifyCausal(t, b, d, c, m, n)
		}
	}
}

func verifyCausal(t *testing.T, b *Backend, d schema.DType, c bench.Chain, m, n int64) {
	t.Helper()
	ws, err := b.Open(bench.Case{Chain: c, DType: d, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	var kernels []bench.Kernel
	for i := range c {
		k, err := ws.Bind(c[i : i+1])
		if err != nil {
			t.Fatal(err)
		}
		kernels = append(kernels, k)
	}
	if _, err := bench.Sample(ws, kernels, 1); err != nil {
		t.Fatal(err)
	}
	x, y := make([]float64, c[0].In[0].Elems()), make([]float64, c.Output().Elems())
	for _, r := range []struct {
		t *bench.Tensor
		v []float64
	}{{c[0].In[0], x}, {c.Output(), y}} {
		if err := ws.Read(r.t, 0, r.v); err != nil {
			t.Fatal(err)
		}
	}
	for row := range 2 * m {
		used := row%m + 1 + n - m
		sum := 0.0
		for j := range used {
			sum += math.Exp(x[row*n+j] / 2)
		}
		for j := range used {
			want := math.Exp(x[row*n+j]/2) / sum
			if diff := math.Abs(y[row*n+j] - want); !(diff <= (8*d.UnitRoundoff()+1e-6)*want) {
				t.Fatalf("%s %dx%d: [%d,%d] = %g, want %g", d, m, n, row, j, y[row*n+j], want)
			}
		}
	}
}
