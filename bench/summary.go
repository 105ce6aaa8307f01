package bench

import (
	"slices"

	"hwcal/schema"
)

// finish derives the summary, and holds what was measured against what bounds it.
func (c *Calibrator) finish() {
	c.addComputed()
	c.boundFusion()
	c.flagCached()
	c.orderBandwidth()
	c.explainFusion()
	c.applyControls()
	dev := &c.Device
	dev.Summary = summarize(*dev)
	c.finishTraffic("compute", dev.Compute)
	c.finishOperations()
	above := func(field string, got float64, unit string, theory schema.Peak) {
		if got > theory.Value {
			c.warn(schema.PeakBelowMeasured, "/theoretical/"+field,
				"measured %.1f %s, above the %.1f computed from %s: its assumptions do not hold", got, unit, theory.Value, theory.Source)
		}
	}
	for _, d := range schema.DTypes() {
		if theory, known := dev.Theoretical.PeakGFLOPS[d]; known {
			above("peak_gflops/"+string(d), dev.Summary.PeakGFLOPS[d], "GFLOPS", theory)
		}
	}
	c.flagHeldClock()
	if theory := dev.Theoretical.BandwidthGBps; theory != nil {
		above("bandwidth_gbps", dev.Summary.BandwidthGBps, "GB/s", *theory)
	}
}

// heldClock is the share of its highest clock below which a device is held down by somebody, if not a single case ran above
// it: not by its power limit, which light cases do not reach.
const heldClock = 0.75

// flagHeldClock says so of a GPU: all that was measured is of that clock.
func (c *Calibrator) flagHeldClock() {
	if c.Device.GPU == nil {
		return
	}
	top := 0.0
	for _, e := range c.Device.Compute {
		top = max(top, e.EffectiveClockMHz)
	}
	if rated := c.Device.GPU.SMMaxMHz; top > 0 && top < heldClock*rated {
		c.warn(schema.Throttled, "/gpu/sm_max_mhz", "nothing ran above %.0f MHz, of %.0f: the clock is limited, and all figures are of the lower one", top, rated)
	}
}

// boundBy says on which side of the ridge point an entry lies: that of the level of its traffic,
// or of the memory. Without FLOP nothing but memory binds.
func (c *Calibrator) boundBy(e *schema.Compute) {
	ridge := c.Device.Summary.RidgePoint[e.DType]
	if e.Traffic != nil {
		ridge = c.peak(e.DType, Place{Threads: e.Threads, Class: e.CoreClass}) / e.Traffic.CeilingGBps
	}
	if e.Bytes == 0 || e.FLOP > 0 && ridge == 0 {
		return
	}
	compute := float64(e.FLOP)/float64(e.Bytes) >= ridge && e.FLOP > 0
	memory := !compute
	e.ComputeBound, e.MemoryBound = &compute, &memory
}

// summarize quotes the best entries over all threads, and none where only fewer were measured:
// the time may have been up. Implausible ones are not quoted.
func summarize(dev schema.Device) schema.Summary {
	s := schema.Summary{RidgePoint: map[schema.DType]float64{}}
	threads := dev.AllThreads()
	s.PeakGFLOPS = best(dev.Compute, "peak_fma", threads)
	s.MatmulGFLOPS = best(dev.Compute, "matmul", threads)
	memory := schema.DRAM
	for _, e := range dev.Bandwidth {
		if e.Level == schema.HBM {
			memory = e.Level
		}
	}
	s.BandwidthGBps, s.BandwidthOf = ceiling(dev.Bandwidth, memory, threads, anyKernel)
	if s.BandwidthGBps > 0 {
		for d, peak := range s.PeakGFLOPS {
			s.RidgePoint[d] = peak / s.BandwidthGBps
		}
	}
	return s
}

// best rates of an operation by dtype, with a number of threads.
func best(entries []schema.Compute, operation string, threads int) map[schema.DType]float64 {
	rates := map[schema.DType]float64{}
	for _, e := range entries {
		if e.Operation == operation && e.Threads == threads && e.GFLOPS.Best > rates[e.DType] &&
			!slices.Contains(e.Warnings, schema.Implausible) {
			rates[e.DType] = e.GFLOPS.Best
		}
	}
	return rates
}

// missing records which figures that every run should have there are none of, each with its reason.
func (c *Calibrator) missing() {
	counted := slices.ContainsFunc(c.Device.Power.Meters, schema.PowerMeter.Counted)
	has := func(e schema.Compute) bool { return e.Energy != nil }
	if counted && !slices.ContainsFunc(slices.Concat(c.Device.Compute, c.Device.OperationProfiles), has) {
		c.Device.Unavailable = append(c.Device.Unavailable, schema.Unavailable{
			What: "energy", Reason: "no case ran for as long as the meter needs to tell its energy, or the meter counts nothing",
		})
	}
	say := func(what string, absent bool) {
		if absent {
			c.Device.Unavailable = append(c.Device.Unavailable, schema.Unavailable{
				What: "summary." + what, Reason: "nothing was measured that it could quote; the reasons stand with the entries of unavailable and warnings",
			})
		}
	}
	s := c.Device.Summary
	say("peak_gflops", len(s.PeakGFLOPS) == 0)
	say("matmul_gflops", len(s.MatmulGFLOPS) == 0)
	say("bandwidth_gbps", s.BandwidthGBps == 0)
	say("ridge_point_flops_per_byte", len(s.RidgePoint) == 0)
}
