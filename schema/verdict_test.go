package schema

import (
	"math"
	"testing"
)

func TestVerdictOf(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   Verdict
	}{
		{1.5, 1.6, Fuse},
		{1.02, 1.02, Fuse},
		{math.Nextafter(1.02, 0), 1.5, Inconclusive},
		{0.99, 1.01, Neutral},
		{1, 1, Neutral},
		{1 / 1.02, 1.02, Neutral},
		{0.5, 1 / 1.02, Avoid},
		{0.5, math.Nextafter(1/1.02, 1), Inconclusive},
		{0.9, 1.1, Inconclusive},
		{0.99, 1.03, Inconclusive},
		{1.6, 1.5, Inconclusive},
		{0, 0.5, Inconclusive},
		{-2, -1, Inconclusive},
		{math.NaN(), 2, Inconclusive},
		{2, math.NaN(), Inconclusive},
		{2, math.Inf(1), Fuse},
	} {
		if got := VerdictOf(c.lo, c.hi); got != c.want {
			t.Errorf("VerdictOf(%v, %v) = %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestOutcomeOf(t *testing.T) {
	for _, c := range []struct {
		truth, lo, hi float64
		want          ControlOutcome
	}{
		{1, 0.99, 1.01, ControlPassed},
		{1, 0.97, 1.01, ControlUndecided},
		{1, 1.03, 1.05, ControlFailed},
		{1, 0.90, 0.95, ControlFailed},
		{1.05, 1.04, 1.06, ControlPassed},
		{1.05, 1.025, 1.22, ControlPassed},
		{1.05, 1.00, 1.04, ControlUndecided},
		{1.05, 0.99, 1.01, ControlFailed},
		{1.05, 0.90, 0.95, ControlFailed},
		// The verdict is right, the size is not.
		{1.05, 1.0715, 1.2, ControlFailed},
		{1.5, 1.03, 1.04, ControlFailed},
	} {
		if got := OutcomeOf(c.truth, c.lo, c.hi, VerdictOf(c.lo, c.hi)); got != c.want {
			t.Errorf("OutcomeOf(%v, %v, %v) = %s, want %s", c.truth, c.lo, c.hi, got, c.want)
		}
	}
}

// Verdicts need a control that passed beside them, and none that failed.
func TestUntrusted(t *testing.T) {
	judged := Device{FusionCrossovers: make([]Crossover, 1)}
	if (Device{}).Untrusted() || !judged.Untrusted() {
		t.Error("without controls verdicts are untrusted, and nothing else")
	}
	for _, c := range []struct {
		outcomes []ControlOutcome
		want     bool
	}{
		{[]ControlOutcome{ControlPassed}, true},
		{[]ControlOutcome{ControlUndecided, ControlPassed}, true},
		{[]ControlOutcome{ControlUndecided, ControlUndecided}, false},
		{[]ControlOutcome{ControlPassed, ControlFailed, ControlPassed}, false},
	} {
		q := &Quality{}
		for _, outcome := range c.outcomes {
			q.Controls = append(q.Controls, Control{Outcome: outcome})
		}
		q.Passed = ControlsPassed(q.Controls)
		judged.Quality = q
		if q.Passed != c.want || judged.Untrusted() == c.want {
			t.Errorf("%v: passed %t, untrusted %t", c.outcomes, q.Passed, judged.Untrusted())
		}
	}
}
