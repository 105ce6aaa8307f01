package main

import (
	"fmt"
	"io"
	"math"
	"strings"

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
			printPair(b.App.Writer, b.pattern, s, c, cmp)
			switch schema.OutcomeOf(kind, cmp.Verdict) {
			case schema.ControlPassed:
				right++
			case schema.ControlFailed:
				wrong++
			}
		}
		fmt.Fprintf(b.App.Writer, "%d of %d controls passed, %d failed, %d were undecided\n", right, n, wrong, n-right-wrong)
		if wrong > 0 {
			return fmt.Errorf("%d of %d controls failed", wrong, n)
		}
		return nil
	})
}

// printPair prints a pair on one line.
func printPair(w io.Writer, p bench.Pattern, s bench.Shape, c bench.Case, cmp bench.Comparison) {
	e := bench.FusionEntry(p, s, c, cmp)
	fmt.Fprintf(w, "%s %s %s, %s, %s: %s, speedup %.3f in [%.3f, %.3f], %d blocks, unfused %.4g ms, fused %.4g ms (%.4g GFLOPS), error %.2g%s%s\n",
		p.Name, c.DType, s, c.Place, cmp.Implementation, e.Verdict, e.Speedup, e.SpeedupCILow, e.SpeedupCIHigh, e.Blocks,
		e.UnfusedLatencyMS, e.FusedLatencyMS, e.FusedGFLOPS, e.MaxAbsError, clockNote(cmp.ClockMHz), notes(cmp.Notes))
}

func clockNote(mhz float64) string {
	if mhz == 0 {
		return ""
	}
	return fmt.Sprintf(", at %.0f MHz", mhz)
}

func notes(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}
