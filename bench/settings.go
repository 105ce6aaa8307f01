package bench

import (
	"time"

	"hwcal/schema"
)

// Settings say how much time a mode gives each measurement.
type Settings struct {
	MinSample  time.Duration // a sample lasts at least this long
	WarmUp     time.Duration // before the first sample of a case
	CaseBudget time.Duration // of the samples of one case
	PairBudget time.Duration // of the blocks of one pair
	MinSamples int           // of one case, whatever the budget
	MaxSamples int           // of one case
	Precision  float64       // half width of the median's interval, relative, that ends a case
}

// SettingsOf gives the settings of a mode.
func SettingsOf(mode schema.Mode) Settings {
	s := Settings{
		MinSample:  time.Millisecond,
		WarmUp:     50 * time.Millisecond,
		CaseBudget: 300 * time.Millisecond,
		PairBudget: 2 * time.Second,
		MinSamples: 10,
		MaxSamples: 1000,
		Precision:  0.001,
	}
	switch mode {
	case schema.Quick:
		s.WarmUp = 10 * time.Millisecond
		s.CaseBudget = 50 * time.Millisecond
		s.PairBudget = 500 * time.Millisecond
		s.MinSamples = 6
		s.Precision = 0.005
	case schema.Full:
		s.WarmUp = 100 * time.Millisecond
		s.CaseBudget = 2 * time.Second
		s.PairBudget = 10 * time.Second
	}
	return s
}

// Guards of method.md, relative.
const (
	clockTolerance = 0.03 // by which the effective clock may move across a case
	boundTolerance = 1.05 // above a bound, beyond which a rate cannot be true
	retries        = 3    // of a case whose clock moved, as long as they last less than retryTime
	maxBlocks      = 80   // of a pair
)

// retryTime bounds the time of a case and its retries, so that a restless clock
// costs its own cases their quality and not the others their turn.
const retryTime = 2 * time.Second
