package profiles

import (
	"math"
	"slices"
)

// ComparisonSummary counts what a Comparison lists.
type ComparisonSummary struct {
	Compared       int `json:"compared"`
	Same           int `json:"same"`
	WithinNoise    int `json:"within_noise"`
	Noisy          int `json:"noisy"`
	Better         int `json:"better"`
	Worse          int `json:"worse"`
	VerdictChanges int `json:"verdict_changes"` // flips included
	Flips          int `json:"flips"`           // of any kind, noisy ones included
	OnlyOld        int `json:"only_old"`
	OnlyNew        int `json:"only_new"`
	Regressions    int `json:"regressions"`
	// Agreement has an entry for peaks, matmul and bandwidths, and one for all of
	// those together, each where there is anything to compare.
	Agreement []Agreement `json:"agreement"`
}

// GroupAll is the Agreement over peaks, matmul and bandwidths together.
const GroupAll = "all"

// Agreement says how far two runs agree on the figures of a group.
type Agreement struct {
	Group   string `json:"group"`
	Figures int    `json:"figures"`
	// MedianChange is the median of |change| (a share), noisy figures included.
	MedianChange float64 `json:"median_change"`
}

func summarize(c *Comparison) ComparisonSummary {
	s := ComparisonSummary{
		Compared: len(c.Differences), OnlyOld: len(c.OnlyOld), OnlyNew: len(c.OnlyNew),
		Agreement: []Agreement{},
	}
	counts := map[string]*int{
		Same: &s.Same, WithinNoise: &s.WithinNoise, Noisy: &s.Noisy, Better: &s.Better, Worse: &s.Worse,
	}
	changes := map[string][]float64{}
	for _, d := range c.Differences {
		*counts[d.Verdict]++
		if d.VerdictChanged() {
			s.VerdictChanges++
		}
		if flipped(d.OldFusion, d.NewFusion) {
			s.Flips++
		}
		if d.Regression != "" {
			s.Regressions++
		}
		changes[d.Group] = append(changes[d.Group], math.Abs(d.Change))
	}
	agreed := []string{GroupPeak, GroupMatmul, GroupBandwidth}
	for _, group := range agreed {
		changes[GroupAll] = append(changes[GroupAll], changes[group]...)
	}
	for _, group := range append(agreed, GroupAll) {
		if all := changes[group]; len(all) > 0 {
			s.Agreement = append(s.Agreement, Agreement{group, len(all), middle(all)})
		}
	}
	return s
}

// middle is the median of one number at least.
func middle(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	n := len(sorted)
	// Halved before they are added, as the sum of the largest numbers overflows.
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}
