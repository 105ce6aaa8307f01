package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hwcal/schema"
)

// sweepTime is what a sweep takes at most in full runs, and all of them together in default
// runs.
const sweepTime = 8 * time.Second

// sweepPoints is how many points share the time of a sweep: more than it takes to
// find one flip among ten shapes.
const sweepPoints = 8

// sweepWarmUp is the share of the warm-up of a case that a point takes: the point
// before it has warmed the cores.
const sweepWarmUp = 0.2

// sweep looks along the shapes of a pattern for where its verdict flips.
type sweep struct {
	pattern Pattern
	dtype   schema.DType
}

// sweeps are those of the mode: none in quick runs; in default runs one for each group
// of patterns, in the main dtype; in full runs all.
func (c *Calibrator) sweeps() []sweep {
	var of []sweep
	for _, s := range c.allSweeps() {
		same := func(o sweep) bool { return o.pattern.Group == s.pattern.Group }
		if c.Options.Mode == schema.Full || c.Options.Mode == schema.Default && s.dtype == c.mainDType() && !slices.ContainsFunc(of, same) {
			of = append(of, s)
		}
	}
	return of
}

// allSweeps are those that there are.
func (c *Calibrator) allSweeps() []sweep {
	var all []sweep
	for _, pattern := range c.Options.Patterns {
		for _, d := range c.fusionDTypes() {
			if len(pattern.Sweep) > 1 && !c.lacks(pattern, d) {
				all = append(all, sweep{pattern, d})
			}
		}
	}
	return all
}

// crossoverSteps plans the sweeps.
func (c *Calibrator) crossoverSteps() []step {
	all := c.sweeps()
	budget := sweepTime
	if c.Options.Mode == schema.Default {
		budget /= time.Duration(max(1, len(all)))
	}
	var steps []step
	for _, s := range all {
		ends := c.pairTime(s.pattern, s.pattern.Sweep[0], s.dtype, 0, 0) + c.pairTime(s.pattern, s.pattern.Sweep[len(s.pattern.Sweep)-1], s.dtype, 0, 0)
		steps = append(steps, step{
			label: fmt.Sprintf("crossover %s %s", s.pattern.Name, s.dtype),
			cost:  max(budget, ends),
			least: ends,
			usual: c.sweepUsual(s, budget),
			run: func(ctx context.Context, scale float64) error {
				return c.measureCrossover(ctx, s, time.Duration(scale*float64(budget)))
			},
		})
	}
	return steps
}

// sweepUsual is the time of both ends, the middle, and two points more to find one flip.
func (c *Calibrator) sweepUsual(s sweep, budget time.Duration) time.Duration {
	last := len(s.pattern.Sweep) - 1
	sum := time.Duration(0)
	for _, i := range []int{0, last, last / 2, last / 2, last / 2} {
		sum += c.pairTime(s.pattern, s.pattern.Sweep[i], s.dtype, 0, budget/sweepPoints)
	}
	return min(sum, budget)
}

// measureCrossover bisects until the points left and right of each flip are neighbours
// in the sweep, or the time is up.
func (c *Calibrator) measureCrossover(ctx context.Context, s sweep, budget time.Duration) error {
	r := c.runner(sweepWarmUp)
	r.Settings.RetryTime = budget / sweepPoints
	p := c.all()
	deadline := r.Now().Add(budget)
	verdicts := make([]schema.Verdict, len(s.pattern.Sweep))
	measured := make([]Comparison, len(verdicts))
	at := nextPoint(verdicts)
	var failed error
	for ; at >= 0; at = nextPoint(verdicts) {
		if verdicts[0] != "" && verdicts[len(verdicts)-1] != "" && !r.Now().Before(deadline) {
			break
		}
		chain, err := s.pattern.In(s.dtype).Build(s.pattern.Sweep[at], p)
		if err != nil {
			return err
		}
		measured[at], err = r.Compare(ctx, Case{Chain: chain, DType: s.dtype, Place: p, Seed: c.Options.Seed}, budget/sweepPoints)
		if err != nil {
			failed = fmt.Errorf("%s: %w", s.pattern.Sweep[at], err)
			break
		}
		measured[at].beside()
		verdicts[at] = measured[at].Verdict
	}
	if failed != nil && (ctx.Err() != nil || verdicts[0] == "" || verdicts[len(verdicts)-1] == "") {
		return failed
	}
	entry := schema.Crossover{
		Pattern: s.pattern.Name, Group: s.pattern.Group, DType: s.dtype, Threads: p.Threads, Along: varying(s.pattern.Sweep),
	}
	for i, cmp := range measured {
		if verdicts[i] == "" {
			continue
		}
		list := fmt.Sprintf("fusion_crossovers/%d/points", len(c.Device.FusionCrossovers))
		chain, err := s.pattern.In(s.dtype).Build(s.pattern.Sweep[i], p)
		if err != nil {
			return err
		}
		entry.Points = append(entry.Points, schema.CrossoverPoint{
			Shape: s.pattern.Sweep[i].String(), InputShape: s.pattern.Sweep[i].Values(), UnfusedBytes: chain.UnfusedBytes(s.dtype),
			UnfusedLatencyMS: cmp.Unfused * 1e3, FusedLatencyMS: cmp.Fused * 1e3,
			Speedup: cmp.Speedup, SpeedupCILow: cmp.Low, SpeedupCIHigh: cmp.High, Blocks: cmp.Blocks, Verdict: cmp.Verdict,
			Warnings: c.warnAll(list, len(entry.Points), cmp.Warnings, cmp.Notes),
		})
	}
	entry.Flips = schema.Flips(entry.Points)
	entry.Reason = crossoverReason(entry)
	switch {
	case failed != nil:
		entry.Reason += fmt.Sprintf("; no points closer, as one failed: %v", failed)
	case at >= 0:
		entry.Reason += "; the time was up before the points were closer"
	}
	c.Device.FusionCrossovers = append(c.Device.FusionCrossovers, entry)
	return failed
}

// nextPoint chooses what to measure next, given the verdicts so far, empty where there
// is none: both ends, the middle, because two flips between equal ends cancel, and then
// the middle of the widest gap between points that differ. It is -1 in the end.
func nextPoint(verdicts []schema.Verdict) int {
	n := len(verdicts)
	for _, i := range []int{0, n - 1, n / 2} {
		if verdicts[i] == "" {
			return i
		}
	}
	next, widest, last := -1, 1, 0
	for i, v := range verdicts {
		if v == "" {
			continue
		}
		if v != verdicts[last] && i-last > widest {
			next, widest = (last+i)/2, i-last
		}
		last = i
	}
	return next
}
