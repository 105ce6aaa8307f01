package bench

import (
	"context"
	"fmt"
	"time"

	"hwcal/schema"
)

// explainTolerance is how far a speedup may exceed what the saved traffic
// explains before it is flagged.
const explainTolerance = 1.25

// fusionSteps plans every pattern in each dtype on each shape of the mode.
func (c *Calibrator) fusionSteps() []step {
	var steps []step
	for _, pattern := range c.Options.Patterns {
		for _, s := range pattern.Shapes(c.Options.Mode) {
			for _, d := range c.Options.DTypes {
				if c.lacks(pattern, d) {
					continue
				}
				steps = append(steps, step{
					label: fmt.Sprintf("%s %s %s", pattern.Name, d, s),
					cost:  c.Runner.Settings.PairBudget + 300*time.Millisecond,
					run: func(ctx context.Context, scale float64) error {
						return c.compareFusion(ctx, pattern, s, d, scale)
					},
				})
			}
		}
	}
	return steps
}

func (c *Calibrator) compareFusion(ctx context.Context, pattern Pattern, s Shape, d schema.DType, scale float64) error {
	chain, err := pattern.In(d).Build(s, c.Options.Threads)
	if err != nil {
		return err
	}
	p := Place{Threads: c.Options.Threads}
	cmp, err := c.Runner.Compare(ctx, Case{Chain: chain, DType: d, Place: p, Seed: c.Options.Seed},
		time.Duration(scale*float64(c.Runner.Settings.PairBudget)))
	if err != nil {
		return err
	}
	entry := FusionEntry(pattern, s, chain, d, p, cmp)
	level, gbps := c.intermediates(chain, d)
	if gbps > 0 {
		saved := float64(entry.UnfusedBytes-entry.FusedBytes) / gbps / 1e9
		entry.PredictedSpeedup = (cmp.Fused + saved) / cmp.Fused
		entry.Reason += fmt.Sprintf("; %.1f MB less traffic in %s at %.1f GB/s predict %.3f",
			float64(entry.UnfusedBytes-entry.FusedBytes)/1e6, level, gbps, entry.PredictedSpeedup)
		if entry.Speedup > explainTolerance*entry.PredictedSpeedup {
			m := Measurement{Warnings: cmp.Warnings, Notes: cmp.Notes}
			m.warn(schema.AboveTraffic, "speedup %.3f is above %.2f times the %.3f that the saved traffic explains",
				entry.Speedup, explainTolerance, entry.PredictedSpeedup)
			cmp.Warnings, cmp.Notes = m.Warnings, m.Notes
		}
	}
	entry.Warnings = c.warnAll("fusion_profiles", len(c.Device.FusionProfiles), cmp.Warnings, cmp.Notes)
	c.Device.FusionProfiles = append(c.Device.FusionProfiles, entry)
	return nil
}

// intermediates says where the operations meet that fusing joins, by the largest
// of their working sets, and how fast that level is copied.
func (c *Calibrator) intermediates(chain Chain, d schema.DType) (schema.Level, float64) {
	largest := int64(0)
	for i := range chain[1:] {
		largest = max(largest, chain[i+1:i+2].FusedBytes(d))
	}
	level := c.levels.of(largest, c.Options.Threads)
	return level, c.bandwidth(level, "copy", c.Options.Threads)
}

// FusionEntry describes a comparison as the profile does.
func FusionEntry(pattern Pattern, s Shape, chain Chain, d schema.DType, p Place, cmp Comparison) schema.Fusion {
	flop := chain.FLOP()
	e := schema.Fusion{
		Pattern: pattern.Name, Group: pattern.Group, Operators: chain.Names(),
		DType: d, Implementation: cmp.Implementation, Threads: p.Threads,
		Shape: s.String(), InputShape: s.Values(), ExtraParams: s.Map(),
		UnfusedLatencyMS: cmp.Unfused * 1e3, UnfusedGFLOPS: float64(flop) / cmp.Unfused / 1e9,
		UnfusedBytes:   chain.UnfusedBytes(d),
		FusedLatencyMS: cmp.Fused * 1e3, FusedGFLOPS: float64(flop) / cmp.Fused / 1e9,
		FusedBytes: chain.FusedBytes(d),
		Speedup:    cmp.Speedup, SpeedupCILow: cmp.Low, SpeedupCIHigh: cmp.High,
		Blocks: cmp.Blocks, GFLOPSImprovement: cmp.Speedup - 1,
		FLOP: flop, Verdict: cmp.Verdict, MaxAbsError: cmp.MaxAbsError,
		EffectiveClockMHz: cmp.ClockMHz,
		Warnings:          append([]schema.Code{}, cmp.Warnings...),
	}
	e.MemoryReduction = 1 - float64(e.FusedBytes)/float64(e.UnfusedBytes)
	e.Reason = fmt.Sprintf("%s: %s, %d blocks", e.Verdict, interval(e), e.Blocks)
	return e
}

// interval puts the verdict's ground into words.
func interval(e schema.Fusion) string {
	within := fmt.Sprintf("speedup %.3f in [%.3f, %.3f]", e.Speedup, e.SpeedupCILow, e.SpeedupCIHigh)
	if e.Verdict == schema.Inconclusive {
		return fmt.Sprintf("%s crosses a bound of 1.02 either way; unfused %.3g ms, fused %.3g ms", within, e.UnfusedLatencyMS, e.FusedLatencyMS)
	}
	return within
}
