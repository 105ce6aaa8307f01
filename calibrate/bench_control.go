package main

import (
	"fmt"
	"math"

	"hwcal/bench"
	"hwcal/schema"
)

// controls runs trials whose outcome is known: the same code on both sides, or with a
// share of work more on one. A verdict that is wrong is a fault of the method; an
// inconclusive one is none, but says nothing.
func (b *benchRun) controls() error {
	kind := schema.SameCode
	if b.effectPart > 0 {
		kind = schema.KnownEffect
	}
	n, r := b.Int("control"), b.runner()
	return b.cases(func(s bench.Shape, c bench.Case) error {
		right, wrong := 0, 0
		for i := range n {
			c.Seed = b.Uint64("seed") + uint64(i)
			cmp, err := r.Control(b.Context.Context, c, r.Settings.PairBudget, b.effectPart)
			if err != nil {
				return err
			}
			row := controlRow(b.pattern, s, c, cmp)
			row.Against = string(kind)
			b.rows = append(b.rows, row)
			switch schema.OutcomeOf(bench.TrueSpeedup(b.effectPart), cmp.Low, cmp.High, cmp.Verdict) {
			case schema.ControlPassed:
				right++
			case schema.ControlFailed:
				wrong++
			}
		}
		fmt.Fprintf(b.App.ErrWriter, "calibrate: %s %s %s: %d of %d controls passed, %d failed, %d were undecided\n",
			b.pattern.Name, c.DType, s, right, n, wrong, n-right-wrong)
		if wrong > 0 {
			return fmt.Errorf("%d of %d controls failed", wrong, n)
		}
		return nil
	})
}

// effectPart is the N of a share of 1/N: of N executions one side does one more. An effect below the one that
// matters is none to decide.
func effectPart(share float64) (int, error) {
	const least = schema.VerdictFactor - 1
	if !(share > least && share <= 1) {
		return 0, fmt.Errorf("want a share above %.2g, from where on it matters, up to 1", least)
	}
	part := math.Round(1 / share)
	if math.Abs(part*share-1) > 0.005 { // as it may have been typed with three digits
		return 0, fmt.Errorf("want a share 1/N, as %.3g", 1/part)
	}
	return int(part), nil
}
