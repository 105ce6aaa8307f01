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
	part, kind := 0, schema.SameCode
	if e := b.Float64("effect"); e > 0 {
		part, kind = int(math.Round(1/e)), schema.KnownEffect
	}
	n, r := b.Int("control"), b.runner()
	return b.cases(func(s bench.Shape, c bench.Case) error {
		right, wrong := 0, 0
		for i := range n {
			c.Seed = b.Uint64("seed") + uint64(i)
			cmp, err := r.Control(b.Context.Context, c, r.Settings.PairBudget, part)
			if err != nil {
				return err
			}
			row := pairRow(b.pattern, s, c, cmp)
			row.Against = string(kind)
			b.rows = append(b.rows, row)
			switch schema.OutcomeOf(kind, cmp.Verdict) {
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
