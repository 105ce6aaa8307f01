package hwdetect

import (
	"math"
	"slices"

	"hwcal/schema"
)

// Threads is the number of workers that can run without sharing or being
// throttled: max(1, min(allowed, floor(quota))). A quota of 0 is none.
func Threads(allowed int, quota float64) int {
	n := allowed
	if quota > 0 && quota < float64(n) {
		n = int(math.Floor(quota))
	}
	return max(n, 1)
}

// Spread picks n of the allowed logical CPUs for workers to be pinned to: one a
// physical core first and then the siblings, in either round the classes in
// order, so P cores before E cores, and CPUs of no class last. Siblings lists the
// threads of each core.
func Spread(allowed []int, siblings [][]int, classes []schema.CoreClass, n int) []int {
	type seat struct{ round, class, cpu int }
	var seats []seat
	for _, core := range siblings {
		round := 0
		for _, cpu := range core {
			if !slices.Contains(allowed, cpu) {
				continue
			}
			class := slices.IndexFunc(classes, func(c schema.CoreClass) bool { return slices.Contains(c.CPUs, cpu) })
			if class < 0 {
				class = len(classes)
			}
			seats = append(seats, seat{round, class, cpu})
			round++
		}
	}
	slices.SortFunc(seats, func(a, b seat) int {
		for _, d := range []int{a.round - b.round, a.class - b.class} {
			if d != 0 {
				return d
			}
		}
		return a.cpu - b.cpu
	})
	used := []int{}
	for _, s := range seats[:min(max(n, 0), len(seats))] {
		used = append(used, s.cpu)
	}
	return used
}
