package cpu

import (
	"fmt"
	"testing"
	"time"

	"hwcal/bench"
	"hwcal/schema"
)

// BenchmarkNarrowGEMM gives the rate of each unit of the CPU, with B packed
// beforehand or not, and its share of the register peak of the same unit: each the
// best of samples taken in turn.
func BenchmarkNarrowGEMM(b *testing.B) {
	for _, u := range units {
		for _, n := range []int64{256, 1024, 2048, 4096} {
			for _, packed := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/%s/%d/packed=%t", u.dtype, u.name, n, packed), func(b *testing.B) {
					if !present(u) {
						b.Skipf("this machine has no %s", u.title)
					}
					for b.Loop() {
						benchNarrow(b, u, n, packed)
					}
				})
			}
		}
	}
}

func benchNarrow(b *testing.B, u unit, n int64, packed bool) {
	backend := testBackend(b, "")
	backend.units = map[schema.DType][]unit{u.dtype: {u}}
	backend.caches = cacheSizes{48 << 10, 2 << 20, 32 << 20}
	x, w := &bench.Tensor{Name: "X", Dims: []int64{n, n}}, &bench.Tensor{Name: "W", Dims: []int64{n, n}, Param: packed}
	ops := []bench.Op{bench.Sums(bench.Gemm(x, w)), bench.PeakFMA(128, 1)}
	var workspaces []bench.Workspace
	var kernels []bench.Kernel
	for _, op := range ops {
		ws, err := backend.Open(bench.Case{Chain: bench.Chain{op}, DType: u.dtype, Place: bench.Place{Threads: 1}, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		defer ws.Close()
		k, err := ws.Bind(bench.Chain{op})
		if err != nil {
			b.Fatal(err)
		}
		workspaces, kernels = append(workspaces, ws), append(kernels, k)
	}
	var best [2]float64
	for end := time.Now().Add(benchTime); time.Now().Before(end); {
		for i, op := range ops {
			const times = 4
			t, err := workspaces[i].Sample(kernels[i:i+1], times)
			if err != nil {
				b.Fatal(err)
			}
			best[i] = max(best[i], times*float64(op.FLOP)/t.Seconds())
		}
	}
	b.ReportMetric(best[0]/1e9, "GFLOPS")
	b.ReportMetric(100*best[0]/best[1], "%peak")
	b.ReportMetric(0, "ns/op")
}
