package bench

import (
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// caseOverhead is about what a case takes beside running: the reference of what is
// verified, and the readings of the clock.
const caseOverhead = 30 * time.Millisecond

// operationOverhead is about what it takes to prepare and to verify an operation of a network.
const operationOverhead = 8 * time.Millisecond

// once estimates one execution before anything was measured: on a device whose theoretical peaks are known at half
// of them; else at the rate of a core with vectors of 256 bits, and 10 GB/s, on a whole device at 10 TFLOPS in
// fp32, and 500 GB/s.
func (c *Calibrator) once(flop, bytes int64, d schema.DType, on Place) time.Duration {
	rate, bandwidth := 400*float64(on.Threads)/float64(d.Bytes()), 10.0 // FLOP and bytes a nanosecond
	if on.Threads == 0 {
		rate, bandwidth = 40_000/float64(d.Bytes()), 500
		if peak := c.Device.Theoretical.PeakGFLOPS[d].Value; peak > 0 {
			rate = peak / 2
		}
		if peak := c.Device.Theoretical.BandwidthGBps; peak != nil {
			bandwidth = peak.Value / 2
		}
	}
	return time.Duration(float64(flop)/rate + float64(bytes)/bandwidth)
}

// at is the time of so many FLOP at the rate of the matmul that was measured last, or of the
// register peak; 0 if neither was.
func (c *Calibrator) at(flop int64, d schema.DType, on Place) time.Duration {
	rate := c.peak(d, on) // FLOP a nanosecond
	for i := range c.computed {
		if m := &c.computed[i]; m.operation == "matmul" && m.dtype == d && m.place == on {
			rate = m.gflops()
		}
	}
	if rate == 0 {
		return 0
	}
	return time.Duration(float64(flop) / rate)
}

// pairTime estimates what comparing both sides, or a control with an effect of 1/part, takes, warmed up: the blocks of the
// third look, which usually decides, as long as the budget has time for them, and those of the first whatever it is.
func (c *Calibrator) pairTime(pattern Pattern, s Shape, d schema.DType, part int, budget time.Duration) time.Duration {
	chain, err := pattern.In(d).Build(s, c.all())
	if err != nil {
		return 0 // as long as it takes to say so
	}
	side, lasts, executions := c.once(chain.FLOP(), chain.UnfusedBytes(d), d, c.all()), time.Duration(0), 0
	for _, n := range perSample(1, part) {
		lasts += quad / 2 * max(time.Duration(n)*side, c.Runner.Settings.PairSample)
		executions += n
	}
	blocks := func(n int) (t time.Duration) {
		for i := range n {
			t += time.Duration(quadsOf(i, lasts)) * lasts
		}
		return t
	}
	overhead := caseOverhead
	if pattern.Network() {
		overhead = time.Duration(len(chain)) * operationOverhead
	}
	return overhead + time.Duration(executions)*side + max(blocks(stat.Looks[0]), min(blocks(stat.Looks[2]), budget))
}
