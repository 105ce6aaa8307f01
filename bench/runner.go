package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// Runner measures cases on a backend: it verifies first, then samples within a
// budget, and watches the clock and the host meanwhile.
type Runner struct {
	Backend  Backend
	Settings Settings
	Now      func() time.Time                           // spends the budgets; samples are timed by the backend
	Memory   int64                                      // bytes that the tensors of a case may take; 0 for any
	Sleep    func(ctx context.Context, d time.Duration) // nil for that of the system

	patience *time.Duration // what is left of that of the settings, for this runner and those made from it
}

// wait does nothing for so long, or until ctx ends.
func (r *Runner) wait(ctx context.Context, d time.Duration) {
	if r.Sleep != nil {
		r.Sleep(ctx, d)
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// patient is what is left of the patience of a run.
func (r *Runner) patient() *time.Duration {
	if r.patience == nil {
		all := r.Settings.Patience
		r.patience = &all
	}
	return r.patience
}

// apartNap is between two looks whether workers are together again.
const apartNap = 5 * time.Millisecond

// together waits while the host keeps the workers apart: on one that does so for a second now and then, more
// cases are then measured with workers that are together. A case waits at most its RetryTime, and all cases
// of a run at most the Patience of the settings, so that a run does not wait forever where they stay apart.
func (r *Runner) together(ctx context.Context, p Place) {
	begin := r.Now()
	most := min(*r.patient(), r.Settings.RetryTime)
	for r.Now().Sub(begin) < most && ctx.Err() == nil && r.Backend.Apart(p) {
		r.wait(ctx, apartNap)
	}
	*r.patient() -= r.Now().Sub(begin)
}

// open prepares the tensors of a case if there is memory for them.
func (r *Runner) open(c Case) (Workspace, error) {
	if err := r.fits(c); err != nil {
		return nil, err
	}
	return r.Backend.Open(c)
}

// fits says whether there is memory for some cases of the same chain at once.
func (r *Runner) fits(cases ...Case) error {
	need := int64(0)
	for _, c := range cases {
		need += c.Footprint()
	}
	if r.Memory == 0 || need <= r.Memory {
		return nil
	}
	c := cases[0]
	what := c.Chain.String()
	if c.Parts != nil {
		what = fmt.Sprintf("a network of %d operations", len(c.Chain))
	}
	if len(cases) > 1 {
		what += " by two implementations"
	}
	return fmt.Errorf("bench: %s in %s needs %d bytes, of which %d may be taken: %w", what, c.DType, need, r.Memory, ErrMemory)
}

// Footprint is what the tensors of a case take, in bytes.
func (c Case) Footprint() (bytes int64) {
	for _, n := range c.Storage().Bytes {
		bytes += n
	}
	return bytes
}

// Measurement is the outcome of one case.
type Measurement struct {
	Seconds        []float64 // of one execution, one a sample
	Implementation string
	ClockMHz       float64 // of the case's own instructions; 0 if the backend cannot tell
	TopMHz         float64 // highest reading around the case: what bounds refer to
	MaxAbsError    float64
	Verified       bool
	Energy         *Energy // of the whole window; nil without a meter, or if the window was too short
	Executions     float64 // in that window
	Warnings       []schema.Code
	Notes          []string // what the warnings say, in words
	PageBytes      int64    // of a chase: the size of the pages that it runs over; 0 for a mix, and where nothing tells
}

// Measure times the chain: of one operation, or of several fused.
func (r *Runner) Measure(ctx context.Context, c Case) (Measurement, error) {
	ws, err := r.open(c)
	if err != nil {
		return Measurement{}, err
	}
	defer ws.Close()
	return r.MeasureIn(ctx, ws, c, r.Settings.CaseBudget)
}

// MeasureIn times a chain over tensors of an open workspace.
func (r *Runner) MeasureIn(ctx context.Context, ws Workspace, c Case, budget time.Duration) (Measurement, error) {
	k, err := ws.Bind(c.Chain)
	if err != nil {
		return Measurement{}, err
	}
	m := Measurement{Implementation: k.Implementation()}
	if _, chase := c.Chain[0].Params.(ChaseParams); chase {
		m.PageBytes = ws.PageBytes(c.Chain.Output())
	}
	seq := []Kernel{k}
	var took time.Duration
	if verifiable(c.Chain) {
		if m.MaxAbsError, took, err = verify(ws, c, seq, expect(ws, c, verifyWork)); err != nil {
			return m, err
		}
		m.Verified = true
	}
	// A long verifying run has warmed the core up, and one execution makes a sample. If page faults took most of
	// its time, samples turn out too short below, and n grows.
	n := 1
	if took < max(longTimes*r.Settings.MinSample, r.Settings.WarmUp) {
		if n, err = r.iterations(ws, seq, took, r.Settings.MinSample); err != nil {
			return m, err
		}
	}
	g, err := r.guard(ctx, c.Place, func() error {
		m.Seconds, m.Energy, m.Executions = m.Seconds[:0], nil, 0
		executed := 0
		meter := r.Backend.Meter()
		if meter != nil {
			defer func() {
				if e, ok := meter.Stop(); ok {
					m.Energy, m.Executions = &e, float64(executed)
				}
			}()
		}
		begin, window := r.Now(), leastWindow(meter, c)
		for {
			t, err := Sample(ws, seq, n)
			if err != nil {
				return err
			}
			executed += n
			if meter != nil {
				meter.Tick()
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if t < r.Settings.MinSample/2 { // n was found at a slow moment
				n, m.Seconds = enlarged(n, t, r.Settings.MinSample), m.Seconds[:0]
				continue
			}
			m.Seconds = append(m.Seconds, t.Seconds()/float64(n))
			if spent := r.Now().Sub(begin); spent >= window && r.enough(m.Seconds, n, spent, budget) {
				return nil
			}
		}
	})
	m.ClockMHz, m.TopMHz, m.Warnings, m.Notes = g.clock, g.top, g.codes, g.notes
	if err != nil {
		return m, err
	}
	m.judgeScatter()
	return m, nil
}

// leastWindow is how long a case lasts whatever its samples are.
func leastWindow(meter Meter, c Case) time.Duration {
	if meter == nil || !c.Metered {
		return 0
	}
	return meter.LeastWindow()
}

// enough decides after each sample, of so many executions, whether to stop.
func (r *Runner) enough(samples []float64, executions int, spent, budget time.Duration) bool {
	n := len(samples)
	switch {
	case n < r.Settings.MinSamples:
		// A few must do where the samples themselves are too long, not where something held one up.
		limit := max(budget, r.Settings.CaseLimit)
		all := slices.Min(samples) * float64(executions*r.Settings.MinSamples)
		return n >= fewSamples && spent >= limit && all >= limit.Seconds()
	case spent >= budget || n >= r.Settings.MaxSamples:
		return true
	case n%10 != 0 || n < 30:
		return false
	}
	s := stat.Summarize(samples, stat.Smaller)
	return s.CIHigh-s.CILow <= 2*r.Settings.Precision*s.Median
}

// longTimes is how many times the least time of a sample an execution has to last to be a sample by itself.
const longTimes = 20

// stall is more than page faults and neighbours add to a first execution.
const stall = 500 * time.Millisecond

// iterations warms up and finds how often to run the kernels for a sample of at least
// the given time. They ran once already, for `took`, most of which may be due to page faults and neighbours.
func (r *Runner) iterations(ws Workspace, seq []Kernel, took, sample time.Duration) (int, error) {
	if took >= max(sample, r.Settings.WarmUp)+stall {
		return 1, nil
	}
	n, spent := 1, took
	for {
		t, err := Sample(ws, seq, n)
		if err != nil {
			return 0, err
		}
		spent += t
		if t >= sample && spent >= r.Settings.WarmUp {
			return n, nil
		}
		if t < sample {
			n = enlarged(n, t, sample)
		}
	}
}

// enlarged is how many executions make a sample, if n of them last for t: a little more, so that a faster
// moment does not fall short.
func enlarged(n int, t, sample time.Duration) int {
	grow := 1.2 * float64(sample) / float64(max(t, time.Nanosecond))
	return int(math.Ceil(float64(n) * min(grow, 100)))
}

// guarded is what the guards saw around a case.
type guarded struct {
	clock float64 // of the case's own instructions
	top   float64 // highest reading
	codes []schema.Code
	notes []string
}

func (g *guarded) warn(code schema.Code, format string, args ...any) {
	if !slices.Contains(g.codes, code) {
		g.codes = append(g.codes, code)
		g.notes = append(g.notes, fmt.Sprintf(format, args...))
	}
}

// guard runs a case between two readings of the effective clock and repeats it if
// the clock moved, or the workers to other cores; it also keeps the garbage collector away. The clock that it
// reports is that of the case's own instructions, read right behind it.
func (r *Runner) guard(ctx context.Context, p Place, run func() error) (guarded, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	r.together(ctx, p)
	begin := r.Now()
	for try := 1; ; try++ {
		var g guarded
		since := r.Backend.Watch(p)
		before, err := r.clock(p, &g)
		if err != nil {
			return g, err
		}
		if err := run(); err != nil {
			return g, err
		}
		g.clock, err = r.Backend.Clock(p, false)
		switch {
		case err == nil, errors.Is(err, ErrUnsupported):
		case errors.Is(err, ErrUnsettled):
			g.warn(schema.ClockUnsettled, "%v", err)
		default:
			return g, err
		}
		after, err := r.clock(p, &g)
		if err != nil {
			return g, err
		}
		g.top = max(before, g.clock, after)
		seen, clocked := since(), before > 0 && after > 0
		moved := clocked && math.Abs(after/before-1) > clockTolerance
		if (moved || seen.Moved) && try <= retries && r.Now().Sub(begin) < r.Settings.RetryTime {
			r.together(ctx, p)
			continue
		}
		for _, d := range seen.Disturbances {
			g.warn(d.Code, "%s", d.Reason)
		}
		if moved {
			g.warn(schema.Throttled, "the clock moved from %.0f to %.0f MHz in the last of %d tries", before, after, try)
		}
		return g, nil
	}
}

// clock reads the settled clock; where a reading is disturbed it is absent and
// flagged, where the backend has none it is absent.
func (r *Runner) clock(p Place, g *guarded) (float64, error) {
	mhz, err := r.Backend.Clock(p, true)
	switch {
	case err == nil:
		return mhz, nil
	case errors.Is(err, ErrUnsupported):
		return 0, nil
	case errors.Is(err, ErrUnsettled):
		g.warn(schema.ClockUnsettled, "%v", err)
		return 0, nil
	}
	return 0, err
}
