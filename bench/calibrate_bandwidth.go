package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// curveFrom is the smallest working set of the curve.
const curveFrom = 16 << 10

// dramRate, in bytes a second, estimates how fast a place is done with DRAM per
// byte of one array: first touch, verification and samples of every kernel.
const dramRate = 40 << 20

// curveTo is the least working set that the curve reaches.
const curveTo = 256 << 20

// bandwidthSteps plans the curve of read bandwidth over working set, from which
// the levels are read off, and every kernel on every level.
func (c *Calibrator) bandwidthSteps() []step {
	if c.Device.CPU == nil {
		return nil
	}
	c.levels = claimedLevels(c.Device.CPU.Caches)
	set := c.Runner.Settings
	steps := []step{{
		label: "bandwidth curve, 1 thread",
		cost:  30*(set.WarmUp+time.Duration(set.LevelShare*float64(set.CaseBudget))) + 2*time.Second,
		run:   c.measureCurve,
	}}
	for _, level := range c.levels.names() {
		for _, p := range c.places() {
			if p.Class != "" {
				continue
			}
			cost := time.Duration(len(Streams)) * (set.WarmUp + time.Duration(set.LevelShare*float64(set.CaseBudget)))
			if level == schema.DRAM {
				cost += time.Duration(c.Runner.Settings.DRAMArray / dramRate * int64(time.Second))
			}
			steps = append(steps, step{
				label: fmt.Sprintf("bandwidth %s, %s", level, p),
				cost:  cost,
				run: func(ctx context.Context, scale float64) error {
					return c.measureLevel(ctx, level, p, scale)
				},
			})
		}
	}
	return steps
}

// memory is what a working set may take at most: half of what is available.
func (c *Calibrator) memory() int64 { return c.Options.MemoryBytes / 2 }

// measureCurve reads growing working sets until the bandwidth is flat.
func (c *Calibrator) measureCurve(ctx context.Context, scale float64) error {
	read := Streams[0]
	p := Place{Threads: 1}
	var curve []curvePoint
	var entries []schema.Bandwidth
	var measured []Measurement
	largest := int64(0)
	for _, cache := range c.levels.caches {
		largest = max(largest, cache.size)
	}
	for i := 0; ; i++ {
		bytes := int64(curveFrom*math.Pow(2, float64(i)/2)) &^ 4095
		if bytes > c.memory() {
			break
		}
		arrays := NewStreamArrays(bytes/schema.FP64.Bytes(), 1)
		m, err := c.measure(ctx, Case{Chain: Chain{read.Op(arrays)}, DType: schema.FP64, Place: p, Seed: c.Options.Seed}, c.Runner.Settings.LevelShare*scale)
		if err != nil {
			return err
		}
		entry := bandwidthEntry(read, arrays, p, m)
		entries, measured = append(entries, entry), append(measured, m)
		curve = append(curve, curvePoint{bytes, entry.GBps.Best})
		// Flat inside a large cache is not the end: go on past what is claimed. A
		// curve that is not flat by then never will be.
		if bytes >= max(curveTo, 4*largest) && (flat(curve) || bytes >= c.Runner.Settings.CurveLimit) {
			break
		}
	}
	if len(curve) == 0 {
		return fmt.Errorf("bench: %d bytes of memory do not hold the smallest working set: %w", c.memory(), ErrUnsupported)
	}
	c.levels.learn(curve)
	if last := curve[len(curve)-1]; !flat(curve) {
		c.warn(schema.DRAMLimited, "/bandwidth", "the curve is not flat within %.0f%% over its last two doublings, up to %d bytes", 100*flatTolerance, last.bytes)
	}
	for i := range entries {
		entries[i].Level = c.levels.of(entries[i].WorkingSetBytes, 1)
		c.addBandwidth(entries[i], measured[i])
	}
	for _, cache := range c.levels.caches {
		if cache.size > c.levels.flatFrom && cache.name != schema.L1 {
			c.warn(schema.LevelNotSeen, "/cpu/caches", "%s of %d bytes is claimed, but the curve is that of DRAM from %d bytes on: the cache is shared with others or not this machine's",
				cache.name, cache.size, c.levels.flatFrom)
		}
	}
	return nil
}

// measureLevel runs every kernel on the working set of a level.
func (c *Calibrator) measureLevel(ctx context.Context, level schema.Level, p Place, scale float64) error {
	bytes, limited, err := c.levels.arrayBytes(level, p.Threads, c.Runner.Settings.DRAMArray, c.memory())
	if err != nil {
		return err
	}
	elems := bytes / schema.FP64.Bytes()
	arrays := NewStreamArrays(elems, int64(p.Threads))
	var all Chain
	for _, s := range Streams {
		all = append(all, s.Op(arrays))
	}
	cs := Case{DType: schema.FP64, Place: p, Seed: c.Options.Seed, Chain: all}
	ws, err := c.Runner.open(cs)
	if err != nil {
		return err
	}
	defer ws.Close()
	var failed []error
	for i, s := range Streams {
		if c.Options.Mode == schema.Quick && !s.quick {
			continue
		}
		cs.Chain = all[i : i+1]
		m, err := c.Runner.MeasureIn(ctx, ws, cs, time.Duration(scale*c.Runner.Settings.LevelShare*float64(c.Runner.Settings.CaseBudget)))
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.Name, err))
			if ctx.Err() != nil {
				break
			}
			continue
		}
		entry := bandwidthEntry(s, arrays, p, m)
		entry.Level = level
		if level == schema.DRAM && limited {
			m.warn(schema.DRAMLimited, "memory allows no working set above %d bytes", entry.WorkingSetBytes)
		}
		if level == schema.DRAM && s.Name == "read" && p.Threads == 1 && entry.GBps.Best > boundTolerance*c.levels.flatGBps {
			m.warn(schema.Cached, "%.1f GB/s are above the %.1f of the plateau", entry.GBps.Best, c.levels.flatGBps)
		}
		c.addBandwidth(entry, m)
	}
	return errors.Join(failed...)
}

// addBandwidth holds an entry against its bounds and adds it.
func (c *Calibrator) addBandwidth(e schema.Bandwidth, m Measurement) {
	same := func(o schema.Bandwidth) bool {
		return o.Level == e.Level && o.Pattern == e.Pattern && o.Threads == e.Threads && o.WorkingSetBytes == e.WorkingSetBytes
	}
	if slices.ContainsFunc(c.Device.Bandwidth, same) {
		return // a point of the curve already
	}
	port := c.Runner.Backend.Limit(schema.FP64, Place{Threads: e.Threads}).BytesPerCycle * m.TopMHz / 1e3
	if port > 0 && e.GBps.Best > boundTolerance*port {
		m.warn(schema.Implausible, "%.1f GB/s are above the %.1f of the L1 ports at %.0f MHz", e.GBps.Best, port, m.TopMHz)
	}
	e.Warnings = c.warnAll("bandwidth", len(c.Device.Bandwidth), m.Warnings, m.Notes)
	c.Device.Bandwidth = append(c.Device.Bandwidth, e)
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
			if slices.Contains(e.Warnings, schema.Implausible) || slices.Contains(e.Warnings, schema.Cached) {
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

// bandwidth is the best rate of a kernel on a level, 0 if there is none.
func (c *Calibrator) bandwidth(level schema.Level, pattern string, threads int) float64 {
	best := 0.0
	for _, e := range c.Device.Bandwidth {
		if e.Level == level && e.Pattern == pattern && e.Threads == threads {
			best = max(best, e.GBps.Best)
		}
	}
	return best
}

func bandwidthEntry(s Stream, a StreamArrays, p Place, m Measurement) schema.Bandwidth {
	rate := make([]float64, len(m.Seconds))
	for i, t := range m.Seconds {
		rate[i] = float64(s.Traffic(a)) / t / 1e9
	}
	return schema.Bandwidth{
		Pattern:           s.Name,
		Implementation:    m.Implementation,
		Threads:           p.Threads,
		WorkingSetBytes:   s.WorkingSet(a),
		GBps:              stat.Summarize(rate, stat.Larger),
		EffectiveClockMHz: m.ClockMHz,
	}
}
