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

// curveFrom is the smallest working set of a curve, for each thread.
const curveFrom = 16 << 10

// deviceCurveFrom is that of a whole device, whose caches are larger.
const deviceCurveFrom = 1 << 20

func curveStart(p Place) int64 {
	if p.Threads == 0 {
		return deviceCurveFrom
	}
	return curveFrom * int64(p.Threads)
}

// dramRate, in bytes a second, estimates how fast a place is done with DRAM per
// byte of one array: first touch, verification and samples of every kernel.
const dramRate = 40 << 20

// curveTo is the least working set that a curve reaches.
const curveTo = 256 << 20

// bandwidthSteps plans the curves of read bandwidth over working set, from which
// the levels are read off, and every kernel on every level; the main kernels over
// the number of threads.
func (c *Calibrator) bandwidthSteps() []step {
	c.levels = c.claimed()
	all := c.all()
	steps := []step{c.curveStep(c.one())}
	if c.Options.Mode != schema.Quick && all != c.one() {
		steps = append(steps, c.curveStep(all))
	}
	for _, level := range c.levels.names() {
		for _, n := range c.threadCounts() {
			between := n > 1 && n < c.Options.Threads
			if between && c.Options.Mode == schema.Quick {
				continue
			}
			steps = append(steps, c.levelStep(level, Place{Threads: n}, between || c.Options.Mode == schema.Quick))
		}
	}
	return steps
}

// claimed are the levels as the machine claims them.
func (c *Calibrator) claimed() levels {
	if c.Device.CPU == nil {
		return deviceLevels(*c.Device.GPU)
	}
	return claimedLevels(*c.Device.CPU)
}

// pointCost is what a point of a curve is planned at.
func (c *Calibrator) pointCost() time.Duration {
	set := c.Runner.Settings
	return caseOverhead + time.Duration(set.PointShare*float64(set.WarmUp+set.CaseBudget))
}

func (c *Calibrator) curveStep(p Place) step {
	return step{
		label: fmt.Sprintf("bandwidth curve, %s", p),
		cost:  30*c.pointCost() + 2*time.Second,
		run: func(ctx context.Context, scale float64) error {
			return c.measureCurve(ctx, p, scale)
		},
	}
}

// levelStep plans all kernels, or the main ones, on the working set of a level.
func (c *Calibrator) levelStep(level schema.Level, p Place, main bool) step {
	var kernels []Stream
	for _, s := range Streams {
		if s.main || !main {
			kernels = append(kernels, s)
		}
	}
	cost := time.Duration(len(kernels)) * c.pointCost()
	if level == c.levels.outer && c.Device.Kind == schema.CPU {
		cost += time.Duration(c.Runner.Settings.DRAMArray / dramRate * int64(time.Second))
	}
	return step{
		label: levelLabel(level, p),
		cost:  cost,
		run: func(ctx context.Context, scale float64) error {
			return c.measureLevel(ctx, level, p, kernels, scale)
		},
	}
}

func levelLabel(level schema.Level, p Place) string { return fmt.Sprintf("bandwidth %s, %s", level, p) }

// outerArray is the least of one array and thread behind the caches: on a GPU far more than its
// L2 holds.
func (c *Calibrator) outerArray() int64 {
	least := c.Runner.Settings.DRAMArray
	if c.Device.Kind == schema.GPU {
		for _, cache := range c.levels.caches {
			least = max(least, beyondCache*cache.size)
		}
	}
	return least
}

// beyondCache is how many times the cache of a GPU an array takes that is to be read from memory: the share
// that the cache still holds is below the tolerance of a bound.
const beyondCache = 20

// memory is what a working set may take at most: half of what is available, less a checksum of each part.
func (c *Calibrator) memory(p Place) int64 {
	return c.Options.MemoryBytes/2 - int64(p.Parts())*schema.FP64.Bytes()
}

// measureCurve reads growing working sets: on one thread until the bandwidth is
// flat, which tells where the levels are, and then as far on more.
func (c *Calibrator) measureCurve(ctx context.Context, p Place, scale float64) error {
	read := Streams[0]
	var curve []curvePoint
	var entries []schema.Bandwidth
	var measured []Measurement
	var failed []error
	largest, tried := int64(0), int64(0)
	for _, cache := range c.levels.caches {
		largest = max(largest, cache.believed(p.Threads))
	}
	for i := 0; ; i++ {
		bytes := int64(float64(curveStart(p))*math.Pow(2, float64(i)/2)) &^ 4095
		if bytes > c.memory(p) {
			break
		}
		tried = bytes
		arrays := NewStreamArrays(bytes/schema.FP64.Bytes(), int64(p.Parts()))
		m, err := c.measure(ctx, Case{Chain: Chain{read.Op(arrays)}, DType: schema.FP64, Place: p, Seed: c.Options.Seed}, c.Runner.Settings.PointShare*scale)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrLost):
			return err
		case err != nil:
			failed = append(failed, fmt.Errorf("%d bytes: %w", bytes, err))
		default:
			entry := bandwidthEntry(read, arrays, p, m)
			entries, measured = append(entries, entry), append(measured, m)
			curve = append(curve, curvePoint{bytes, entry.GBps.Best})
		}
		// Flat inside a large cache is not the end: go on past what is claimed and can be. A
		// curve that is not flat by then never will be.
		if bytes >= max(curveTo, 4*largest) && (err == nil && flat(curve) || bytes >= c.Runner.Settings.CurveLimit) {
			break
		}
	}
	if tried == 0 {
		return fmt.Errorf("bench: %d bytes of memory do not hold the smallest working set: %w", c.memory(p), ErrUnsupported)
	}
	// Where the largest working set failed, what is left may end in a cache.
	if n := len(curve); p == c.one() && n > 0 && curve[n-1].bytes == tried {
		c.learn(curve)
	}
	for i := range entries {
		entries[i].Level = c.levels.of(entries[i].WorkingSetBytes, p.Threads)
		c.addBandwidth(entries[i], measured[i])
	}
	return errors.Join(failed...)
}

// learn reads the levels off the curve of one thread and holds them against what
// the machine claims.
func (c *Calibrator) learn(curve []curvePoint) {
	c.levels.learn(curve)
	if last := curve[len(curve)-1]; !flat(curve) {
		c.warn(schema.DRAMLimited, "/bandwidth", "the curve is not flat within %.0f%% over its last two doublings, up to %d bytes", 100*flatTolerance, last.bytes)
	}
	for _, cache := range c.levels.caches {
		if cache.size > c.levels.flatFrom && cache.name != schema.L1 {
			c.warn(schema.LevelNotSeen, "/cpu/caches", "%s of %d bytes is claimed, but the curve is that of DRAM from %d bytes on: the cache is shared with others or not this machine's",
				cache.name, cache.size, c.levels.flatFrom)
		}
	}
	if bytes := c.levels.unclaimed(curve); bytes > 0 {
		c.warn(schema.LevelNotClaimed, "/cpu/caches", "%d bytes are read faster than DRAM, but no cache of that size is claimed", bytes)
	}
}

// levelArrays have the working set of a level, or what memory allows.
func (c *Calibrator) levelArrays(level schema.Level, p Place) (arrays StreamArrays, limited bool, err error) {
	bytes, limited, err := c.levels.arrayBytes(level, p.Threads, c.outerArray(), c.memory(p))
	if err != nil {
		return arrays, limited, err
	}
	return NewStreamArrays(bytes/schema.FP64.Bytes(), int64(p.Parts())), limited, nil
}

// livesIn tells whether a kernel takes enough of the arrays of a level to be in none nearer to the core.
func (c *Calibrator) livesIn(level schema.Level, s Stream, arrays StreamArrays, p Place) bool {
	return level == c.levels.outer || c.levels.of(s.WorkingSet(arrays), p.Threads) == level
}

// measureLevel runs kernels on the working set of a level.
func (c *Calibrator) measureLevel(ctx context.Context, level schema.Level, p Place, kernels []Stream, scale float64) error {
	arrays, limited, err := c.levelArrays(level, p)
	if err != nil {
		return err
	}
	var all Chain
	for _, s := range kernels {
		all = append(all, s.Op(arrays))
	}
	cs := Case{DType: schema.FP64, Place: p, Seed: c.Options.Seed, Chain: all}
	ws, err := c.Runner.open(cs)
	if err != nil {
		return err
	}
	defer ws.Close()
	var failed []error
	r := c.runner(scale * c.Runner.Settings.PointShare)
	for i, s := range kernels {
		if !c.livesIn(level, s, arrays, p) {
			failed = append(failed, fmt.Errorf("%s: its %d bytes are in a cache nearer to the core: %w", s.Name, s.WorkingSet(arrays), ErrUnsupported))
			continue
		}
		cs.Chain = all[i : i+1]
		m, err := r.MeasureIn(ctx, ws, cs, r.Settings.CaseBudget)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.Name, err))
			if ctx.Err() != nil {
				break
			}
			continue
		}
		entry := bandwidthEntry(s, arrays, p, m)
		entry.Level = level
		if level == c.levels.outer && limited {
			m.warn(schema.DRAMLimited, "memory allows no working set above %d bytes", entry.WorkingSetBytes)
		}
		c.addBandwidth(entry, m)
	}
	if d := c.disturbedLevel(level, p); d.still() {
		c.disturbed = append(c.disturbed, d)
	}
	return errors.Join(failed...)
}

// disturbedLevel is the disturbance of what measureLevel measured.
func (c *Calibrator) disturbedLevel(level schema.Level, p Place) disturbance {
	has := func(codes ...schema.Code) bool {
		arrays, _, err := c.levelArrays(level, p)
		return err == nil && slices.ContainsFunc(Streams, func(s Stream) bool {
			at := c.bandwidthAt(level, s.Name, p.Threads, s.WorkingSet(arrays))
			return at >= 0 && hasAny(c.Device.Bandwidth[at].Warnings, codes...)
		})
	}
	return disturbance{
		still:  func() bool { return has(disturbances...) },
		urgent: has(schema.WorkersApart),
	}
}

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

// supersedes says which of two entries of a working set counts: the undisturbed one, unless the other refutes it; of two
// disturbed ones the better, as what disturbs takes away; of two others the first.
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
	plateau := map[place]float64{}
	for _, e := range c.Device.Bandwidth {
		if at := (place{e.Level, e.Threads}); counts(e) && onPlateau(e) {
			plateau[at] = max(plateau[at], e.GBps.Best)
		}
	}
	for i := range c.Device.Bandwidth {
		e := &c.Device.Bandwidth[i]
		best := plateau[place{e.Level, e.Threads}]
		if best > 0 && counts(*e) && !onPlateau(*e) && e.GBps.Best > boundTolerance*best && !slices.Contains(e.Warnings, schema.Cached) {
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
