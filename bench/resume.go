package bench

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// Earlier is an interrupted calibration: its device, whose Resume is the state that the
// results do not tell, and the warnings about it.
type Earlier struct {
	Device   schema.Device
	Warnings []schema.Warning
}

// ErrResume: an interrupted calibration cannot be continued by this one.
var ErrResume = errors.New("cannot be resumed")

// interrupt completes the device with what was measured, names the steps that are
// left, and adds the state to resume.
func (c *Calibrator) interrupt(left []step) {
	state := &schema.Resume{
		DTypes: c.Options.DTypes, Threads: c.Options.Threads, Patterns: names(c.Options.Patterns), Plan: c.planSum,
		Spent: c.Runner.Now().Sub(c.begin).Seconds(), FlatFrom: c.levels.flatFrom,
		Warnings: len(c.warnings), Unavailable: len(c.Device.Unavailable),
	}
	for _, s := range left {
		c.Device.Unavailable = append(c.Device.Unavailable, schema.Unavailable{
			What: s.label, Reason: "interrupted before it was measured; run --resume continues",
		})
	}
	c.warn(schema.Interrupted, "", "interrupted with %d steps to come; run --resume continues", len(left))
	c.finish()
	for _, m := range c.computed { // in the order of the entries by now
		state.Compute = append(state.Compute, schema.ResumeSamples{Seconds: m.Seconds, TopMHz: m.TopMHz})
	}
	c.Device.Resume = state
}

// sumOf tells plans apart: other shapes are other steps, and other kernels would make
// one curve of two.
func (c *Calibrator) sumOf(steps []step) string {
	h := sha256.New()
	for _, s := range steps {
		fmt.Fprintln(h, s.label)
	}
	for _, k := range c.Runner.Backend.Kernels() {
		fmt.Fprintln(h, k.Chain, k.DType, k.Implementation)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// resume takes over what was measured. Of the steps it returns those that were left
// out, and those whose figures the host disturbed.
func (c *Calibrator) resume(steps []step) ([]step, []disturbedStep, error) {
	e := c.Options.Resume
	if err := c.sameRun(e.Device.Resume); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrResume, err)
	}
	state := e.Device.Resume
	left := map[string]bool{}
	for _, u := range e.Device.Unavailable[state.Unavailable:] {
		left[u.What] = true
	}
	for i := range e.Device.Compute {
		m, err := e.computed(i)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrResume, err)
		}
		c.computed = append(c.computed, m)
	}
	d := &c.Device
	d.Bandwidth = measured(e, "bandwidth", e.Device.Bandwidth, func(f *schema.Bandwidth) *[]schema.Code { return &f.Warnings })
	d.OperationProfiles = measured(e, "operation_profiles", e.Device.OperationProfiles, func(f *schema.Compute) *[]schema.Code { return &f.Warnings })
	d.FusionProfiles = measured(e, "fusion_profiles", e.Device.FusionProfiles, func(f *schema.Fusion) *[]schema.Code { return &f.Warnings })
	d.Latency, d.NUMA, d.Launch, d.Power.Idle = e.Device.Latency, e.Device.NUMA, e.Device.Launch, e.Device.Power.Idle
	d.FusionCrossovers, d.Quality = slices.Clone(e.Device.FusionCrossovers), e.Device.Quality
	if d.Untrusted() {
		c.restoreVerdicts()
	}
	d.Unavailable = slices.Clone(e.Device.Unavailable[:state.Unavailable])
	c.warnings = slices.Clone(e.Warnings[:state.Warnings])
	if err := c.takeComparisons(); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrResume, err)
	}
	c.levels.flatFrom = state.FlatFrom
	c.begin = c.begin.Add(-time.Duration(state.Spent * float64(time.Second)))
	again := c.earlierDisturbed(steps)
	return slices.DeleteFunc(steps, func(s step) bool { return !left[s.label] }), again, nil
}

// takeComparisons gives pairs and controls of the earlier run the comparisons behind them, without what was derived.
func (c *Calibrator) takeComparisons() error {
	e, d := c.Options.Resume, &c.Device
	for i, f := range d.FusionProfiles {
		parts, err := c.earlierParts(f)
		if err != nil {
			return fmt.Errorf("fusion profile %d: %w", i, err)
		}
		if err := c.findStart(startOf(wayOf(f))); err != nil {
			return err
		}
		c.compared = append(c.compared, Comparison{
			Decision: stat.Decision{Speedup: f.Speedup, Low: f.SpeedupCILow, High: f.SpeedupCIHigh, Verdict: f.Verdict, Blocks: f.Blocks},
			Unfused:  f.UnfusedLatencyMS / 1e3, Fused: f.FusedLatencyMS / 1e3,
			Implementation: f.Implementation, Parts: parts, ClockMHz: f.EffectiveClockMHz, MaxAbsError: f.MaxAbsError,
			Warnings: f.Warnings, Notes: e.notes("fusion_profiles", i, f.Warnings),
		})
	}
	if d.Quality != nil {
		for i, k := range d.Quality.Controls {
			c.controls = append(c.controls, Comparison{
				Decision: stat.Decision{Speedup: k.Speedup, Low: k.SpeedupCILow, High: k.SpeedupCIHigh, Verdict: k.Verdict, Blocks: k.Blocks},
				Warnings: k.Warnings, Notes: e.notes("quality/controls", i, k.Warnings),
			})
		}
	}
	return nil
}

// earlierParts are those of the fused side of a pair that was measured.
func (c *Calibrator) earlierParts(f schema.Fusion) (Parts, error) {
	at := slices.IndexFunc(c.Options.Patterns, func(p Pattern) bool { return p.Name == f.Pattern })
	if at < 0 || len(c.Options.Patterns[at].Dims) != len(f.InputShape) {
		return nil, fmt.Errorf("no pattern %q of %d dimensions", f.Pattern, len(f.InputShape))
	}
	pattern := c.Options.Patterns[at]
	chain, err := pattern.In(f.DType).Build(dims(pattern.Dims, f.InputShape...), Place{Threads: f.Threads})
	if err != nil {
		return nil, err
	}
	if parts := pattern.Parts(chain, f.DType, c.Runner.Backend); parts != nil {
		return parts, nil
	}
	return Parts{chain}, nil
}

// earlierDisturbed are those of the steps whose figures the host disturbed in the earlier run.
func (c *Calibrator) earlierDisturbed(steps []step) (again []disturbedStep) {
	repeat := func(label string, d disturbance) {
		if at := slices.IndexFunc(steps, func(s step) bool { return s.label == label }); at >= 0 && d.still() {
			again = append(again, disturbedStep{steps[at], d})
		}
	}
	for i := range c.computed {
		repeat(c.label(&c.computed[i]), c.disturbedComputed(i))
	}
	for i, f := range c.Device.FusionProfiles {
		repeat(pairLabel(f.Pattern, f.DType, f.Shape, wayOf(f)), c.disturbedPair(i))
	}
	if q := c.Device.Quality; q != nil {
		for i, k := range q.Controls {
			repeat(controlLabel(k.Kind, k.Pattern, k.DType, k.Shape), c.disturbedControl(i))
		}
	}
	for _, level := range c.levels.names() {
		for _, n := range c.threadCounts() {
			p := Place{Threads: n}
			repeat(levelLabel(level, p), c.disturbedLevel(level, p))
		}
	}
	return again
}

// sameRun says in what the run differs from the interrupted one.
func (c *Calibrator) sameRun(state *schema.Resume) error {
	switch {
	case state == nil:
		return errors.New("nothing is left of it")
	case !slices.Equal(state.DTypes, c.Options.DTypes):
		return fmt.Errorf("it is in %v, not in %v", state.DTypes, c.Options.DTypes)
	case state.Threads != c.Options.Threads:
		return fmt.Errorf("it is on %d threads, not on %d", state.Threads, c.Options.Threads)
	case !slices.Equal(state.Patterns, names(c.Options.Patterns)):
		return fmt.Errorf("its fusion patterns are %v, not %v", state.Patterns, names(c.Options.Patterns))
	case state.Plan != c.planSum:
		return errors.New("its shapes or its kernels are others")
	}
	return nil
}

// label is that of the first step that measures a case.
func (c *Calibrator) label(m *computed) string {
	if m.operation != "peak_fma" {
		return caseLabel(m.operation, m.dtype, m.shape, m.place)
	}
	unit := ""
	if len(c.units(m.operation, m.dtype)) > 1 {
		unit = m.Implementation
	}
	return peakLabel(m.dtype, unit, m.place)
}

// computed is the measurement behind an entry, without what was derived of it.
func (e *Earlier) computed(i int) (computed, error) {
	entry, samples := e.Device.Compute[i], e.Device.Resume.Compute[i]
	m := computed{
		operation: entry.Operation, dtype: entry.DType, place: Place{Threads: entry.Threads, Class: entry.CoreClass},
		flop: entry.FLOP, bytes: entry.Bytes, written: entry.BytesWritten,
		Measurement: Measurement{
			Seconds: samples.Seconds, TopMHz: samples.TopMHz, ClockMHz: entry.EffectiveClockMHz,
			Implementation: entry.Implementation, Verified: entry.MaxAbsError != nil,
		},
		earlier: entry.Energy,
	}
	if m.Verified {
		m.MaxAbsError = *entry.MaxAbsError
	}
	if entry.InputShape != nil {
		p, err := Lookup(entry.Operation)
		if err != nil || len(p.Dims) != len(entry.InputShape) {
			return m, fmt.Errorf("compute %d: no operation %q of %d dimensions", i, entry.Operation, len(entry.InputShape))
		}
		m.shape = dims(p.Dims, entry.InputShape...)
	}
	derived := []schema.Code{schema.Implausible, schema.AbovePeak, schema.Cached}
	for _, w := range e.Warnings {
		if w.Path == fmt.Sprintf("/compute/%d", i) && !slices.Contains(derived, w.Code) {
			m.warn(w.Code, "%s", w.Message)
		}
	}
	return m, nil
}

// notes are the words to some warnings of an entry of a list.
func (e *Earlier) notes(list string, i int, codes []schema.Code) []string {
	words := make([]string, len(codes))
	for _, w := range e.Warnings {
		if at := slices.Index(codes, w.Code); at >= 0 && w.Path == fmt.Sprintf("/%s/%d", list, i) {
			words[at] = w.Message
		}
	}
	return words
}

// measured are the entries of a list of the earlier run without the flags that it derived in the end: what was
// left out may raise the bounds.
func measured[E any](e *Earlier, list string, entries []E, flags func(*E) *[]schema.Code) []E {
	all := slices.Clone(entries)
	for i := range all {
		kept := flags(&all[i])
		*kept = slices.Clone(*kept)
		for _, w := range e.Warnings[e.Device.Resume.Warnings:] {
			if w.Path == fmt.Sprintf("/%s/%d", list, i) {
				*kept = slices.DeleteFunc(*kept, func(code schema.Code) bool { return code == w.Code })
			}
		}
	}
	return all
}
