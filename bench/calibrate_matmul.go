package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hwcal/schema"
)

// matmulCase is one point of the curves of matmul.
type matmulCase struct {
	pattern Pattern
	shape   Shape
	dtype   schema.DType
	place   Place
	chain   Chain
	// headline cases are what the summary may well quote, and the size at which
	// GFLOPS over the number of threads are measured. They get all the time of a
	// case, and are measured twice.
	headline bool
	metered  bool
}

// headlineShape is large, and still so short that it gives many samples.
func (c *Calibrator) headlineShape() Shape {
	switch {
	case c.Device.Kind == schema.GPU:
		return square(deviceSize)
	case c.Options.Mode == schema.Quick:
		return square(1024)
	}
	return square(2048)
}

func (c *Calibrator) newMatmulCase(pattern Pattern, s Shape, d schema.DType, p Place) matmulCase {
	chain, err := pattern.Build(s, p)
	if err != nil {
		panic(err) // a shape of our own
	}
	headline := pattern.Name == "matmul" && slices.Equal(s, c.headlineShape())
	return matmulCase{pattern, s, d, p, chain, headline, true}
}

// matmulCases are every shape of the mode, on one thread and on all: the curve of
// efficiency over size. A place comes after the other, as each has its own memory.
func (c *Calibrator) matmulCases() []matmulCase {
	var cases []matmulCase
	for _, p := range c.places() {
		if p.Class != "" {
			continue // the register peak tells classes apart
		}
		for _, d := range c.Options.DTypes {
			for _, pattern := range matmuls {
				if c.lacks(pattern, d) {
					continue
				}
				for _, s := range c.matmulShapes(pattern, d) {
					cases = append(cases, c.newMatmulCase(pattern, s, d, p))
				}
			}
		}
	}
	return cases
}

// matmulShapes are those of a pattern in a type. On a GPU, which has many types, the curves over size are of the main
// one alone, but in full runs: the others have what fills it.
func (c *Calibrator) matmulShapes(pattern Pattern, d schema.DType) []Shape {
	if c.Device.Kind != schema.GPU || c.Options.Mode == schema.Full || d == c.mainDType() {
		return c.shapes(pattern)
	}
	if pattern.Throughput == nil {
		return nil
	}
	return pattern.Throughput(c.Options.Mode)
}

// least is what a case takes whatever its budget, at so much for one execution:
// one to verify and some samples.
func least(once time.Duration) time.Duration { return (1 + fewSamples) * once }

// matmulSteps plans all cases, or once more those of the headline, which have their energy by then.
func (c *Calibrator) matmulSteps(headline bool) []step {
	var steps []step
	for _, m := range c.matmulCases() {
		if m.metered = !headline; m.headline || !headline {
			steps = append(steps, c.matmulStep(m))
		}
	}
	return steps
}

func (c *Calibrator) matmulStep(m matmulCase) step {
	set, share := c.Runner.Settings, 1.0
	if !m.headline {
		share = set.PointShare
	}
	once := c.once(m.chain.FLOP(), m.chain.FusedBytes(m.dtype), m.dtype, m.place)
	samples := max(time.Duration(share*float64(set.CaseBudget)), min(time.Duration(set.MinSamples)*once, set.CaseLimit))
	return step{
		label: caseLabel(m.pattern.Name, m.dtype, m.shape, m.place),
		cost:  caseOverhead + max(time.Duration(share*float64(set.WarmUp))+samples+once, least(once)),
		least: caseOverhead + least(once),
		takes: func() time.Duration { return least(c.at(m.chain.FLOP(), m.dtype, m.place)) },
		run: func(ctx context.Context, scale float64) error {
			m.metered = m.metered && c.meterFits(share)
			return c.measureMatmul(ctx, m, scale*share)
		},
	}
}

func caseLabel(operation string, d schema.DType, s Shape, p Place) string {
	return fmt.Sprintf("%s %s %s, %s", operation, d, s, p)
}

func (c *Calibrator) measureMatmul(ctx context.Context, m matmulCase, scale float64) error {
	if peak := c.peak(m.dtype, m.place); peak > 0 {
		if err := c.affordable(least(time.Duration(float64(m.chain.FLOP()) / peak))); err != nil {
			return err
		}
	}
	got, err := c.measure(ctx, Case{Chain: m.chain, DType: m.dtype, Place: m.place, Seed: c.Options.Seed, Metered: m.metered}, scale)
	if err != nil {
		return err
	}
	c.pool(computed{
		operation: m.pattern.Name, dtype: m.dtype, place: m.place, shape: m.shape,
		flop: m.chain.FLOP(), bytes: m.chain.FusedBytes(m.dtype), written: m.chain.WrittenBytes(m.dtype), Measurement: got,
	})
	return nil
}

// scalingSteps plans the register peak and one matmul on the numbers of threads
// between one and all: how compute scales.
func (c *Calibrator) scalingSteps() []step {
	var places []Place
	for _, n := range c.threadCounts() {
		if n > 1 && n < c.Options.Threads {
			places = append(places, Place{Threads: n})
		}
	}
	steps := c.peakSteps(c.Options.DTypes, places, true)
	for _, p := range places {
		for _, d := range c.Options.DTypes {
			steps = append(steps, c.matmulStep(c.newMatmulCase(matmuls[0], c.headlineShape(), d, p)))
		}
	}
	return steps
}

// threadCounts are the numbers of threads over which scaling is measured: each up
// to 8; of more, the powers of two, one thread a core, and all.
func (c *Calibrator) threadCounts() []int {
	all := c.Options.Threads
	counts := []int{all}
	for n := 1; n < all; n++ {
		if all <= 8 || n&(n-1) == 0 || c.Device.CPU != nil && n == c.Device.CPU.Cores {
			counts = append(counts, n)
		}
	}
	slices.Sort(counts)
	return counts
}
