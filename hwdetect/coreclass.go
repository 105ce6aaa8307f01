package hwdetect

import (
	"cmp"
	"fmt"
	"slices"

	"hwcal/schema"
)

// coreClasses groups the online CPUs into like cores, the fastest first. Intel
// hybrids list theirs under cpu_core and cpu_atom (Linux perf PMUs), arm64 has
// a capacity for each CPU. Highest clocks alone make no class: favoured cores
// of one kind differ by some percent, so they must differ by a quarter.
func coreClasses(t tree, online []int, c clocks) []schema.CoreClass {
	only := func(cpus []int) []int {
		return slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool { return !slices.Contains(online, cpu) })
	}
	p, e := only(t.cpuList("sys/devices/cpu_core/cpus")), only(t.cpuList("sys/devices/cpu_atom/cpus"))
	if len(p) > 0 && len(e) > 0 {
		return []schema.CoreClass{newClass("P", p, c), newClass("E", e, c)}
	}

	speed := map[int]float64{}
	for _, cpu := range online {
		if n, ok := t.number(fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpu_capacity", cpu)); ok && n > 0 {
			speed[cpu] = float64(n)
		}
	}
	if len(speed) < len(online) {
		speed = c.maxOf
	}
	if len(speed) < len(online) {
		return []schema.CoreClass{newClass("core", online, c)}
	}
	byFast := slices.Clone(online)
	slices.SortStableFunc(byFast, func(a, b int) int { return cmp.Compare(speed[b], speed[a]) })
	split := slices.IndexFunc(byFast, func(cpu int) bool { return speed[cpu] < 0.75*speed[byFast[0]] })
	if split < 0 {
		return []schema.CoreClass{newClass("core", online, c)}
	}
	return []schema.CoreClass{newClass("P", byFast[:split], c), newClass("E", byFast[split:], c)}
}

func newClass(name string, cpus []int, c clocks) schema.CoreClass {
	class := schema.CoreClass{Name: name, CPUs: sortedSet(slices.Clone(cpus))}
	for _, cpu := range class.CPUs {
		class.MaxMHz = max(class.MaxMHz, c.maxOf[cpu])
	}
	return class
}
