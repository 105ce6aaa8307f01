package bench

import (
	"context"
	"math"
	"slices"
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// Comparison is the outcome of a pair: the operations of a chain one by one
// against one kernel of the whole chain, or one of each of its parts.
type Comparison struct {
	stat.Decision
	Unfused        float64 // seconds of one execution in the block of the median ratio
	Fused          float64
	Implementation string
	Parts          Parts // of the fused side: the chain itself, or what one kernel each computes
	ClockMHz       float64
	MaxAbsError    float64
	Warnings       []schema.Code
	Notes          []string

	times [][][]ratio // the blocks by time of measurement and layout; nil if measured before an interruption
}

// Compare measures a chain unfused against fused. Nothing is decided where the workers were apart.
func (r *Runner) Compare(ctx context.Context, c Case, budget time.Duration) (Comparison, error) {
	return r.pair(ctx, c, budget, 0, fusedSide)
}

// Control measures the unfused side against itself, where the side that stands in for unfused does
// one more execution for every `part`: a trial whose true speedup is known, see TrueSpeedup.
func (r *Runner) Control(ctx context.Context, c Case, budget time.Duration, part int) (Comparison, error) {
	return r.pair(ctx, c, budget, part, unfusedSide)
}

// TrueSpeedup is that of a control: 1 + 1/part, or 1 if part is 0.
func TrueSpeedup(part int) float64 {
	if part == 0 {
		return 1
	}
	return 1 + 1/float64(part)
}

func (r *Runner) pair(ctx context.Context, c Case, budget time.Duration, part int, other func(Workspace, Case) (side, error)) (Comparison, error) {
	ls, err := r.layouts(func(ws []Workspace) (sides [2]side, err error) {
		if sides[0], err = unfusedSide(ws[0], c); err == nil {
			sides[1], err = other(ws[0], c)
		}
		return sides, err
	}, c)
	defer ls.close()
	if err != nil {
		return Comparison{}, err
	}
	ws, sides := ls[0].ws[0], ls[0].sides
	out := Comparison{Implementation: sides[1].implementation(), Parts: sides[1].parts()}
	worst, took, err := verifySides(ws, c, sides[:])
	if err != nil {
		return out, err
	}
	out.MaxAbsError = worst
	n := 1 // executions in a sample: as many as the faster side needs, for both
	for i, s := range sides {
		iterations, err := r.iterations(ws, s.kernels(), took[i], r.Settings.PairSample)
		if err != nil {
			return out, err
		}
		n = max(n, iterations)
	}
	if c.Cold {
		n, part = 1, 0
	}
	each := perSample(n, part)
	b, err := newBlocks(ls, c, each, each[1])
	if err != nil {
		return out, err
	}
	err = r.decide(ctx, c.Place, b, budget, &out)
	if out.apart() {
		out.Verdict = schema.Inconclusive
	}
	return out, err
}

// perSample is the number of executions in a sample of each side, at least n: the same for both, or on the first side
// one more for every `part` on the second.
func perSample(n, part int) [2]int {
	if part == 0 {
		return [2]int{n, n}
	}
	more := (n + part - 1) / part
	return [2]int{more*part + more, more * part}
}

// decide runs blocks until the verdict is decided or the budget is spent.
func (r *Runner) decide(ctx context.Context, p Place, b *blocks, budget time.Duration, out *Comparison) error {
	g, err := r.guard(ctx, p, func() error {
		b.reset()
		deadline := r.Now().Add(budget)
		for {
			if err := b.next(); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			n, spent := len(b.done), !r.Now().Before(deadline)
			if n < stat.Looks[0] || !spent && !slices.Contains(stat.Looks, n) {
				continue
			}
			// Running out of time between two looks takes the place of the next
			// one, so that there are never more than four.
			out.times = [][][]ratio{b.groups()}
			out.Decision = judge(out.times)
			if out.Verdict != schema.Inconclusive || spent || n >= maxBlocks {
				return nil
			}
		}
	})
	if err != nil {
		return err
	}
	out.Unfused, out.Fused = typical(out.times)
	out.ClockMHz, out.Warnings, out.Notes = g.clock, g.codes, g.notes
	return nil
}

// apart: the workers were not where they are at other times, and where the verdict may be another.
func (c Comparison) apart() bool { return slices.Contains(c.Warnings, schema.WorkersApart) }

// disturbed: what others did at the time may have had a part in it.
func (c Comparison) disturbed() bool {
	return hasAny(c.Warnings, schema.NoisyHost, schema.Throttled, schema.ClockUnsettled, schema.WorkersApart)
}

// neighbourShift is how far a neighbour on the same core moves the logarithm of a speedup: he occupies some execution units
// more than others, which slows the two sides unequally. In eight default runs of a Zen 4, of 226 entries of pairs beside a
// neighbour, the interval holds the median of the undisturbed entries in 77%, and widened by this at both ends in 95%.
const neighbourShift = 0.03

// beside widens the interval of a pair that was measured only once, beside a neighbour. Measured several times, the
// interval spans the differences between them already. Controls need it not: he slows the same code on both sides alike.
func (c *Comparison) beside() {
	if len(c.times) != 1 || !slices.Contains(c.Warnings, schema.NoisyHost) {
		return
	}
	c.Decision = judge(c.times)
	c.hold(c.Low/math.Exp(neighbourShift), c.High*math.Exp(neighbourShift))
}

// hold replaces the interval. The verdict follows from it, unless the workers were apart or the blocks are too few.
func (c *Comparison) hold(low, high float64) {
	c.Low, c.High, c.Verdict = low, high, schema.Inconclusive
	if !c.apart() && c.Blocks >= schema.LeastBlocks {
		c.Verdict = schema.VerdictOf(low, high)
	}
}

// join takes the less disturbed of two comparisons of a pair. Where both are disturbed alike, it pools their blocks, as
// those of two times. Where the blocks of one are not kept, the interval grows to hold both intervals: what held at one
// time only decides nothing.
func (c Comparison) join(o Comparison) Comparison {
	switch {
	case c.apart() != o.apart():
		if c.apart() {
			return o
		}
		return c
	case !c.disturbed():
		return c
	case !o.disturbed():
		return o
	case c.times != nil && o.times != nil:
		c.times = slices.Concat(c.times, o.times)
		c.Decision = judge(c.times)
		c.Unfused, c.Fused = typical(c.times)
		if c.apart() {
			c.Verdict = schema.Inconclusive
		}
	default:
		c.Blocks, c.times = c.Blocks+o.Blocks, nil
		c.hold(min(c.Low, o.Low), max(c.High, o.High))
	}
	c.MaxAbsError = max(c.MaxAbsError, o.MaxAbsError)
	m := Measurement{Warnings: c.Warnings, Notes: c.Notes}
	for i, code := range o.Warnings {
		m.warn(code, "%s", o.Notes[i])
	}
	c.Warnings, c.Notes = m.Warnings, m.Notes
	return c
}

// CompareImplementations measures a chain by two implementations of the device, named by their
// units: the speedup is that of b over a.
func (r *Runner) CompareImplementations(ctx context.Context, a, b Case) (Comparison, error) {
	cases := []Case{a, b}
	ls, err := r.layouts(func(ws []Workspace) (sides [2]side, err error) {
		for i, c := range cases {
			if sides[i], err = fusedSide(ws[i], c); err != nil {
				return sides, err
			}
		}
		return sides, nil
	}, cases...)
	defer ls.close()
	if err != nil {
		return Comparison{}, err
	}
	out := Comparison{Implementation: ls[0].sides[1].implementation()}
	n := 1
	for i, s := range ls[0].sides {
		worst, took, err := verifySides(ls[0].ws[i], cases[i], []side{s})
		if err != nil {
			return out, err
		}
		out.MaxAbsError = max(out.MaxAbsError, worst)
		iterations, err := r.iterations(ls[0].ws[i], s.kernels(), took[0], r.Settings.PairSample)
		if err != nil {
			return out, err
		}
		n = max(n, iterations)
	}
	blocks, err := newBlocks(ls, a, [2]int{n, n}, n)
	if err != nil {
		return out, err
	}
	err = r.decide(ctx, a.Place, blocks, r.Settings.PairBudget, &out)
	return out, err
}
