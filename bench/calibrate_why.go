package bench

import (
	"errors"
	"fmt"
	"slices"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// explainTolerance is how far a speedup may exceed what the savings explain before
// it is flagged.
const explainTolerance = 1.25

// saving is the time, in seconds, that fusing should save.
type saving struct{ flop, traffic, overhead float64 }

func (s saving) total() float64 { return s.flop + s.traffic + s.overhead }

// explainFusion predicts the speedup of each pair from what fusing saves, and says why it pays or does not. It runs
// when everything is measured, as levels and peaks that the host disturbed are measured again behind the pairs.
func (c *Calibrator) explainFusion() {
	for i := range c.Device.FusionProfiles {
		e := &c.Device.FusionProfiles[i]
		c.explain(e, c.compared[i].Parts)
		if e.PredictedSpeedup > 0 && e.Speedup > explainTolerance*e.PredictedSpeedup {
			c.warn(schema.AboveTraffic, fmt.Sprintf("/fusion_profiles/%d", i), "speedup %.3f is above %.2f times the %.3f that the savings explain",
				e.Speedup, explainTolerance, e.PredictedSpeedup)
			e.Warnings = append(e.Warnings, schema.AboveTraffic)
		}
	}
}

// explain predicts the speedup at the rates that were measured. Without these it says nothing.
func (c *Calibrator) explain(e *schema.Fusion, parts Parts) {
	e.PredictedSpeedup, e.Explained, e.Reason = 0, nil, decision(e)
	chain := slices.Concat(parts...)
	level, gbps := c.intermediates(chain, e.DType, e.Threads)
	peak := c.peak(e.DType, Place{Threads: e.Threads})
	if gbps == 0 || peak == 0 {
		return
	}
	bytes, folded, fewer := e.UnfusedBytes-e.FusedBytes, parts.FoldedFLOP(), len(chain)-len(parts)
	start := c.starts[startOf(wayOf(*e))]
	s := saving{
		flop:     float64(folded) / peak / 1e9,
		traffic:  float64(bytes) / gbps / 1e9,
		overhead: float64(fewer) * start,
	}
	fused := e.FusedLatencyMS / 1e3
	e.PredictedSpeedup = (fused + s.total()) / fused
	if t := s.total(); t > 0 {
		e.Explained = &schema.Explained{FLOP: s.flop / t, Traffic: s.traffic / t, Overhead: s.overhead / t}
	}
	e.Reason += fmt.Sprintf("; %s, the intermediates are in %s; %.1f MB less traffic at %.1f GB/s, %d operations less to start at %.3g us each",
		c.bound(e, parts), level, float64(bytes)/1e6, gbps, fewer, 1e6*start)
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
}

// bound says on which side of the ridge point the fused chain lies.
func (c *Calibrator) bound(e *schema.Fusion, parts Parts) string {
	o := c.fusedOperation(e, parts)
	text := fmt.Sprintf("%.3g FLOP/byte", o.ArithmeticIntensity)
	switch {
	case o.Traffic == nil || o.ComputeBound == nil:
		return text
	case *o.ComputeBound:
		return text + ", compute-bound"
	}
	return text + ", memory-bound from " + string(o.Traffic.Level)
}

// FusedOperation describes the fused side of pair i of FusionProfiles as an operation, held against what binds it.
func (c *Calibrator) FusedOperation(i int) schema.Compute {
	return c.fusedOperation(&c.Device.FusionProfiles[i], c.compared[i].Parts)
}

// fusedOperation holds the fused side of a pair against the register peak, and against the level where its tensors live,
// which is the memory where the caches are cold.
func (c *Calibrator) fusedOperation(e *schema.Fusion, parts Parts) schema.Compute {
	gflops := stat.Summarize([]float64{e.FusedGFLOPS}, stat.Larger)
	o := schema.Compute{
		Operation: e.Pattern, DType: e.DType, Implementation: e.Implementation, Threads: e.Threads, Shape: e.Shape, InputShape: e.InputShape,
		FLOP: e.FLOP, PaddingFLOP: e.PaddingFLOP, Bytes: e.FusedBytes, BytesWritten: parts.WrittenBytes(e.DType),
		ArithmeticIntensity: float64(e.FLOP) / float64(e.FusedBytes),
		LatencyMS:           stat.Summarize([]float64{e.FusedLatencyMS}, stat.Smaller), GFLOPS: &gflops,
		EffectiveClockMHz: e.EffectiveClockMHz, MaxAbsError: &e.MaxAbsError,
	}
	level := c.levels.outer
	if e.Cache == schema.Warm {
		level = c.levels.of(o.Bytes, o.Threads)
	}
	if rate, peak := c.boundedRate(&o); peak > 0 {
		o.Efficiency = rate / peak
	}
	o.Traffic = c.traffic(&o, level)
	c.boundBy(&o)
	return o
}

// intermediates is the level where the intermediate tensors live, by the largest working
// set of the operations that read one, and the rate of the kernel copy in it.
func (c *Calibrator) intermediates(chain Chain, d schema.DType, threads int) (schema.Level, float64) {
	level := c.levels.of(meetingBytes(chain, d), threads)
	gbps, _ := ceiling(c.Device.Bandwidth, level, threads, func(kernel string) bool { return kernel == "copy" })
	return level, gbps
}

// meetingBytes is the largest working set of the operations that read what others of the chain wrote.
func meetingBytes(chain Chain, d schema.DType) int64 {
	largest := int64(0)
	for i := range chain[1:] {
		largest = max(largest, chain[i+1:i+2].FusedBytes(d))
	}
	return largest
}

// started is where and how operations are started.
type started struct {
	place Place
	graph bool
}

// startOf is where and how the operations of a pair are started.
func startOf(w way) started { return started{w.place, w.launch == schema.LaunchGraph} }

// findStart finds out the time, in seconds, that it takes to start an operation and to wait
// for all threads at its end: that of operations on single elements. It is measured
// once for a number of threads, and for runs from a graph; 0 if the device has no such kernels.
func (c *Calibrator) findStart(s started) error {
	if _, ok := c.starts[s]; ok {
		return nil
	}
	cost, err := c.measureStart(s)
	if err != nil && !errors.Is(err, ErrUnsupported) {
		return err
	}
	if c.starts == nil {
		c.starts = map[started]float64{}
	}
	c.starts[s] = cost
	return nil
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
