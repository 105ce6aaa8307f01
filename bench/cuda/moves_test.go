package cuda

import (
	"testing"

	"hwcal/bench"
)

func TestMoves(t *testing.T) { verifyMoves(t, newEmulated(t, Capability{8, 0})) }

func verifyMoves(t *testing.T, b *Backend) {
	for _, s := range [][3]int64{{1, 1, 1}, {33, 70, 5}, {9, 64, 1000}, {3, 2300, 8}} {
		m, n, k := s[0], s[1], s[2]
		verifyKernels(t, b, floats,
			bench.Chain{bench.Transpose(matrix("X", m, n))},
			bench.Chain{bench.Concat(matrix("X", m, n), matrix("Z", m, k))},
			bench.Chain{bench.Embedding(matrix("table", 17, n), &bench.Tensor{Name: "indices", Dims: []int64{m}, Fill: bench.Labels(17)})},
		)
	}
}

func TestReduce(t *testing.T) { verifyReduce(t, newEmulated(t, Capability{8, 0})) }

func verifyReduce(t *testing.T, b *Backend) {
	for _, s := range [][2]int64{{1, 1}, {7, 33}, {100, 70}, {301, 5}, {40, 900}} {
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
