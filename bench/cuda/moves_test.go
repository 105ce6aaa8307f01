package cuda

import (
	"testing"

	"hwcal/bench"
)

func TestMoves(t *testing.T) { verifyMoves(t, newEmulated(t, Capability{8, 0})) }

func verifyMoves(t *testing.T, b *Backend) {
	for _, s := range [][3]int64{{1, 1, 1}, {33, 70, 5}, {9, 64, 1000}, {3, 2300, 8}, {72, 144, 2}} {
		m, n, k := s[0], s[1], s[2]
		verifyKernels(t, b, floats,
			bench.Chain{bench.Transpose(matrix("X", m, n))},
			bench.Chain{bench.Concat(matrix("X", m, n), matrix("Z", m, k))},
			bench.Chain{bench.SplitHeads(matrix("X", m, n*k), 1, k)},
			bench.Chain{bench.MergeHeads(&bench.Tensor{Name: "X", Dims: []int64{k, 3, m, n}})},
			bench.Chain{bench.Embedding(matrix("table", 17, n), &bench.Tensor{Name: "indices", Dims: []int64{m}, Fill: bench.Labels(17)})},
		)
	}
}

func TestPool(t *testing.T) { verifyPool(t, newEmulated(t, Capability{8, 0})) }

func verifyPool(t *testing.T, b *Backend) {
	image := func(c, h, w int64) *bench.Tensor {
		return &bench.Tensor{Name: "X", Dims: []int64{2, c, h, w}}
	}
	for _, p := range []bench.PoolParams{{Size: 1, Stride: 1}, {Size: 3, Stride: 2, Pad: 1}, {Size: 2, Stride: 3}} {
		pool, err := bench.MaxPool(image(5, 9, 14), p)
		if err != nil {
			t.Fatal(err)
		}
		verifyKernels(t, b, floats, bench.Chain{pool})
	}
	verifyKernels(t, b, floats, bench.Chain{bench.GlobalAveragePool(image(70, 7, 3))}, bench.Chain{bench.GlobalAveragePool(image(1, 1, 1))})
}

func TestReduce(t *testing.T) { verifyReduce(t, newEmulated(t, Capability{8, 0})) }

func verifyReduce(t *testing.T, b *Backend) {
	for _, s := range [][2]int64{{1, 1}, {7, 33}, {100, 70}, {301, 5}, {301, 333}, {40, 900}} {
		m, n := s[0], s[1]
		x := func() *bench.Tensor { return matrix("X", m, n) }
		verifyKernels(t, b, floats,
			bench.Chain{bench.ReduceCols(bench.ReduceSum, x())},
			bench.Chain{bench.ReduceCols(bench.ReduceMax, x())},
			bench.Chain{bench.ReduceCols(bench.ReduceMean, x())},
			bench.Chain{bench.MSE(x(), x())},
		)
	}
}
