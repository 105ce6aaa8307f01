package profiles

import (
	"fmt"
	"math"
	"slices"

	"hwcal/schema"
)

// checkTraffic: the rates of traffic are bytes over latency, its ceiling is the best
// kernel of bandwidth on the level with the same number of threads, and what is above that says
// so.
func checkTraffic(c *checker) {
	for at, d := range c.eachDevice() {
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
			best, of := 0.0, ""
			for i, b := range d.Bandwidth {
				entry := fmt.Sprintf("%s/bandwidth/%d", at, i)
				if b.Level == t.Level && b.Threads == e.Threads && b.GBps.Best > best &&
					!c.warned(entry, b.Warnings, schema.Implausible, schema.Cached) {
					best, of = b.GBps.Best, b.Pattern
				}
			}
			is("ceiling_bandwidth_gbps", t.CeilingGBps, best, fmt.Sprintf("the best kernel on %s, %s", t.Level, quote(of)))
			if t.PeakGBps > excess*t.CeilingGBps && !c.warned(own, e.Warnings, schema.Cached, schema.Implausible) {
				c.fail(path+"/peak_bandwidth_gbps", fmt.Sprintf("above 1.05 x the ceiling of %s without the warning %s", t.Level, schema.Cached),
					number(t.PeakGBps), "at most "+number(excess*t.CeilingGBps))
			}
		}
	}
}

// checkEnergy: power is energy over time, and what is told per watt follows from both.
func checkEnergy(c *checker) {
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			g := e.Energy
			if g == nil {
				continue
			}
			path += "/energy"
			is := func(field string, got, want float64, formula string) {
				if !near(got, want) {
					c.differ(path+"/"+field, got, want, field+" = "+formula)
				}
			}
			is("power_avg_watts", g.AvgWatts, g.Joules/g.WindowSeconds, "energy_joules / window_seconds")
			is("ops_per_watt", g.OpsPerWatt, g.Executions/g.Joules, "executions / energy_joules")
			is("gflops_per_watt", g.GFLOPSPerWatt, g.Executions*float64(e.FLOP)/g.Joules/1e9, "executions x flops / energy_joules / 1e9")
			is("throughput_per_watt", g.GBpsPerWatt, g.Executions*float64(e.Bytes)/g.Joules/1e9, "executions x bytes / energy_joules / 1e9")
			if g.MaxWatts != 0 && g.MaxWatts < g.AvgWatts*(1-rounding) {
				c.fail(path+"/power_max_watts", "below the average", number(g.MaxWatts), "at least "+number(g.AvgWatts))
			}
			for _, name := range g.Meters {
				if !slices.ContainsFunc(d.Power.Meters, func(m schema.PowerMeter) bool { return m.Name == name && m.Readable }) {
					c.fail(path+"/meters", "names a meter that the device does not have, or that cannot be read", quote(name), "one of "+at+"/power/meters")
				}
			}
		}
	}
}

// checkPower: power is unavailable where no meter can be read, and nowhere else.
func checkPower(c *checker) {
	for at, d := range c.eachDevice() {
		readable := slices.ContainsFunc(d.Power.Meters, func(m schema.PowerMeter) bool { return m.Readable })
		switch {
		case readable && d.Power.Unavailable != "":
			c.fail(at+"/power/unavailable", "power is said to be unavailable, but a meter can be read", quote(d.Power.Unavailable), "none")
		case !readable && d.Power.Unavailable == "":
			c.fail(at+"/power/unavailable", "no meter can be read, and no reason says why", "", "the reason")
		}
	}
}

// checkLatencyTables: a table holds what operation_profiles measured, and its line is that of its
// points.
func checkLatencyTables(c *checker) {
	for at, d := range c.eachDevice() {
		for i, t := range d.LatencyTables {
			path := fmt.Sprintf("%s/latency_tables/%d", at, i)
			for j, p := range t.Points {
				point := fmt.Sprintf("%s/points/%d", path, j)
				if j > 0 && p.Bytes < t.Points[j-1].Bytes {
					c.fail(point+"/bytes", "points are not sorted", fmt.Sprint(p.Bytes), fmt.Sprintf("at least %d", t.Points[j-1].Bytes))
				}
				if !slices.ContainsFunc(d.OperationProfiles, func(e schema.Compute) bool {
					return e.Operation == t.Operation && e.DType == t.DType && e.Threads == t.Threads && e.Bytes == p.Bytes &&
						slices.Equal(e.InputShape, p.InputShape) && near(e.LatencyMS.Median, p.LatencyMS)
				}) {
					c.fail(point, "no such entry of operation_profiles", number(p.LatencyMS), fmt.Sprintf("the median of %s %s %v", t.Operation, t.DType, p.InputShape))
				}
			}
			if t.Points[0].Bytes == t.Points[len(t.Points)-1].Bytes {
				c.fail(path+"/points", "a line through a single size", fmt.Sprint(t.Points[0].Bytes), "several sizes")
				continue
			}
			line := t
			schema.FitLatency(&line)
			for _, f := range []struct {
				name      string
				got, want float64
			}{
				{"overhead_microseconds", t.OverheadUS, line.OverheadUS}, {"incremental_gbps", t.IncrementGBps, line.IncrementGBps},
				{"largest_deviation", t.Deviation, line.Deviation},
			} {
				// The fit cancels digits that a profile need not have.
				if math.Abs(f.got-f.want) > 1e-3*math.Abs(f.want)+1e-6 {
					c.differ(path+"/"+f.name, f.got, f.want, f.name+" follows from the points")
				}
			}
		}
	}
}
