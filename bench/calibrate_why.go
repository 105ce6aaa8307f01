package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hwcal/schema"
)

// explainTolerance is how far a speedup may exceed what the savings explain before
// it is flagged.
const explainTolerance = 1.25

// saving is the time, in seconds, that fusing should save.
type saving struct{ flop, traffic, overhead float64 }

func (s saving) total() float64 { return s.flop + s.traffic + s.overhead }

// explain predicts the speedup from what fusing saves, at the rates that were
// measured before, and says why it pays or does not. Without the rates it says
// nothing.
func (c *Calibrator) explain(ctx context.Context, e *schema.Fusion, cs Case, cmp *Comparison) error {
	level, gbps := c.intermediates(cs)
	start, err := c.startCost(ctx, started{cs.Place, cs.Graph})
	if err != nil {
		return err
	}
	peak := c.peak(cs.DType, cs.Place)
	if gbps == 0 || peak == 0 {
		return nil
	}
	bytes, folded, fewer := e.UnfusedBytes-e.FusedBytes, cmp.Parts.FoldedFLOP(), len(cs.Chain)-len(cmp.Parts)
	s := saving{
		flop:     float64(folded) / peak / 1e9,
		traffic:  float64(bytes) / gbps / 1e9,
		overhead: float64(fewer) * start,
	}
	e.PredictedSpeedup = (cmp.Fused + s.total()) / cmp.Fused
	if t := s.total(); t > 0 {
		e.Explained = &schema.Explained{FLOP: s.flop / t, Traffic: s.traffic / t, Overhead: s.overhead / t}
	}
	e.Reason += fmt.Sprintf("; %s, the intermediates are in %s; %.1f MB less traffic at %.1f GB/s, %d operations less to start",
		c.bound(e), level, float64(bytes)/1e6, gbps, fewer)
	if folded > 0 {
		e.Reason += fmt.Sprintf(", %.1f MFLOP folded away", float64(folded)/1e6)
	}
	e.Reason += fmt.Sprintf(" predict %.3f", e.PredictedSpeedup)
	switch {
	case e.PredictedSpeedup < e.SpeedupCILow:
		e.Reason += ", less than was measured"
	case e.PredictedSpeedup > e.SpeedupCIHigh:
		e.Reason += ", more than was measured"
	}
	if e.Speedup > explainTolerance*e.PredictedSpeedup {
		m := Measurement{Warnings: cmp.Warnings, Notes: cmp.Notes}
		m.warn(schema.AboveTraffic, "speedup %.3f is above %.2f times the %.3f that the savings explain",
			e.Speedup, explainTolerance, e.PredictedSpeedup)
		cmp.Warnings, cmp.Notes = m.Warnings, m.Notes
	}
	return nil
}

// bound says on which side of the ridge point the fused chain lies: of that of the level where its tensors live,
// which is the memory where the caches are cold.
func (c *Calibrator) bound(e *schema.Fusion) string {
	intensity := float64(e.FLOP) / float64(e.FusedBytes)
	text := fmt.Sprintf("%.3g FLOP/byte", intensity)
	level := c.levels.outer
	if e.Cache == schema.Warm {
		level = c.levels.of(e.FusedBytes, e.Threads)
	}
	gbps, _ := ceiling(c.Device.Bandwidth, level, e.Threads, "")
	peak := c.peak(e.DType, Place{Threads: e.Threads})
	switch {
	case gbps == 0 || peak == 0:
		return text
	case intensity >= peak/gbps:
		return text + ", compute-bound"
	}
	return text + ", memory-bound from " + string(level)
}

// intermediates says where the operations meet that fusing joins, by the largest
// of their working sets, and how fast that level is copied.
func (c *Calibrator) intermediates(cs Case) (schema.Level, float64) {
	largest := int64(0)
	for i := range cs.Chain[1:] {
		largest = max(largest, cs.Chain[i+1:i+2].FusedBytes(cs.DType))
	}
	level := c.levels.of(largest, cs.Place.Threads)
	gbps, _ := ceiling(c.Device.Bandwidth, level, cs.Place.Threads, "copy")
	return level, gbps
}

// started is where and how operations are started.
type started struct {
	place Place
	graph bool
}

// startCost is the time, in seconds, that it takes to start an operation and to wait
// for all threads at its end: that of operations on single elements. It is measured
// once for a number of threads, and for runs from a graph; 0 if the device has no such kernels.
func (c *Calibrator) startCost(ctx context.Context, s started) (float64, error) {
	if cost, ok := c.starts[s]; ok {
		return cost, nil
	}
	cost, err := c.measureStart(s)
	if err != nil && !errors.Is(err, ErrUnsupported) {
		return 0, err
	}
	if c.starts == nil {
		c.starts = map[started]float64{}
	}
	c.starts[s] = cost
	return cost, ctx.Err()
}

// startSamples is how often the start of an operation is measured; the least counts.
const startSamples = 20

func (c *Calibrator) measureStart(s started) (float64, error) {
	chain := linear(dims(linearDims, 1, 1, 1), bias, ReLU)
	ws, err := c.Runner.open(Case{Chain: chain, DType: schema.FP32, Place: s.place, Seed: c.Options.Seed, Graph: s.graph})
	if err != nil {
		return 0, err
	}
	defer ws.Close()
	ks, err := bindEach(ws, chain)
	if err != nil {
		return 0, err
	}
	n, err := c.Runner.iterations(ws, ks, 0, c.Runner.Settings.PairSample)
	if err != nil {
		return 0, err
	}
	times, err := ws.Samples(slices.Repeat([]Run{{Kernels: ks, N: n}}, startSamples))
	if err != nil {
		return 0, err
	}
	return slices.Min(times).Seconds() / float64(n*len(ks)), nil
}
