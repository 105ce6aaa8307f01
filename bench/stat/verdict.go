package stat

import (
	"math"
	"slices"

	"hwcal/schema"
)

// Looks are the numbers of blocks after which a pair is judged. Each look spends
// a quarter of alpha = 0.05, so that looking repeatedly does not make chance
// findings likelier (Bonferroni).
var Looks = []int{schema.LeastBlocks, 20, 40, 80}

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

// InTurn are the groups of which d has one element after the other.
func InTurn[E any](d []E, groups int) [][]E {
	all := make([][]E, min(groups, len(d)))
	for i, x := range d {
		all[i%groups] = append(all[i%groups], x)
	}
	return all
}

// Decide judges a pair by the log ratios of each time that it was measured at, and there of each layout. There must be one
// at least; fewer than the first look allow no interval at this confidence: [min, max] is given, and the verdict is
// inconclusive.
//
// However many blocks there are, they say no more of other layouts than the layouts do that they were taken in, and of
// other times than the times: the interval holds that of the median of both, too, each with the median of its blocks, or
// all of them if they are too few for one.
func Decide(times [][][]float64) Decision {
	layouts := slices.Concat(times...)
	sorted := slices.Sorted(slices.Values(slices.Concat(layouts...)))
	n := len(sorted)
	k := rank(n, lookAlpha)
	low, high := sorted[max(k, 1)-1], sorted[n-max(k, 1)]
	whole := make([][]float64, len(times)) // all layouts of a time
	for i, t := range times {
		whole[i] = slices.Concat(t...)
	}
	for _, groups := range [][][]float64{layouts, whole} {
		if len(groups) > 1 {
			medians := medians(groups)
			k := max(rank(len(medians), 1-Confidence), 1)
			low, high = min(low, medians[k-1]), max(high, medians[len(medians)-k])
		}
	}
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

// medians are those of each group, sorted.
func medians(groups [][]float64) []float64 {
	var all []float64
	for _, g := range groups {
		all = append(all, median(slices.Sorted(slices.Values(g))))
	}
	slices.Sort(all)
	return all
}
