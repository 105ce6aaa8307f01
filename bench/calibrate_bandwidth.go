package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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
	var failed failures
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
		case err != nil:
			failed = append(failed, fmt.Errorf("%d bytes: %w", bytes, err))
		default:
			entry := bandwidthEntry(read, arrays, p, m)
			entries, measured = append(entries, entry), append(measured, m)
			curve = append(curve, curvePoint{bytes, entry.GBps.Best})
		}
		if errors.Is(err, ErrLost) {
			break // the points before it stay
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
	return failed.err()
}

// learn reads the levels off the curve of one thread and holds them against what
// the machine claims.
func (c *Calibrator) learn(curve []curvePoint) {
	c.levels.learn(curve)
	claims := "/cpu/caches"
	if c.Device.CPU == nil {
		claims = "/gpu" // which may claim none
	}
	if last := curve[len(curve)-1]; !flat(curve) {
		c.warn(schema.DRAMLimited, "/bandwidth", "the curve is not flat within %.0f%% over its last two doublings, up to %d bytes", 100*flatTolerance, last.bytes)
	}
	for _, cache := range c.levels.caches {
		if cache.size > c.levels.flatFrom && cache.name != schema.L1 {
			c.warn(schema.LevelNotSeen, claims, "%s of %d bytes is claimed, but the curve is that of DRAM from %d bytes on: the cache is shared with others or not this machine's",
				cache.name, cache.size, c.levels.flatFrom)
		}
	}
	if bytes := c.levels.unclaimed(curve); bytes > 0 {
		c.warn(schema.LevelNotClaimed, claims, "%d bytes are read faster than DRAM, but no cache of that size is claimed", bytes)
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

// checkOuter warns of a working set that is to lie in the outermost level and may not: one that memory limits, or that a
// cache is said to hold.
func (c *Calibrator) checkOuter(m *Measurement, bytes int64, threads int, limited bool) {
	switch in := c.levels.of(bytes, threads); {
	case limited:
		m.warn(schema.DRAMLimited, "memory allows no working set above %d bytes", bytes)
	case in != c.levels.outer: // as where the curve failed
		m.warn(schema.DRAMLimited, "the claimed %s holds %d bytes, and no curve shows that it does not", in, bytes)
	}
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
	var failed failures
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
		if level == c.levels.outer {
			c.checkOuter(&m, entry.WorkingSetBytes, p.Threads, limited)
		}
		c.addBandwidth(entry, m)
	}
	if d := c.disturbedLevel(level, p); d.still() {
		c.disturbed = append(c.disturbed, d)
	}
	return failed.err()
}

// disturbedLevel is the disturbance of what measureLevel measured.
func (c *Calibrator) disturbedLevel(level schema.Level, p Place) disturbance {
	still := func() bool {
		arrays, _, err := c.levelArrays(level, p)
		return err == nil && slices.ContainsFunc(Streams, func(s Stream) bool {
			at := c.bandwidthAt(level, s.Name, p.Threads, s.WorkingSet(arrays))
			return at >= 0 && hasAny(c.Device.Bandwidth[at].Warnings, disturbances...)
		})
	}
	return disturbance{still, true}
}

// bandwidthEntry is the rates of a kernel on a working set.
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
