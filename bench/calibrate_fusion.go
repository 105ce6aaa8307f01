package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// fusionSteps plans every pattern in each dtype on each shape of the mode: the first way of each in the main type, in
// which the first shape of every pattern comes before its other shapes; then in other types; and the other ways, one
// after the other. Of a device that computes in many types a default run has no time for all: what is no typical shape
// comes last, except in the main type, and so do networks, each of which takes as long as a dozen pairs. A full run has
// all ways of the typical shapes before others, and of a user's own, and leaves for later the others, of which there are so
// many that a slow machine has no time for them.
func (c *Calibrator) fusionSteps() (main, typed, others []step) {
	var byRank [3][]step
	var byWay [4][]step // those that are left for later
	full := c.Options.Mode == schema.Full
	for _, pattern := range c.Options.Patterns {
		dtypes := slices.DeleteFunc(slices.Clone(c.fusionDTypes()), func(d schema.DType) bool { return c.lacks(pattern, d) })
		for i, s := range c.shapes(pattern) {
			for _, d := range dtypes {
				rank := min(i, 1)
				if d != c.mainDType() {
					rank = 2
				}
				typical := i < typicalShapes[c.Options.Mode]
				later := full && !pattern.Own && !typical || c.Options.Mode == schema.Default && d != c.mainDType() && (pattern.Network() || !typical)
				for n, way := range c.ways(pattern, i, d) {
					label := pairLabel(pattern.Name, d, s.String(), way)
					pair := c.pairStep(label, pattern, s, d, way.place, 0, func(ctx context.Context, scale float64) error {
						return c.compareFusion(ctx, pattern, s, d, way, scale)
					})
					if n == 0 && !later {
						byRank[rank] = append(byRank[rank], pair)
					} else {
						byWay[n] = append(byWay[n], pair)
					}
				}
			}
		}
	}
	main, typed, others = slices.Concat(byRank[:2]...), byRank[2], slices.Concat(byWay[1:]...)
	if full {
		return main, append(typed, others...), byWay[0]
	}
	return main, typed, append(others, byWay[0]...)
}

func pairLabel(pattern string, d schema.DType, shape string, w way) string {
	return fmt.Sprintf("%s %s %s, %s", pattern, d, shape, w)
}

// pairStep plans a pair, or a control with an effect of 1/part.
func (c *Calibrator) pairStep(label string, pattern Pattern, s Shape, d schema.DType, on Place, part int, run func(ctx context.Context, scale float64) error) step {
	set := c.Runner.Settings
	least := c.pairTime(pattern, s, d, part, 0)
	return step{
		label: label,
		cost:  least + 2*set.WarmUp + set.PairBudget,
		least: least,
		usual: 2*set.WarmUp + c.pairTime(pattern, s, d, part, set.PairBudget),
		takes: func() time.Duration { return c.takesPair(pattern, s, d, on, part) },
		run:   run,
	}
}

// way is how a pair is measured.
type way struct {
	place  Place
	cache  schema.CacheState
	launch schema.LaunchMode // empty for a device that launches nothing
}

// wayOf a pair that was measured.
func wayOf(f schema.Fusion) way { return way{Place{Threads: f.Threads}, f.Cache, f.Launch} }

// String reads "2 threads, warm", "whole device, warm, graph".
func (w way) String() string {
	words := fmt.Sprintf("%s, %s", w.place, w.cache)
	if w.launch != "" {
		words += ", " + string(w.launch)
	}
	return words
}

// typicalShapes is the number of shapes, the first ones of a pattern, that runs of a mode
// measure in several ways.
var typicalShapes = map[schema.Mode]int{schema.Default: 1, schema.Full: 2}

// ways are those of shape i of a pattern: warm caches and all threads; for the typical
// shapes cold caches and one thread too, or on a GPU cold caches and from a graph. The main
// dtype is measured on all shapes. Of the others a full run, and any of a GPU, has the typical shapes only, or a
// user's, of fp64 the first in one way, and a default run one way. A network, which takes seconds and
// leaves little of itself in the caches, has no cold ones, a single typical shape, and one way in a
// default run.
func (c *Calibrator) ways(p Pattern, i int, d schema.DType) []way {
	all, one := c.all(), c.one()
	mode, typical, other := c.Options.Mode, i < typicalShapes[c.Options.Mode], d != c.mainDType()
	ways := []way{{all, schema.Warm, ""}, {all, schema.Cold, ""}, {one, schema.Warm, ""}, {one, schema.Cold, ""}}
	if c.Device.Kind == schema.GPU {
		// Networks whose kernels are short run from graphs, where launching costs less.
		ways = []way{{all, schema.Warm, schema.LaunchStream}, {all, schema.Warm, schema.LaunchGraph}, {all, schema.Cold, schema.LaunchStream}}
	}
	if p.Network() {
		typical = i == 0
		ways = slices.DeleteFunc(ways, func(w way) bool { return w.cache == schema.Cold })
	}
	switch {
	case other && (mode == schema.Full || c.Device.Kind == schema.GPU) && !p.Own && (!typical || d == schema.FP64 && i > 0):
		return nil
	case mode == schema.Default && (other || p.Network()) || other && d == schema.FP64 || !typical:
		return ways[:1]
	case c.Device.Kind == schema.CPU && all == one:
		return ways[:len(ways)/2]
	case mode == schema.Default:
		return ways[:3]
	}
	return ways
}

// mainDType is that in which fusion is measured most.
func (c *Calibrator) mainDType() schema.DType {
	return schema.MainDType(c.Device.Kind, c.fusionDTypes())
}

// fusionDTypes are those in which patterns are compared: networks do not run in fp64,
// so it is left to full runs, and to those that ask for nothing else.
func (c *Calibrator) fusionDTypes() []schema.DType {
	if c.Options.Mode == schema.Full || len(c.Options.DTypes) == 1 {
		return c.Options.DTypes
	}
	return slices.DeleteFunc(slices.Clone(c.Options.DTypes), func(d schema.DType) bool { return d == schema.FP64 })
}

// dtypesOf are those in which a pattern or an operation is measured.
func (c *Calibrator) dtypesOf(p Pattern) []schema.DType {
	switch {
	case p.Fusion():
		return c.fusionDTypes()
	case p.Group == operationGroup:
		return c.operationDTypes()
	}
	return c.Options.DTypes
}

// compareFusion measures a pair, for the first time or again.
func (c *Calibrator) compareFusion(ctx context.Context, pattern Pattern, s Shape, d schema.DType, w way, scale float64) error {
	chain, err := pattern.In(d).Build(s, w.place)
	if err != nil {
		return err
	}
	cs := Case{Chain: chain, Parts: pattern.Parts(chain, d, c.Runner.Backend), DType: d, Place: w.place, Seed: c.Options.Seed, Cold: w.cache == schema.Cold, Graph: w.launch == schema.LaunchGraph}
	if err := c.affordablePair(chain, d, w.place, 0); err != nil {
		return err
	}
	r := c.runner(scale)
	cmp, err := r.Compare(ctx, cs, r.Settings.PairBudget)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(c.Device.FusionProfiles, func(f schema.Fusion) bool {
		return f.Pattern == pattern.Name && f.DType == d && wayOf(f) == w && slices.Equal(f.InputShape, s.Values())
	})
	if at >= 0 {
		parts := cmp.Parts
		cmp = c.compared[at].join(cmp)
		cmp.Parts = parts
	}
	cmp.beside()
	if err := c.findStart(startOf(w)); err != nil {
		return err
	}
	entry := FusionEntry(pattern, s, cs, cmp)
	entry.Launch = w.launch
	if at < 0 {
		at = len(c.Device.FusionProfiles)
		c.Device.FusionProfiles, c.compared = append(c.Device.FusionProfiles, entry), append(c.compared, cmp)
	}
	entry.Warnings = c.warnAnew("fusion_profiles", at, cmp.Warnings, cmp.Notes)
	c.Device.FusionProfiles[at], c.compared[at] = entry, cmp
	if cmp.disturbed() {
		c.disturbed = append(c.disturbed, c.disturbedPair(at))
	}
	return nil
}

// disturbedPair is the disturbance of entry `at` of FusionProfiles.
func (c *Calibrator) disturbedPair(at int) disturbance {
	return disturbance{
		still:  func() bool { return c.compared[at].disturbed() },
		urgent: c.compared[at].Verdict == schema.Inconclusive,
	}
}

// affordablePair refuses what takes too long for the first look, at the register peak.
func (c *Calibrator) affordablePair(chain Chain, d schema.DType, p Place, part int) error {
	peak := c.peak(d, p) // FLOP a nanosecond
	if peak == 0 {
		return nil
	}
	return c.affordable(firstLook(time.Duration(float64(chain.FLOP())/peak), part))
}

// firstLook is what its blocks take, at so much for one execution, with as few in a sample as there can be.
func firstLook(once time.Duration, part int) time.Duration {
	each := perSample(1, part)
	return time.Duration(stat.Looks[0]*quad/2*(each[0]+each[1])) * once
}

// takesPair is the time of the first look at the rates that were measured.
func (c *Calibrator) takesPair(pattern Pattern, s Shape, d schema.DType, on Place, part int) time.Duration {
	chain, err := pattern.In(d).Build(s, on)
	if err != nil {
		return 0 // as long as it takes to say so
	}
	return firstLook(c.at(chain.FLOP(), d, on), part)
}

// FusionEntry describes a comparison as the profile does.
func FusionEntry(pattern Pattern, s Shape, c Case, cmp Comparison) schema.Fusion {
	flop := c.Chain.FLOP()
	e := schema.Fusion{
		Pattern: pattern.Name, Group: pattern.Group, Operators: c.Chain.Names(),
		DType: c.DType, Implementation: cmp.Implementation, Threads: c.Place.Threads, Cache: schema.Warm,
		Shape: s.String(), InputShape: s.Values(), ExtraParams: s.Map(),
		UnfusedLatencyMS: cmp.Unfused * 1e3, UnfusedGFLOPS: float64(flop) / cmp.Unfused / 1e9,
		UnfusedBytes:   c.Chain.UnfusedBytes(c.DType),
		FusedLatencyMS: cmp.Fused * 1e3, FusedGFLOPS: float64(flop) / cmp.Fused / 1e9,
		FusedBytes: cmp.Parts.FusedBytes(c.DType), Parts: cmp.Parts.names(),
		Speedup: cmp.Speedup, SpeedupCILow: cmp.Low, SpeedupCIHigh: cmp.High,
		Blocks: cmp.Blocks, GFLOPSImprovement: cmp.Speedup - 1,
		FLOP: flop, PaddingFLOP: c.Chain.PaddingFLOP(), Verdict: cmp.Verdict, MaxAbsError: cmp.MaxAbsError,
		EffectiveClockMHz: cmp.ClockMHz,
		Warnings:          append([]schema.Code{}, cmp.Warnings...),
	}
	if c.Cold {
		e.Cache = schema.Cold
	}
	if samples := pattern.Samples(s); samples > 0 {
		e.UnfusedSamplesPerSecond, e.FusedSamplesPerSecond = float64(samples)/cmp.Unfused, float64(samples)/cmp.Fused
	}
	e.MemoryReduction = 1 - float64(e.FusedBytes)/float64(e.UnfusedBytes)
	e.Reason = decision(&e)
	return e
}

// decision puts the verdict and its ground into words.
func decision(e *schema.Fusion) string {
	return e.Verdict.Because(fmt.Sprintf("%s, %d blocks", interval(e), e.Blocks))
}

func interval(e *schema.Fusion) string {
	within := fmt.Sprintf("speedup %.3f in [%.3f, %.3f]", e.Speedup, e.SpeedupCILow, e.SpeedupCIHigh)
	switch {
	case slices.Contains(e.Warnings, schema.WorkersApart):
		return within + ", while the workers were further apart than they are at times"
	case e.Verdict == schema.Inconclusive:
		return fmt.Sprintf("%s crosses a bound of 1.02 either way; unfused %.3g ms, fused %.3g ms", within, e.UnfusedLatencyMS, e.FusedLatencyMS)
	}
	return within
}
