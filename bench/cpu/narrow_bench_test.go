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
			t, err := bench.Sample(workspaces[i], kernels[i:i+1], times)
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

// BenchmarkNarrowElementwise gives the bandwidth of what is done to single elements of
// 16 bits and to sums, beside that of a copy: each the best of samples taken in turn.
func BenchmarkNarrowElementwise(b *testing.B) {
	for _, level := range []struct {
		name  string
		bytes int // of the working set
	}{{"L2", 512 << 10}, {"L3", 8 << 20}, {"DRAM", 256 << 20}} {
		b.Run(level.name, func(b *testing.B) {
			for b.Loop() {
				benchNarrowElementwise(b, level.bytes)
			}
		})
	}
}

func benchNarrowElementwise(b *testing.B, bytes int) {
	arena, err := newArena(int64(bytes)+2<<20, true)
	if err != nil {
		b.Fatal(err)
	}
	defer arena.close()
	mem, err := arena.alloc(int64(bytes))
	if err != nil {
		b.Fatal(err)
	}
	half := bytes / 2
	for i := range mem {
		mem[i] = 0x3c + byte(i%3) // normal numbers in every type
	}
	isas, err := ISAs()
	if err != nil {
		b.Fatal(err)
	}
	const cols = 1024
	row, bias, factors := make([]uint16, cols), make([]int32, cols), make([]float32, cols)
	k, sums := vecKernelsFor[float32](isas[0]), sumKernelsFor(isas[0])
	type run struct {
		name  string
		bytes int
		f     func()
	}
	runs := []run{{"copy", bytes, func() { copy(mem[half:], mem[:half]) }}}
	for _, d := range halfTypes {
		c := halfKernelsFor(d, isas[0])
		src, dst := as[uint16](mem[:half]), as[uint16](mem[half:])
		inCalls := func(f func(at, m int)) func() {
			return func() {
				for at := 0; at < len(src); at += vecCall {
					f(at, min(vecCall, len(src)-at)/cols)
				}
			}
		}
		runs = append(runs,
			run{"relu_" + string(d), bytes, inCalls(func(at, m int) { c.relu(&dst[at], &src[at], nil, cols, cols, 0, m, cols, 0, 0, cached) })},
			run{"bias_" + string(d), bytes, inCalls(func(at, m int) { c.add(&dst[at], &src[at], &row[0], cols, cols, 0, m, cols, 0, 0, cached) })},
			run{"norm_" + string(d), bytes, inCalls(func(at, m int) {
				c.affineRows(&dst[at], &src[at], &factors[0], &factors[0], cols, cols, m, cols, cached)
			})},
			run{"gelu_" + string(d), bytes, func() { c.gelu.slice(dst, src, nil, 0, 0) }})
	}
	floats, floatsTo := as[float32](mem[:half]), as[float32](mem[half:])
	runs = append(runs, run{"gelu_fp32", bytes, func() { k.gelu.slice(floatsTo, floats, nil, 0, 0) }})
	src, dst := as[int32](mem[:half]), as[int32](mem[half:])
	runs = append(runs,
		run{"bias_int32", bytes, func() {
			for at := 0; at < len(src); at += vecCall {
				rows := min(vecCall, len(src)-at) / cols
				sums.addFloor(&dst[at], &src[at], &bias[0], cols, cols, rows, cols, 0)
			}
		}},
		run{"channel_bias_int32", bytes, func() {
			for at := 0; at < len(src); at += vecCall {
				rows := min(vecCall, len(src)-at) / cols
				sums.addFloorRows(&dst[at], &src[at], &bias[0], cols, cols, rows, cols, 0)
			}
		}},
		run{"requantize", half / 4 * 5, func() {
			to := as[int8](mem[half:])
			for at := 0; at < len(src); at += vecCall {
				rows := min(vecCall, len(src)-at) / cols
				sums.requantize(&to[at], &src[at], &bias[0], &factors[0], cols, cols, rows, cols, 0)
			}
		}},
		run{"channel_requantize", half / 4 * 5, func() {
			to := as[int8](mem[half:])
			for at := 0; at < len(src); at += vecCall {
				rows := min(vecCall, len(src)-at) / cols
				sums.requantizeRows(&to[at], &src[at], &bias[0], &factors[0], cols, cols, rows, cols, 0)
			}
		}})
	best := make([]float64, len(runs))
	for end := time.Now().Add(5 * benchTime); time.Now().Before(end); {
		for i, r := range runs {
			times := 1 + (1<<20)/bytes
			begin := time.Now()
			for range times {
				r.f()
			}
			best[i] = max(best[i], float64(times*r.bytes)/time.Since(begin).Seconds()/1e9)
		}
	}
	for i, r := range runs {
		b.ReportMetric(best[i], r.name+"_GB/s")
	}
	b.ReportMetric(0, "ns/op")
}
