package bench

import (
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
		if got := c.bound(&e); got != p.want {
			t.Errorf("%d FLOP, %d bytes, %s: %q, want %q", p.flop, p.bytes, p.cache, got, p.want)
		}
	}
}
