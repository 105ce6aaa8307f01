package profiles

import (
	"fmt"

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
