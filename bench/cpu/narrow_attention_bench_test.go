package cpu

import (
	"fmt"
	"testing"
	"time"

	"hwcal/bench"
	"hwcal/schema"
)

// BenchmarkNarrowAttention gives the time of each operation of attention in 16 bits and of
// their fusion, and of products the share of the register peak of the same unit: each the
// best of samples taken in turn.
func BenchmarkNarrowAttention(b *testing.B) {
	for _, u := range units {
		if u.dtype == schema.INT8 {
			continue
		}
		for _, c := range []struct{ pattern, shape string }{
			{"Full_Attention", "1x12x512x64"}, {"Full_Attention", "1x4x2048x128"},
			{"Causal_Attention", "1x8x1024x1024x128"}, {"Grouped_Query_Attention", "1x8x2x128x8192x128"},
		} {
			b.Run(fmt.Sprintf("%s/%s/%s/%s", u.dtype, u.name, c.pattern, c.shape), func(b *testing.B) {
				if !present(u) {
					b.Skipf("this machine has no %s", u.title)
				}
				for b.Loop() {
					benchNarrowAttention(b, u, c.pattern, c.shape)
				}
			})
		}
	}
}

func benchNarrowAttention(b *testing.B, u unit, name, text string) {
	backend := testBackend(b, "")
	backend.units = map[schema.DType][]unit{u.dtype: {u}}
	backend.caches = cacheSizes{48 << 10, 2 << 20, 32 << 20}
	p, err := bench.Lookup(name)
	if err != nil {
		b.Fatal(err)
	}
	shape, err := bench.ParseShape(text, p.Dims)
	if err != nil {
		b.Fatal(err)
	}
	c, err := p.Build(shape, bench.Place{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	bind := func(whole bench.Chain, parts ...bench.Chain) (bench.Workspace, []bench.Kernel) {
		ws, err := backend.Open(bench.Case{Chain: whole, DType: u.dtype, Place: bench.Place{Threads: 1}, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { ws.Close() })
		var ks []bench.Kernel
		for _, part := range parts {
			k, err := ws.Bind(part)
			if err != nil {
				b.Fatal(err)
			}
			ks = append(ks, k)
		}
		return ws, ks
	}
	parts := []bench.Chain{c}
	for i := range c {
		parts = append(parts, c[i:i+1])
	}
	ws, kernels := bind(c, parts...)
	peak := bench.Chain{bench.PeakFMA(128, 1)}
	peakWS, peakKernels := bind(peak, peak)
	best := make([]time.Duration, len(parts)+1)
	for end := time.Now().Add(benchTime); time.Now().Before(end); {
		for i := range best {
			from, k := ws, kernels[min(i, len(kernels)-1)]
			if i == len(parts) {
				from, k = peakWS, peakKernels[0]
			}
			t, err := bench.Sample(from, []bench.Kernel{k}, 1)
			if err != nil {
				b.Fatal(err)
			}
			if best[i] == 0 || t < best[i] {
				best[i] = t
			}
		}
	}
	rate := float64(peak.FLOP()) / best[len(parts)].Seconds()
	for i, part := range parts {
		b.ReportMetric(best[i].Seconds()*1e6, part.String()+"_us")
		if part[0].Name == "qk_t" || part[0].Name == "pv" {
			b.ReportMetric(100*float64(part.FLOP())/best[i].Seconds()/rate, part.String()+"_%peak")
		}
	}
	b.ReportMetric(0, "ns/op")
}
