package profiles

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"hwcal/schema"
)

// distance of a level from the core. DRAM and HBM are both main memory, so
// neither has to be faster than the other.
var distance = map[schema.Level]int{
	schema.L1: 1, schema.L2: 2, schema.L3: 3, schema.L4: 4, schema.DRAM: 5, schema.HBM: 5, schema.HostLink: 6,
}

// suspect figures are outside of the comparison: they say themselves that they
// do not belong to their level.
var suspect = []schema.Code{schema.Implausible, schema.Cached, schema.LevelNotSeen}

// checkLevelSizes: for each bandwidth kernel and number of threads, and for latency, no level has a smaller working set
// than a level nearer to the core. Bandwidth entries with the warning DRAMLimited are exempt.
func checkLevelSizes(c *checker) {
	type set struct {
		path  string
		level schema.Level
		bytes int64
	}
	for at, d := range c.eachDevice() {
		groups := map[string][]set{}
		for i, e := range d.Bandwidth {
			path := fmt.Sprintf("%s/bandwidth/%d", at, i)
			if !c.warned(path, e.Warnings, schema.DRAMLimited) {
				name := fmt.Sprintf("%s on %d threads", quote(e.Pattern), e.Threads)
				groups[name] = append(groups[name], set{path, e.Level, e.WorkingSetBytes})
			}
		}
		for i, e := range d.Latency {
			groups["latency"] = append(groups["latency"], set{fmt.Sprintf("%s/latency/%d", at, i), e.Level, e.WorkingSetBytes})
		}
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			sets := groups[name]
			slices.SortStableFunc(sets, func(a, b set) int {
				return cmp.Or(cmp.Compare(distance[a.level], distance[b.level]), cmp.Compare(a.bytes, b.bytes))
			})
			var largest set // of the levels nearer to the core
			for i, s := range sets {
				if i > 0 && distance[sets[i-1].level] < distance[s.level] && sets[i-1].bytes > largest.bytes {
					largest = sets[i-1]
				}
				if s.bytes < largest.bytes {
					c.fail(s.path+"/working_set_bytes", fmt.Sprintf("the working set of %s is smaller than one of %s (%s)", s.level, largest.level, name),
						fmt.Sprint(s.bytes), fmt.Sprintf("at least %d of %s", largest.bytes, largest.path))
				}
			}
		}
	}
}

// checkPlateau: the plateau of memory is the best rate of the last two doublings of the curve of read. A smaller working
// set above 1.05 x the plateau was partly read from a cache, and needs a warning.
func checkPlateau(c *checker) {
	for at, d := range c.eachDevice() {
		entries := c.bandwidth(at, d)
		for i, e := range d.Bandwidth {
			if distance[e.Level] != distance[schema.DRAM] || e.Pattern != "read" {
				continue
			}
			curve := slices.DeleteFunc(slices.Clone(entries[place{e.Level, e.Threads}]), func(b schema.Bandwidth) bool { return b.Pattern != e.Pattern })
			last := slices.MaxFunc(curve, func(a, b schema.Bandwidth) int { return cmp.Compare(a.WorkingSetBytes, b.WorkingSetBytes) }).WorkingSetBytes
			plateau := ceilingOf(curve, func(b *schema.Bandwidth) bool { return 4*b.WorkingSetBytes >= last }).gbps
			path := fmt.Sprintf("%s/bandwidth/%d", at, i)
			if 4*e.WorkingSetBytes < last && plateau > 0 && e.GBps.Best > excess*plateau &&
				!c.warned(path, e.Warnings, schema.Cached, schema.Implausible, schema.WorkersApart) {
				c.fail(path+"/gbps/best", fmt.Sprintf("above 1.05 x the plateau of %s without the warning %s", e.Level, schema.Cached),
					number(e.GBps.Best), "at most "+number(excess*plateau))
			}
		}
	}
}

// reading is the best figure of a level; speed is more is better.
type reading struct {
	path  string
	level schema.Level
	speed float64
}

// checkLevelOrder: an outer level is not faster than 1.05 x an inner one. That
// is asked of each kernel by itself and of the best over kernels. Non-temporal
// stores go past the caches whatever the working set, so they have no order of
// their own. Latency is the other way round: an outer level does not answer
// sooner.
func checkLevelOrder(c *checker) {
	for at, d := range c.eachDevice() {
		groups := map[string]map[schema.Level]reading{}
		add := func(group string, r reading) {
			if groups[group] == nil {
				groups[group] = map[schema.Level]reading{}
			}
			if old, ok := groups[group][r.level]; !ok || r.speed > old.speed {
				groups[group][r.level] = r
			}
		}
		for i, e := range d.Bandwidth {
			path := fmt.Sprintf("%s/bandwidth/%d", at, i)
			if c.warned(path, e.Warnings, suspect...) {
				continue
			}
			r := reading{path + "/gbps/best", e.Level, e.GBps.Best}
			add(fmt.Sprintf("bandwidth of the best kernel on %d threads", e.Threads), r)
			if !strings.Contains(e.Pattern, "_nt") {
				add(fmt.Sprintf("bandwidth of %s on %d threads", quote(e.Pattern), e.Threads), r)
			}
		}
		for i, e := range d.Latency {
			path := fmt.Sprintf("%s/latency/%d", at, i)
			if !c.warned(path, e.Warnings, suspect...) {
				add(fmt.Sprintf("latency on pages of %d bytes", e.PageBytes),
					reading{path + "/nanoseconds/best", e.Level, 1 / e.Nanoseconds.Best})
			}
		}
		names := make([]string, 0, len(groups))
		for name := range groups {
			names = append(names, name)
		}
		sort.Strings(names)
		reported := map[string]bool{} // a kernel that is the best is told once
		for _, name := range names {
			c.ordered(name, groups[name], reported)
		}
	}
}

func (c *checker) ordered(name string, levels map[schema.Level]reading, reported map[string]bool) {
	order := make([]reading, 0, len(levels))
	for _, r := range levels {
		order = append(order, r)
	}
	sort.Slice(order, func(i, j int) bool {
		a, b := order[i], order[j]
		if distance[a.level] != distance[b.level] {
			return distance[a.level] < distance[b.level]
		}
		return a.level < b.level
	})
	for i, outer := range order {
		for _, inner := range order[:i] {
			if distance[inner.level] == distance[outer.level] || outer.speed <= excess*inner.speed || reported[outer.path] {
				continue
			}
			reported[outer.path] = true
			got, want := number(outer.speed), fmt.Sprintf("at most 1.05 x %s of %s", number(inner.speed), inner.path)
			if strings.HasPrefix(name, "latency") {
				got, want = number(1/outer.speed), fmt.Sprintf("at least %s / 1.05 of %s", number(1/inner.speed), inner.path)
			}
			c.fail(outer.path, fmt.Sprintf("%s is faster than %s (%s) without the warning %s",
				outer.level, inner.level, name, schema.Implausible), got, want)
		}
	}
}
