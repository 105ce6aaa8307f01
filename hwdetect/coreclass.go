package hwdetect

import (
	"cmp"
	"fmt"
	"slices"

	"hwcal/schema"
)

// coreClasses groups the online CPUs into like cores, the fastest first. Intel
// hybrids list theirs under cpu_core, cpu_atom and cpu_lowpower (Linux perf PMUs),
// where Meteor Lake has its LP-E cores among those of cpu_atom; arm64 has a
// capacity for each CPU.
func coreClasses(t tree, online []int, c clocks) []schema.CoreClass {
	only := func(kind string) []int {
		return slices.DeleteFunc(t.cpuList("sys/devices/"+kind+"/cpus"), func(cpu int) bool { return !slices.Contains(online, cpu) })
	}
	p, e, lowPower := only("cpu_core"), only("cpu_atom"), only("cpu_lowpower")
	switch {
	case len(p) > 0 && len(e) > 0 && len(lowPower) > 0:
		return []schema.CoreClass{newClass("P", p, c), newClass("E", e, c), newClass("LP-E", lowPower, c)}
	case len(p) > 0 && len(e) > 0:
		return append([]schema.CoreClass{newClass("P", p, c)}, splitBySpeed(e, c.max.of, c, "E", "LP-E")...)
	case len(p) == 0 && len(e) > 0: // the others are offline
		return splitBySpeed(e, c.max.of, c, "E", "LP-E")
	case len(p) == 0 && len(lowPower) > 0:
		return []schema.CoreClass{newClass("LP-E", lowPower, c)}
	}

	speed := map[int]float64{}
	for _, cpu := range online {
		if n, ok := t.number(fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpu_capacity", cpu)); ok && n > 0 {
			speed[cpu] = float64(n)
		}
	}
	if len(speed) < len(online) {
		speed = c.max.of
	}
	classes := splitBySpeed(online, speed, c, "P", "E", "LP-E")
	if len(classes) == 1 {
		classes[0].Name = "core"
	}
	return classes
}

// splitBySpeed begins a class where a CPU is a quarter slower than the first of
// the class before, as long as there are names: favoured cores of one kind differ
// by some percent. CPUs whose speeds are not all known are one class.
func splitBySpeed(cpus []int, speed map[int]float64, c clocks, names ...string) []schema.CoreClass {
	byFast := slices.Clone(cpus)
	slices.SortStableFunc(byFast, func(a, b int) int { return cmp.Compare(speed[b], speed[a]) })
	n := slices.IndexFunc(byFast, func(cpu int) bool { return speed[cpu] < 0.75*speed[byFast[0]] })
	if n < 0 || len(names) == 1 || speed[byFast[len(byFast)-1]] == 0 {
		return []schema.CoreClass{newClass(names[0], byFast, c)}
	}
	return append([]schema.CoreClass{newClass(names[0], byFast[:n], c)}, splitBySpeed(byFast[n:], speed, c, names[1:]...)...)
}

func newClass(name string, cpus []int, c clocks) schema.CoreClass {
	class := schema.CoreClass{Name: name, CPUs: sortedSet(slices.Clone(cpus))}
	for _, cpu := range class.CPUs {
		class.MaxMHz = max(class.MaxMHz, c.max.of[cpu])
	}
	return class
}
