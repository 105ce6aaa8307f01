package bench

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"hwcal/schema"
)

// disturbance tells of a figure that the host disturbed whether it still is disturbed (a repetition may have
// replaced it), and whether to repeat it is urgent: a verdict depends on it, or other figures are held against it.
type disturbance struct {
	still  func() bool
	urgent bool
}

// disturbedStep is a step to repeat, as the host disturbed a figure that it measured.
type disturbedStep struct {
	step
	disturbance
}

// appendDisturbed adds the step if what it measured was disturbed.
func (c *Calibrator) appendDisturbed(again []disturbedStep, s step) []disturbedStep {
	for _, d := range c.disturbed {
		again = append(again, disturbedStep{s, d})
	}
	c.disturbed = nil
	return again
}

// urgentFirst sorts what the host disturbed, the cheapest ones first, and counts the urgent ones.
func urgentFirst(again []disturbedStep) (urgent int) {
	turn := func(s disturbedStep) int {
		if s.urgent {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(again, func(a, b disturbedStep) int {
		return cmp.Or(turn(a)-turn(b), cmp.Compare(a.least, b.least))
	})
	for _, s := range again {
		urgent += 1 - turn(s)
	}
	return urgent
}

// repeatShare of the budget is what repetitions may take before the extra steps: each of the urgent ones has a turn. All
// others take what the extra steps leave.
const repeatShare = 0.1

// measureAgain repeats what the host disturbed, each once until it is time, at no more than a scale: a disturbance of
// seconds is over by then. A repetition for which there is no time or memory changes nothing and may have another turn, any
// other that fails is recorded. It returns what is still disturbed, and whether anything ran.
func (c *Calibrator) measureAgain(ctx context.Context, again []disturbedStep, done int, until time.Time, most float64) (still []disturbedStep, ran bool) {
	deadline := c.deadline
	defer func() { c.deadline = deadline }()
	if until.Before(deadline) {
		c.deadline = until
	}
	for len(again) > 0 && ctx.Err() == nil {
		s := again[0]
		left := c.deadline.Sub(c.Runner.Now())
		planned, least := time.Duration(0), time.Duration(0)
		for _, s := range again {
			planned, least = planned+s.cost, least+s.least
		}
		again = again[1:]
		if !s.still() {
			continue
		}
		if left < s.least+time.Duration(minScale*float64(s.cost-s.least)) {
			still = append(still, s)
			continue
		}
		c.observe(Progress{done, done + 1 + len(again), s.label + ", again", left})
		err := s.attempt(ctx, min(most, scale(planned, least, left)))
		refused := false
		var failed failures
		for _, f := range failuresOf(err) {
			switch codeOf(f) {
			case schema.BudgetSpent, schema.OutOfMemory:
				refused = true
			case "":
			default:
				failed = append(failed, f)
			}
		}
		if ctx.Err() == nil {
			c.record(s.label+", again", failed.err())
		}
		if errors.Is(err, ErrLost) {
			return nil, false
		}
		before := len(still)
		if still = c.appendDisturbed(still, s.step); refused && len(still) == before && s.still() {
			still = append(still, s) // later there may be more time
		}
		ran = ran || !refused
	}
	return append(still, again...), ran
}
