// Package stat turns samples into figures with intervals, and blocks of paired
// samples into verdicts. It is pure: it knows neither clocks nor devices.
package stat

import (
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"hwcal/schema"
)

// Confidence of the interval of a median.
const Confidence = 0.95

// MinSamples is the smallest n for which the median has a 95% interval: below,
// even [min, max] covers it with less (1 - 2/2^n).
const MinSamples = 6

// Better says which end of a distribution is its best sample.
type Better int

const (
	Smaller Better = iota // of times
	Larger                // of rates
)

// Summarize describes the distribution of the samples, of which there must be one
// at least.
func Summarize(samples []float64, better Better) schema.Stat {
	sorted := slices.Sorted(slices.Values(samples))
	n := len(sorted)
	s := schema.Stat{
		N:      n,
		Median: median(sorted),
		Mean:   stat.Mean(sorted, nil),
		Min:    sorted[0],
		Max:    sorted[n-1],
	}
	if n > 1 {
		s.Std = stat.StdDev(sorted, nil)
	}
	s.Best = s.Min
	if better == Larger {
		s.Best = s.Max
	}
	k := max(rank(n, 1-Confidence), 1)
	s.CILow, s.CIHigh = sorted[k-1], sorted[n-k]
	return s
}

// median of a sorted slice.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// rank is the largest k for which the order statistics [x(k), x(n+1-k)] cover the
// median with probability of at least 1 - alpha, whatever the distribution: the
// number of samples below the median is binomial(n, 1/2). It is 0 if there is none,
// and at most n/2, as half of the binomial lies up to there.
func rank(n int, alpha float64) int {
	below := distuv.Binomial{N: float64(n), P: 0.5}
	k := 0
	for 2*below.CDF(float64(k)) <= alpha {
		k++
	}
	return k
}
