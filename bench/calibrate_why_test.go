package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"hwcal/schema"
)

// A pair is bound by memory where its tensors are: warm in a cache that holds them, cold in DRAM.
func TestBoundOfPair(t *testing.T) {
	c := fakeCalibrator(newFake(), schema.Quick)
	c.levels = c.claimed()
	c.pool(computed{operation: "peak_fma", dtype: schema.FP32, place: Place{Threads: 1}, flop: 200e9, Measurement: Measurement{Seconds: []float64{1}}})
	for level, gbps := range map[schema.Level]float64{schema.L1: 400, schema.L2: 100, schema.L3: 30, schema.DRAM: 12} {
		c.Device.Bandwidth = append(c.Device.Bandwidth, schema.Bandwidth{Level: level, Pattern: "read", Threads: 1, GBps: schema.Stat{Best: gbps}})
	}
	for _, p := range []struct {
		flop, bytes int64
		cache       schema.CacheState
		want        string
	}{
		{1 << 19, 1 << 20, schema.Warm, "0.5 FLOP/byte, memory-bound from L2"},
		{1 << 19, 1 << 20, schema.Cold, "0.5 FLOP/byte, memory-bound from DRAM"},
		{4 << 20, 1 << 20, schema.Warm, "4 FLOP/byte, compute-bound"},
		{4 << 20, 1 << 20, schema.Cold, "4 FLOP/byte, memory-bound from DRAM"},
		{32 << 20, 64 << 20, schema.Warm, "0.5 FLOP/byte, memory-bound from DRAM"},
	} {
		e := schema.Fusion{DType: schema.FP32, Threads: 1, Cache: p.cache, FLOP: p.flop, FusedBytes: p.bytes}
		if got := c.bound(&e, nil); got != p.want {
			t.Errorf("%d FLOP, %d bytes, %s: %q, want %q", p.flop, p.bytes, p.cache, got, p.want)
		}
	}
}

// A pair is explained by the rates that the profile has in the end, not by those that the host disturbed and that were
// measured again behind it.
func TestExplainedByWhatIsPublished(t *testing.T) {
	c := fakeCalibrator(newFake(), schema.Quick)
	c.Options.Patterns, c.Options.Operations, c.Options.DTypes = named("Linear_Bias"), nil, []schema.DType{schema.FP32}
	c.Options.Observe = func(p Progress) {
		for i := range c.Device.Bandwidth {
			if b := &c.Device.Bandwidth[i]; p.Step == p.Steps && b.Pattern == "copy" {
				b.GBps.Best /= 100
			}
		}
	}
	dev, warnings, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f := dev.FusionProfiles[0]
	savedMS := (f.PredictedSpeedup - 1) * f.FusedLatencyMS * f.Explained.Traffic
	gbps := float64(f.UnfusedBytes-f.FusedBytes) / savedMS / 1e6
	if !slices.ContainsFunc(dev.Bandwidth, func(b schema.Bandwidth) bool {
		return b.Pattern == "copy" && b.Threads == f.Threads && math.Abs(b.GBps.Best/gbps-1) < 1e-9
	}) {
		t.Errorf("predicted at %g GB/s, which no level copies at", gbps)
	}
	if want := fmt.Sprintf(" at %.1f GB/s, ", gbps); strings.Count(f.Reason, want) != 1 {
		t.Errorf("reason %q, want it to tell%s", f.Reason, want)
	}
	above := f.Speedup > explainTolerance*f.PredictedSpeedup
	told := slices.ContainsFunc(warnings, func(w schema.Warning) bool { return w.Code == schema.AboveTraffic })
	if slices.Contains(f.Warnings, schema.AboveTraffic) != above || told != above {
		t.Errorf("speedup %g, predicted %g: %v", f.Speedup, f.PredictedSpeedup, f.Warnings)
	}
}
