package profiles

import (
	"fmt"
	"slices"

	"hwcal/schema"
)

// checkTraffic: the rates of traffic are bytes over latency, its ceiling is the best
// kernel of bandwidth on the level with the same number of threads, of those that only read where the
// operation hardly writes, and what is above that says so.
func checkTraffic(c *checker) {
	for at, d := range c.eachDevice() {
		all, reading := map[place]ceiling{}, map[place]ceiling{}
		for p, entries := range c.bandwidth(at, d) {
			all[p] = ceilingOf(entries, func(*schema.Bandwidth) bool { return true })
			reading[p] = ceilingOf(entries, func(b *schema.Bandwidth) bool { return schema.ReadKernel(b.Pattern) })
		}
		for path, e := range computes(at, d) {
			t := e.Traffic
			if t == nil {
				continue
			}
			own := path
			path += "/traffic"
			is := func(field string, got, want float64, formula string) {
				if !near(got, want) {
					c.differ(path+"/"+field, got, want, field+" = "+formula)
				}
			}
			bytes := float64(e.Bytes)
			is("memory_transfers_gb", t.TransfersGB, bytes/1e9, "bytes / 1e9")
			is("avg_bandwidth_gbps", t.AvgGBps, bytes/e.LatencyMS.Mean/1e6, "bytes / latency_ms.mean")
			is("peak_bandwidth_gbps", t.PeakGBps, bytes/e.LatencyMS.Best/1e6, "bytes / latency_ms.best")
			is("bandwidth_utilization_percent", t.Utilization, 100*t.PeakGBps/t.CeilingGBps, "100 peak_bandwidth_gbps / ceiling_bandwidth_gbps")
			p := place{t.Level, e.Threads}
			best := all[p]
			if r := reading[p]; r.gbps > 0 && e.OnlyReads() {
				best = r
			}
			is("ceiling_bandwidth_gbps", t.CeilingGBps, best.gbps, fmt.Sprintf("the best kernel on %s, %s", t.Level, quote(best.of)))
			if near(t.CeilingGBps, best.gbps) && !best.kernels[t.CeilingOf] {
				c.fail(path+"/ceiling_pattern", "does not name the kernel that ceiling_bandwidth_gbps quotes", quote(t.CeilingOf), quote(best.of))
			}
			if t.PeakGBps > excess*t.CeilingGBps && !c.warned(own, e.Warnings, schema.Cached, schema.Implausible, schema.WorkersApart) {
				c.fail(path+"/peak_bandwidth_gbps", fmt.Sprintf("above 1.05 x the ceiling of %s without the warning %s", t.Level, schema.Cached),
					number(t.PeakGBps), "at most "+number(excess*t.CeilingGBps))
			}
		}
	}
}

// checkTrafficLevel: the level is the innermost cache that holds the bytes of the operation, or memory where the bandwidth
// curve shows that the machine does not have this cache to itself. The README has the procedure; between two points of
// the curve either level is right.
func checkTrafficLevel(c *checker) {
	for at, d := range c.eachDevice() {
		caches, memory := cachesOf(d), c.memoryFrom(at, d)
		for path, e := range computes(at, d) {
			if e.Traffic == nil {
				continue
			}
			path, got := path+"/traffic/level", e.Traffic.Level
			wrong := func(why, want string) {
				c.fail(path, fmt.Sprintf("%d bytes %s", e.Bytes, why), string(got), want)
			}
			i := slices.IndexFunc(caches, func(l cache) bool { return e.Bytes <= l.capacity(e.Threads) })
			switch inMemory := got == schema.DRAM || got == schema.HBM; {
			case i < 0 && !inMemory:
				wrong("fit into no cache", outermost)
			case i >= 0 && !inMemory && got != caches[i].level:
				wrong("fit into another cache", string(caches[i].level))
			case i >= 0 && !inMemory && beyond(caches, i, e.Bytes, memory):
				wrong(fmt.Sprintf("are in memory, as %d are", memory), outermost)
			case i >= 0 && inMemory && (e.Bytes <= caches[0].size || memory == 0 || 2*e.Bytes < memory):
				wrong("fit into a cache", string(caches[i].level))
			}
		}
	}
}

// outermost levels are behind all caches.
const outermost = "DRAM or HBM"

// memoryFrom is the smallest working set in bytes at which `read` on one thread was in memory; 0 if there is none.
// Entries with the warning DRAMLimited do not count: caches may have had a part in them.
func (c *checker) memoryFrom(at string, d *schema.Device) int64 {
	least := int64(0)
	for i, b := range d.Bandwidth {
		if b.Level == schema.DRAM && b.Pattern == "read" && b.Threads == 1 && (least == 0 || b.WorkingSetBytes < least) &&
			!c.warned(fmt.Sprintf("%s/bandwidth/%d", at, i), b.Warnings, schema.DRAMLimited) {
			least = b.WorkingSetBytes
		}
	}
	return least
}

// beyond says whether bytes that the caches of level i are said to hold are in memory all the same, given memoryFrom: a
// virtual machine may report the whole last-level cache of its host. Inner caches no larger than that are believed, as
// every core has its own.
func beyond(caches []cache, i int, bytes, memory int64) bool {
	last := len(caches) - 1
	switch {
	case memory == 0 || memory >= caches[last].size: // the last is there, once at least
		return false
	case bytes < memory || bytes <= caches[0].size:
		return false
	}
	return i == last || caches[i].size > memory
}
