package bench

import (
	"context"
	"fmt"
	"slices"

	"hwcal/schema"
)

// Bench measures one operation on its shapes, in the types and on the threads of the options, by each
// of the implementations of a type (nil for the best), and before that the ceilings that it is held
// against. The device has the operation in OperationProfiles, in the order of shapes, types and
// implementations; what could not be measured is under Unavailable. A fusion pattern is compared with warm
// caches, and the device has its pairs in FusionProfiles: no controls are among them, and their verdicts stand.
func (c *Calibrator) Bench(ctx context.Context, pattern Pattern, implementations map[schema.DType][]string) (schema.Device, []schema.Warning, error) {
	c.uncontrolled = true
	return c.run(ctx, c.benchPlan(pattern, implementations))
}

func (c *Calibrator) benchPlan(pattern Pattern, implementations map[schema.DType][]string) []step {
	var steps, again []step
	c.levels = c.claimed()
	if len(c.workingSets(pattern)) > 0 { // else there is nothing to hold against ceilings
		peaks := slices.DeleteFunc(slices.Clone(c.Options.DTypes), c.lacksPeak)
		steps = c.peakSteps(peaks, []Place{c.all()}, false)
		again = slices.Clone(steps) // behind all else, so that one slow moment of the host decides nothing
		if c.needsCurve(pattern) {
			steps = append(steps, c.curveStep(c.one()))
		}
		steps = append(steps, step{
			label: "ceilings",
			cost:  8 * c.pointCost(),
			run: func(ctx context.Context, scale float64) error {
				return c.measureCeilings(ctx, pattern, scale)
			},
		})
	}
	for _, s := range pattern.Shapes(c.Options.Mode) {
		for _, d := range c.Options.DTypes {
			if pattern.Fusion() {
				steps = append(steps, c.benchPair(pattern, s, d))
				continue
			}
			units := implementations[d]
			if implementations == nil {
				units = []string{""}
			}
			for _, unit := range units {
				steps = append(steps, c.operationStep(pattern, s, d, c.all(), unit, 1))
			}
		}
	}
	return append(steps, again...)
}

// benchPair compares a pair on the whole device.
func (c *Calibrator) benchPair(pattern Pattern, s Shape, d schema.DType) step {
	w := way{place: c.all(), cache: schema.Warm}
	return c.pairStep(pairLabel(pattern.Name, d, s.String(), w), pattern, s, d, w.place, 0, func(ctx context.Context, scale float64) error {
		return c.compareFusion(ctx, pattern, s, d, w, scale)
	})
}

// Levels tells in which level of memory a working set lies on the threads of the options: it reads the levels off the curve
// if one of the pattern's shapes may need that. What could not be measured of it is under Unavailable.
func (c *Calibrator) Levels(ctx context.Context, pattern Pattern) (of func(bytes int64) schema.Level, dev schema.Device, err error) {
	c.levels, dev = c.claimed(), c.Device
	if c.needsCurve(pattern) {
		dev, _, err = c.run(ctx, []step{c.curveStep(c.one())})
	}
	return func(bytes int64) schema.Level { return c.levels.of(bytes, c.all().Threads) }, dev, err
}

// workingSets are those of the shapes in all types for which there is memory: of a fusion pattern that of the fused
// side, and that in which its operations meet.
func (c *Calibrator) workingSets(pattern Pattern) []int64 {
	var sets []int64
	for _, s := range pattern.Shapes(c.Options.Mode) {
		for _, d := range c.Options.DTypes {
			chain, err := pattern.In(d).Build(s, c.all())
			if err != nil {
				continue
			}
			parts := pattern.Parts(chain, d, c.Runner.Backend)
			if c.Runner.fits(Case{Chain: chain, Parts: parts, DType: d}) != nil {
				continue
			}
			if parts == nil {
				parts = Parts{chain}
			}
			sets = append(sets, parts.FusedBytes(d))
			if pattern.Fusion() {
				sets = append(sets, meetingBytes(chain, d))
			}
		}
	}
	return sets
}

// needsCurve: what does not fit into the caches of a core may live in one that is shared with
// others, or claimed and not there. The curve tells.
func (c *Calibrator) needsCurve(pattern Pattern) bool {
	private := int64(0)
	for _, cache := range c.levels.caches {
		if cache.name == schema.L1 || cache.name == schema.L2 {
			private = max(private, cache.capacity(c.all().Threads))
		}
	}
	return slices.ContainsFunc(c.workingSets(pattern), func(bytes int64) bool { return bytes > private })
}

// streams are the kernels of bandwidth that the device has, and that can run in a level: where it is hardly larger than
// the one before, there is none.
func (c *Calibrator) streams(level schema.Level) []Stream {
	arrays, _, err := c.levelArrays(level, c.all())
	if level != c.levels.outer && err != nil {
		return nil
	}
	kernels := c.Runner.Backend.Kernels()
	return slices.DeleteFunc(slices.Clone(Streams), func(s Stream) bool {
		return !slices.ContainsFunc(kernels, func(k KernelInfo) bool { return k.Chain == "stream_"+s.Name }) ||
			!c.livesIn(level, s, arrays, c.all())
	})
}

// measureCeilings runs the kernels of bandwidth in each level that the operation meets.
func (c *Calibrator) measureCeilings(ctx context.Context, pattern Pattern, scale float64) error {
	seen := map[schema.Level]bool{}
	var failed failures
	for _, bytes := range c.workingSets(pattern) {
		level := c.levels.of(bytes, c.all().Threads)
		if bytes == 0 || seen[level] {
			continue
		}
		seen[level] = true
		kernels := c.streams(level)
		if len(kernels) == 0 {
			continue
		}
		if err := c.measureLevel(ctx, level, c.all(), kernels, scale); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", level, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed.err()
}
