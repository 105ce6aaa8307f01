package stat

import (
	"math"
	"slices"

	"hwcal/schema"
)

// Looks are the numbers of blocks after which a pair is judged. Each look spends
// a quarter of alpha = 0.05, so that looking repeatedly does not make chance
// findings likelier (Bonferroni).
var Looks = []int{10, 20, 40, 80}

const lookAlpha = 0.05 / 4

// Decision is what the blocks of a pair say.
type Decision struct {
	Speedup float64 // exp(median d)
	Low     float64 // ends of its interval
	High    float64
	Verdict schema.Verdict
	Blocks  int
}

// LogRatio is the outcome of one block: d = ln(min(u) / min(f)). The minimum of each
// side drops the samples that were disturbed, as long as one was not.
func LogRatio(unfused, fused []float64) float64 {
	return math.Log(slices.Min(unfused) / slices.Min(fused))
}

// Decide judges a pair by its log ratios d, of which there must be one at least.
// Fewer than the first look allow no interval at this confidence: [min, max] is
// given, and the verdict is inconclusive.
func Decide(d []float64) Decision {
	sorted := slices.Sorted(slices.Values(d))
	n := len(sorted)
	k := rank(n, lookAlpha)
	low, high := sorted[max(k, 1)-1], sorted[n-max(k, 1)]
	dec := Decision{
		Speedup: math.Exp(median(sorted)),
		Low:     math.Exp(low),
		High:    math.Exp(high),
		Verdict: schema.Inconclusive,
		Blocks:  n,
	}
	if n >= Looks[0] {
		dec.Verdict = schema.VerdictOf(dec.Low, dec.High)
	}
	return dec
}
