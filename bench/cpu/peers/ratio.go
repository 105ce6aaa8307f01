package main

import (
	"hwcal/bench/stat"
	"hwcal/schema"
)

// against gives the distribution of ours / theirs over rounds.
func against(ours, theirs []float64) schema.Stat {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / theirs[i]
	}
	return stat.Summarize(ratios, stat.Larger)
}
