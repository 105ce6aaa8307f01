package bench

import (
	"fmt"
	"slices"
	"strings"

	"hwcal/schema"
)

// bandwidthAt is the index of an entry, -1 if there is none.
func (c *Calibrator) bandwidthAt(level schema.Level, pattern string, threads int, bytes int64) int {
	return slices.IndexFunc(c.Device.Bandwidth, func(e schema.Bandwidth) bool {
		return e.Level == level && e.Pattern == pattern && e.Threads == threads && e.WorkingSetBytes == bytes
	})
}

// addBandwidth holds an entry against its bounds and adds it. Of two of a working set, as a point of the curve and a level,
// or a level that was measured again, one counts.
func (c *Calibrator) addBandwidth(e schema.Bandwidth, m Measurement) {
	port := c.Runner.Backend.Limit(schema.FP64, Place{Threads: e.Threads}).BytesPerCycle * m.TopMHz / 1e3
	if port > 0 && e.GBps.Best > boundTolerance*port {
		m.warn(schema.Implausible, "%.1f GB/s are above the %.1f of the L1 ports at %.0f MHz", e.GBps.Best, port, m.TopMHz)
	}
	e.Warnings = m.Warnings
	at := c.bandwidthAt(e.Level, e.Pattern, e.Threads, e.WorkingSetBytes)
	switch {
	case at < 0:
		at = len(c.Device.Bandwidth)
		c.Device.Bandwidth = append(c.Device.Bandwidth, e)
	case !supersedes(e, c.Device.Bandwidth[at]):
		return
	}
	e.Warnings = c.warnAnew("bandwidth", at, m.Warnings, m.Notes)
	c.Device.Bandwidth[at] = e
}

// supersedes says whether e replaces the old entry of its working set. An undisturbed entry beats a disturbed one, unless
// that refutes it; of two disturbed ones the better counts, as disturbances only slow down; of two undisturbed ones the old.
func supersedes(e, old schema.Bandwidth) bool {
	switch was, is := hasAny(old.Warnings, disturbances...), hasAny(e.Warnings, disturbances...); {
	case was && is:
		return e.Better(&old)
	case was:
		return !refutes(old.GBps.Best, old.Warnings, e.GBps.Best)
	case is:
		return refutes(e.GBps.Best, e.Warnings, old.GBps.Best)
	}
	return false
}

// flagCached flags what is faster than the plateau of its level: a part of it came from a cache nearer to the core, as
// where the working set is not much larger than that, or where a neighbour left the last level for a while. It
// runs when everything is measured.
func (c *Calibrator) flagCached() {
	type place struct {
		level   schema.Level
		threads int
	}
	// Behind the caches only the curves have a plateau: other kernels take one working set.
	counts := func(e schema.Bandwidth) bool { return e.Level != c.levels.outer || e.Pattern == "read" }
	last := map[int]int64{} // working set of the curves, by number of threads
	for _, e := range c.Device.Bandwidth {
		if e.Level == c.levels.outer && counts(e) {
			last[e.Threads] = max(last[e.Threads], e.WorkingSetBytes)
		}
	}
	// The plateau of DRAM is the last two doublings of the curve, that of a cache what is deep in it.
	onPlateau := func(e schema.Bandwidth) bool {
		if e.Level == c.levels.outer {
			return 4*e.WorkingSetBytes >= last[e.Threads]
		}
		return c.levels.deep(e.Level, e.WorkingSetBytes, e.Threads)
	}
	// Workers that the host has moved apart read more: on two caches, or two memories.
	plateau := map[place]float64{}
	for _, e := range c.Device.Bandwidth {
		at := place{e.Level, e.Threads}
		if plateau[at] > 0 {
			continue
		}
		if best := schema.Ceiling(c.Device.Bandwidth, func(b *schema.Bandwidth) bool {
			return at == place{b.Level, b.Threads} && counts(*b) && onPlateau(*b)
		}); best != nil {
			plateau[at] = best.GBps.Best
		}
	}
	for i := range c.Device.Bandwidth {
		e := &c.Device.Bandwidth[i]
		best := plateau[place{e.Level, e.Threads}]
		if best > 0 && counts(*e) && !onPlateau(*e) && e.GBps.Best > boundTolerance*best && e.Credence() == schema.Sound {
			c.warn(schema.Cached, fmt.Sprintf("/bandwidth/%d", i), "%.1f GB/s are above the %.1f of the plateau of %s", e.GBps.Best, best, e.Level)
			e.Warnings = append(e.Warnings, schema.Cached)
		}
	}
}

// orderBandwidth flags what is faster than an inner level can be: by the same
// kernel, or by the best of all. It runs when everything is measured, from the
// core outwards; a flagged rate is no bound for others.
func (c *Calibrator) orderBandwidth() {
	type series struct {
		pattern string // empty for the best of all
		threads int
	}
	bounds := map[series]float64{} // lowest of the best rates of the levels so far
	for _, level := range c.levels.names() {
		bests := map[series]float64{}
		for i := range c.Device.Bandwidth {
			e := &c.Device.Bandwidth[i]
			if e.Level != level {
				continue
			}
			kinds := []series{{"", e.Threads}}
			// Non-temporal stores go past the caches: their rates have no order.
			if !strings.Contains(e.Pattern, "_nt") {
				kinds = append(kinds, series{e.Pattern, e.Threads})
			}
			for _, k := range kinds {
				if bound := bounds[k]; bound > 0 && e.GBps.Best > boundTolerance*bound && !slices.Contains(e.Warnings, schema.Implausible) {
					c.warn(schema.Implausible, fmt.Sprintf("/bandwidth/%d", i), "%.1f GB/s are above the %.1f of a level nearer to the core", e.GBps.Best, bound)
					e.Warnings = append(e.Warnings, schema.Implausible)
				}
			}
			if hasAny(e.Warnings, schema.Implausible, schema.Cached) {
				continue
			}
			for _, k := range kinds {
				bests[k] = max(bests[k], e.GBps.Best)
			}
		}
		for k, best := range bests {
			if bounds[k] == 0 || best < bounds[k] {
				bounds[k] = best
			}
		}
	}
}
