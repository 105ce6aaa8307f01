package main

import (
	"cmp"
	"maps"
	"slices"

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

// verdict holds our result in a case against that of the peer that does best.
type verdict struct {
	group string
	dtype schema.DType
	name  string
	task  string // what was to be done; several of our kernels may do the same
	peer  string
	ratio float64
}

// overall describes the cases of a group and dtype.
type overall struct {
	group  string
	dtype  schema.DType
	cases  int
	median float64
	worst  verdict
}

// summarize goes through groups and dtypes in the order in which they appear. Of
// several kernels for one task, the best counts.
func summarize(verdicts []verdict) []overall {
	var all []overall
	for len(verdicts) > 0 {
		first := verdicts[0]
		best := map[string]verdict{}
		verdicts = slices.DeleteFunc(slices.Clone(verdicts), func(v verdict) bool {
			same := v.group == first.group && v.dtype == first.dtype
			if b, have := best[v.task]; same && (!have || v.ratio > b.ratio) {
				best[v.task] = v
			}
			return same
		})
		sorted := slices.SortedFunc(maps.Values(best), func(a, b verdict) int {
			return cmp.Or(cmp.Compare(a.ratio, b.ratio), cmp.Compare(a.name, b.name))
		})
		var ratios []float64
		for _, v := range sorted {
			ratios = append(ratios, v.ratio)
		}
		all = append(all, overall{first.group, first.dtype, len(sorted), stat.Summarize(ratios, stat.Larger).Median, sorted[0]})
	}
	return all
}
