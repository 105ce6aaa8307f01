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

// InTurn deals the elements of d out to groups in turn: element i goes to group i % groups.
func InTurn[E any](d []E, groups int) [][]E {
	all := make([][]E, min(groups, len(d)))
	for i, x := range d {
		all[i%groups] = append(all[i%groups], x)
	}
	return all
}

// Decide judges a pair by the log ratios of its blocks, grouped by time of measurement and within that by layout in memory.
// There must be one block at least; fewer than the first look allow no interval at this confidence: [min, max] is given,
// and the verdict is inconclusive.
//
// More blocks do not tell more about layouts and times other than those that they were taken in. So the interval is widened
// to hold two others: that of the median over all layouts, and that over all times, where each layout or time counts as
// one observation, the median of its blocks. Where these are too few for an interval it holds all of them.
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
