package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hwcal/schema"
)

// namedShapes is the number of shapes, the first ones of an operation, that full runs measure in every
// type, and on one thread too: the named sizes and the smallest ones.
const namedShapes = 5

// operationSteps plan the single operations of a network. Full runs sweep them in the main type on all
// threads, and measure the first shapes in every type, on one thread and on all. A slow machine has no time for
// all of the sweep.
func (c *Calibrator) operationSteps() (named, sweep []step) {
	places := []Place{c.all()}
	if c.Options.Mode == schema.Full && c.one() != c.all() {
		places = append(places, c.one())
	}
	for _, p := range places {
		for _, d := range c.operationDTypes() {
			for _, pattern := range c.Options.Operations {
				if c.lacks(pattern, d) {
					continue
				}
				for i, s := range c.shapes(pattern) {
					step := c.operationStep(pattern, s, d, p, "", c.Runner.Settings.PointShare)
					if i < namedShapes || pattern.Own {
						named = append(named, step)
					} else if d == c.mainDType() && p == c.all() {
						sweep = append(sweep, step)
					}
				}
			}
		}
	}
	return named, sweep
}

// operationDTypes are the main one, and in full runs all, behind it.
func (c *Calibrator) operationDTypes() []schema.DType {
	main := c.mainDType()
	if c.Options.Mode != schema.Full {
		return []schema.DType{main}
	}
	return append([]schema.DType{main}, slices.DeleteFunc(slices.Clone(c.Options.DTypes), func(d schema.DType) bool { return d == main })...)
}

// operationStep measures by the implementation of that name, or by the best, with a share of the
// time of a case.
func (c *Calibrator) operationStep(pattern Pattern, s Shape, d schema.DType, p Place, unit string, share float64) step {
	set := c.Runner.Settings
	took := time.Duration(0)
	if chain, err := pattern.In(d).Build(s, p); err == nil {
		took = least(c.once(chain.FLOP(), chain.FusedBytes(d), d, p))
	}
	return step{
		label: strings.TrimSpace(caseLabel(pattern.Name, d, s, p) + " " + unit),
		cost:  caseOverhead + max(took, time.Duration(share*float64(set.WarmUp+set.CaseBudget))),
		least: caseOverhead + took,
		run: func(ctx context.Context, scale float64) error {
			return c.measureOperation(ctx, pattern, s, Case{DType: d, Place: p, Unit: unit, Seed: c.Options.Seed, Metered: c.meterFits(share)}, scale*share)
		},
	}
}

func (c *Calibrator) measureOperation(ctx context.Context, pattern Pattern, s Shape, cs Case, scale float64) error {
	var err error
	if cs.Chain, err = pattern.In(cs.DType).Build(s, cs.Place); err != nil {
		return err
	}
	got, err := c.measure(ctx, cs, scale)
	if err != nil {
		return err
	}
	m := computed{
		operation: pattern.Name, dtype: cs.DType, place: cs.Place, shape: s,
		flop: cs.Chain.FLOP(), padding: cs.Chain.PaddingFLOP(), bytes: cs.Chain.FusedBytes(cs.DType), written: cs.Chain.WrittenBytes(cs.DType), Measurement: got,
	}
	entry := m.entry()
	entry.Warnings = c.warnAll("operation_profiles", len(c.Device.OperationProfiles), m.Warnings, m.Notes)
	c.Device.OperationProfiles = append(c.Device.OperationProfiles, entry)
	return nil
}

// finishOperations holds the operations against the ceilings, which are all known by now.
func (c *Calibrator) finishOperations() {
	const list = "operation_profiles"
	for i := range c.Device.OperationProfiles {
		e := &c.Device.OperationProfiles[i]
		rate, peak := c.boundedRate(e)
		if peak == 0 {
			continue
		}
		e.Efficiency = rate / peak
		switch {
		case e.Efficiency > boundTolerance:
			c.flag(e, list, i, schema.Implausible, "%.1f GFLOPS are above the register peak of %.1f", rate, peak)
		case e.Efficiency > 1:
			c.flag(e, list, i, schema.AbovePeak, "%.1f GFLOPS are a little above the register peak of %.1f", rate, peak)
		}
	}
	c.finishTraffic(list, c.Device.OperationProfiles)
	c.Device.LatencyTables = latencyTables(c.Device.OperationProfiles)
}

// boundedRate is the best rate, without padding, and the register peak that bounds it, in GFLOPS; 0 if there is none.
func (c *Calibrator) boundedRate(e *schema.Compute) (rate, peak float64) {
	if e.GFLOPS == nil {
		return 0, 0
	}
	return e.WithoutPadding(e.GFLOPS.Best), c.peak(e.DType, Place{Threads: e.Threads})
}

// flag adds a warning to an entry of a list, once.
func (c *Calibrator) flag(e *schema.Compute, list string, index int, code schema.Code, format string, args ...any) {
	if !slices.Contains(e.Warnings, code) {
		c.warn(code, fmt.Sprintf("/%s/%d", list, index), format, args...)
		e.Warnings = append(e.Warnings, code)
	}
}

// finishTraffic holds the entries of a list against what the level of their tensors does, and says on which side of
// its ridge point they lie.
func (c *Calibrator) finishTraffic(list string, entries []schema.Compute) {
	for i := range entries {
		e := &entries[i]
		e.Traffic = c.traffic(e, c.levels.of(e.Bytes, e.Threads))
		if t := e.Traffic; t != nil && t.PeakGBps > boundTolerance*t.CeilingGBps && !slices.Contains(e.Warnings, schema.WorkersApart) {
			c.flag(e, list, i, schema.Cached, "%.1f GB/s are above the %.1f of %s in %s: a part of it came from a level nearer to the core",
				t.PeakGBps, t.CeilingGBps, t.CeilingOf, t.Level)
		}
		c.boundBy(e)
	}
}

// traffic holds what an operation moves against the best that the kernels of bandwidth do in the
// level where its tensors live; nil if nothing was measured there.
func (c *Calibrator) traffic(e *schema.Compute, level schema.Level) *schema.Traffic {
	if e.Bytes == 0 {
		return nil
	}
	t := schema.Traffic{
		Level:       level,
		TransfersGB: float64(e.Bytes) / 1e9,
		AvgGBps:     float64(e.Bytes) / e.LatencyMS.Mean / 1e6,
		PeakGBps:    float64(e.Bytes) / e.LatencyMS.Best / 1e6,
	}
	if e.OnlyReads() {
		t.CeilingGBps, t.CeilingOf = ceiling(c.Device.Bandwidth, t.Level, e.Threads, schema.ReadKernel)
	}
	if t.CeilingGBps == 0 {
		t.CeilingGBps, t.CeilingOf = ceiling(c.Device.Bandwidth, t.Level, e.Threads, anyKernel)
	}
	if t.CeilingGBps == 0 {
		return nil
	}
	t.Utilization = 100 * t.PeakGBps / t.CeilingGBps
	if theory := c.Device.Theoretical.BandwidthGBps; theory != nil && t.Level == c.levels.outer {
		t.TheoreticalGBps = theory.Value
	}
	return &t
}

// ceiling is the rate of schema.Ceiling in a level on a number of threads, of some kernels of bandwidth, and the kernel
// that reached it; 0 if there is none.
func ceiling(entries []schema.Bandwidth, level schema.Level, threads int, of func(kernel string) bool) (gbps float64, pattern string) {
	b := schema.Ceiling(entries, func(b *schema.Bandwidth) bool { return b.Level == level && b.Threads == threads && of(b.Pattern) })
	if b == nil {
		return 0, ""
	}
	return b.GBps.Best, b.Pattern
}

func anyKernel(string) bool { return true }
