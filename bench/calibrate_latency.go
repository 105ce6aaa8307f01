package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// chaseLoads is the number of dependent loads of one execution.
const chaseLoads = 1 << 14

// chaseDRAMBytes is the working set of the DRAM latency where the curve does not
// ask for more.
const chaseDRAMBytes = 128 << 20

// chaseGrain is what the larger working sets are a multiple of: a huge page of most systems.
const chaseGrain = 2 << 20

// Pages that a chase asks for.
const (
	hugePages = "huge pages"
	basePages = "base pages"
)

// latencySteps plans a pointer chase on every level, on huge pages if the system gives any, and in DRAM
// on base pages too, where misses of the TLB add up.
func (c *Calibrator) latencySteps() []step {
	var steps []step
	plan := func(level schema.Level, pages string) {
		label := fmt.Sprintf("latency %s", level)
		if pages != "" {
			label += ", " + pages
		}
		steps = append(steps, step{
			label: label,
			cost:  c.Runner.Settings.CaseBudget + c.Runner.Settings.WarmUp + 500*time.Millisecond,
			run: func(ctx context.Context, scale float64) error {
				return c.measureLatency(ctx, level, pages == basePages, scale)
			},
		})
	}
	if c.Device.Kind == schema.GPU {
		for _, level := range c.levels.names() {
			plan(level, "")
		}
		return steps
	}
	for _, level := range c.levels.names() {
		plan(level, hugePages)
	}
	plan(c.levels.outer, basePages)
	return steps
}

func (c *Calibrator) measureLatency(ctx context.Context, level schema.Level, smallPages bool, scale float64) error {
	var bytes int64
	var limited bool
	var err error
	if level == c.levels.outer {
		bytes, limited, err = bounded(max(chaseDRAMBytes, c.outerChase(), c.levels.flatFrom), c.memory(c.one()), chaseGrain)
	} else {
		bytes, _, err = c.levels.arrayBytes(level, c.one().Threads, 0, c.memory(c.one()))
		bytes *= 2 // as a kernel of two arrays
	}
	if err != nil {
		return err
	}
	op := Chase(bytes, chaseLoads, level != c.levels.outer)
	m, err := c.measure(ctx, Case{
		Chain: Chain{op}, DType: schema.FP64, Place: c.one(),
		Seed: c.Options.Seed, SmallPages: smallPages,
	}, scale)
	if err != nil {
		return err
	}
	workingSet := op.Out.Elems() * schema.FP64.Bytes()
	if slices.ContainsFunc(c.Device.Latency, func(l schema.Latency) bool {
		return l.Level == level && l.WorkingSetBytes == workingSet && l.PageBytes == m.PageBytes
	}) {
		return fmt.Errorf("no difference can be told between the pages that the system gives with huge ones and without (%s), so that this is measured already: %w", pageSize(m.PageBytes), ErrUnsupported)
	}
	if level == c.levels.outer {
		c.checkOuter(&m, workingSet, c.one().Threads, limited)
	}
	figure := stat.Summarize(nanoseconds(m), stat.Smaller)
	if inner, best := c.innerLatency(level, m.PageBytes); figure.Best*boundTolerance < best {
		m.warn(schema.Implausible, "%.1f ns are below the %.1f of %s", figure.Best, best, inner)
	}
	c.Device.Latency = append(c.Device.Latency, schema.Latency{
		Level:           level,
		WorkingSetBytes: workingSet,
		PageBytes:       m.PageBytes,
		Nanoseconds:     figure,
		Warnings:        c.warnAll("latency", len(c.Device.Latency), m.Warnings, m.Notes),
	})
	return nil
}

// pageSize says in words what Measurement.PageBytes is.
func pageSize(bytes int64) string {
	if bytes == 0 {
		return "a mix, or of a size that nothing tells"
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// outerChase is the least working set that a GPU's cache has no part in.
func (c *Calibrator) outerChase() int64 {
	if c.Device.Kind == schema.CPU {
		return 0 // the curve tells
	}
	return c.outerArray()
}

// nanoseconds of one load of a chase.
func nanoseconds(m Measurement) []float64 {
	ns := make([]float64, len(m.Seconds))
	for i, s := range m.Seconds {
		ns[i] = s * 1e9 / chaseLoads
	}
	return ns
}

// innerLatency is the longest latency of the levels before this one, on pages of
// the same size, of those that are plausible; 0 if there is none.
func (c *Calibrator) innerLatency(level schema.Level, page int64) (inner schema.Level, longest float64) {
	names := c.levels.names()
	for _, l := range c.Device.Latency {
		if l.PageBytes == page && slices.Index(names, l.Level) < slices.Index(names, level) &&
			!slices.Contains(l.Warnings, schema.Implausible) && l.Nanoseconds.Best > longest {
			inner, longest = l.Level, l.Nanoseconds.Best
		}
	}
	return inner, longest
}
