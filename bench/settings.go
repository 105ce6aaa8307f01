package bench

import (
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// Settings say how much time a mode gives each measurement.
type Settings struct {
	MinSample  time.Duration // a sample lasts at least this long
	PairSample time.Duration // a sample of a pair lasts at least this long
	WarmUp     time.Duration // before the first sample of a case
	CaseBudget time.Duration // of the samples of one case
	CaseLimit  time.Duration // of the samples of one case that are too long for its budget: then a few must do
	PairBudget time.Duration // of the blocks of one pair
	MinSamples int           // of one case, whatever the budget, within the limit
	MaxSamples int           // of one case
	RetryTime  time.Duration // of a case and its retries, so that a restless clock does not cost others their turn
	Patience   time.Duration // to wait, in a whole run, for workers that are apart
	PointShare float64       // of CaseBudget that a point of a curve or a bandwidth kernel takes: there are many
	DRAMArray  int64         // bytes of one array and thread of a DRAM kernel, at least
	CurveLimit int64         // bytes at which the curve of bandwidth ends even if it is not flat
	Precision  float64       // half width of the median's interval, relative, that ends a case
}

// SettingsOf gives the settings of a mode.
func SettingsOf(mode schema.Mode) Settings {
	s := Settings{
		MinSample:  time.Millisecond,
		PairSample: 250 * time.Microsecond,
		WarmUp:     50 * time.Millisecond,
		CaseBudget: 600 * time.Millisecond,
		CaseLimit:  time.Second,
		PairBudget: 2 * time.Second,
		MinSamples: stat.MinSamples,
		MaxSamples: 1000,
		RetryTime:  2 * time.Second,
		Patience:   10 * time.Second,
		PointShare: 0.1,
		DRAMArray:  256 << 20,
		CurveLimit: 512 << 20,
		Precision:  0.001,
	}
	switch mode {
	case schema.Quick:
		s.WarmUp = 10 * time.Millisecond
		s.CaseBudget = 50 * time.Millisecond
		s.PairBudget = 500 * time.Millisecond
		s.PointShare = 0.6
		s.RetryTime = 300 * time.Millisecond
		s.Patience = 2 * time.Second
		s.CurveLimit = curveTo
		s.DRAMArray = 128 << 20 // 256 MiB for kernels of two arrays
		s.Precision = 0.005
	case schema.Full:
		s.WarmUp = 100 * time.Millisecond
		s.CaseBudget = 2 * time.Second
		s.CaseLimit = 5 * time.Second
		s.Patience = 90 * time.Second
		s.PairBudget = 3 * time.Second
	}
	return s
}

// Limits of the guards that the README describes under Method; relative unless said otherwise.
const (
	clockTolerance = 0.03 // by which the effective clock may move across a case
	boundTolerance = 1.05 // above a bound, beyond which a rate cannot be true
	mostVariation  = 0.10 // standard deviation over mean of the samples of a case, beyond which it is unstable
	retries        = 3    // of a case whose clock moved, within its RetryTime
	maxBlocks      = 80   // of a pair
	fewSamples     = 2    // of a case past its limit
)
