package bench

import (
	"cmp"
	"fmt"
	"slices"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// computed is a measurement of FLOP. A case that is measured several times in the
// course of a calibration has its samples pooled: a host that is slow for some
// seconds does not set the figure alone.
type computed struct {
	operation   string
	dtype       schema.DType
	place       Place
	shape       Shape
	flop, bytes int64
	padding     int64 // of the FLOP, those on padding
	written     int64 // of the bytes
	Measurement
	earlier *schema.Energy // of a run that was interrupted; nil without
}

// disturbed says that the host had a part in the figure.
func (m *computed) disturbed() bool { return hasAny(m.Warnings, disturbances...) }

// disturbances are what figures other than times of pairs are measured again for.
var disturbances = []schema.Code{schema.NoisyHost, schema.Throttled, schema.WorkersApart}

// hasAny says whether one of some codes is among the warnings.
func hasAny(warnings []schema.Code, codes ...schema.Code) bool {
	return slices.ContainsFunc(codes, func(code schema.Code) bool { return slices.Contains(warnings, code) })
}

// pool adds a measurement to those of the same case. What the host disturbed counts
// only as long as there is nothing better, and is noted to be measured again.
func (c *Calibrator) pool(m computed) {
	i := slices.IndexFunc(c.computed, func(o computed) bool {
		return o.operation == m.operation && o.dtype == m.dtype && o.place == m.place && slices.Equal(o.shape, m.shape) &&
			(o.Implementation == m.Implementation || m.operation != "peak_fma") // of which each unit has one
	})
	if i < 0 {
		i = len(c.computed)
		c.computed = append(c.computed, m)
	} else {
		c.computed[i].add(m)
	}
	if c.computed[i].disturbed() {
		c.disturbed = append(c.disturbed, c.disturbedComputed(i))
	}
}

// disturbedComputed is the disturbance of entry i of what was pooled, wherever that lies by then.
func (c *Calibrator) disturbedComputed(i int) disturbance {
	return disturbance{still: func() bool { return c.computed[i].disturbed() }}
}

// refutes says that a disturbed measurement was faster than a calm one, by more than the clock may move: the calm one must
// have been disturbed unnoticed. Workers that are apart refute nothing, as each has a cache to itself and may be faster.
func refutes(disturbed float64, warnings []schema.Code, calm float64) bool {
	return disturbed > (1+clockTolerance)*calm && !hasAny(warnings, schema.WorkersApart)
}

// add pools the samples of two measurements, or takes those of the undisturbed one that the other does not refute. Of two
// kernels, as a library may choose another at another time, it takes the faster: by more than the clock may move, if that
// one has no energy and the other has.
func (o *computed) add(m computed) {
	if o.disturbed() != m.disturbed() {
		calm, other := *o, m
		if o.disturbed() {
			calm, other = m, *o
		}
		if !refutes(1/slices.Min(other.Seconds), other.Warnings, 1/slices.Min(calm.Seconds)) {
			if calm.Energy == nil && calm.Implementation == other.Implementation { // peaks are metered but once
				calm.Energy, calm.Executions, calm.earlier = other.Energy, other.Executions, other.earlier
			}
			*o = calm
			return
		}
	}
	if o.Implementation != m.Implementation {
		gain := slices.Min(o.Seconds) / slices.Min(m.Seconds)
		if gain > 1+clockTolerance || gain > 1 && (o.Energy == nil || m.Energy != nil) {
			*o = m
		}
		return
	}
	if o.ClockMHz == 0 || m.ClockMHz != 0 && slices.Min(m.Seconds) < slices.Min(o.Seconds) {
		o.ClockMHz = m.ClockMHz // that of the best sample
	}
	o.TopMHz = max(o.TopMHz, m.TopMHz)
	o.Seconds = append(o.Seconds, m.Seconds...)
	if m.Energy != nil {
		o.Energy, o.Executions = m.Energy, m.Executions // that of the last window
	}
	o.MaxAbsError = max(o.MaxAbsError, m.MaxAbsError)
	for j, code := range m.Warnings {
		o.warn(code, "%s", m.Notes[j])
	}
	o.judgeScatter()
}

// gflops of the best sample.
func (m *computed) gflops() float64 { return float64(m.flop) / slices.Min(m.Seconds) / 1e9 }

// sortComputed has the points of a curve follow each other, whenever they were
// measured, behind the peaks, which are held against their own bounds first.
func (c *Calibrator) sortComputed() {
	operations := []string{"peak_fma"}
	for _, m := range c.computed {
		operations = append(operations, m.operation)
	}
	slices.SortStableFunc(c.computed, func(a, b computed) int {
		return cmp.Or(
			cmp.Compare(slices.Index(operations, a.operation), slices.Index(operations, b.operation)),
			cmp.Compare(slices.Index(c.Options.DTypes, a.dtype), slices.Index(c.Options.DTypes, b.dtype)),
			cmp.Compare(a.place.Class, b.place.Class),
			cmp.Compare(a.place.Threads, b.place.Threads),
			cmp.Compare(a.flop, b.flop))
	})
}

// addComputed turns what was pooled into entries of the profile and holds each
// against its bound.
func (c *Calibrator) addComputed() {
	c.sortComputed()
	for i := range c.computed {
		m := &c.computed[i]
		entry := m.entry()
		if m.operation == "peak_fma" {
			limit := c.Runner.Backend.Limit(m.dtype, m.place).FLOPPerCycle * m.TopMHz / 1e3
			if limit > 0 && m.gflops() > boundTolerance*limit {
				m.warn(schema.Implausible, "%.1f GFLOPS are above the %.1f of the units at %.0f MHz", m.gflops(), limit, m.TopMHz)
			}
		} else if peak := c.peak(m.dtype, m.place); peak > 0 {
			entry.Efficiency = m.gflops() / peak
			if entry.Efficiency > boundTolerance {
				m.warn(schema.Implausible, "%.1f GFLOPS are above the register peak of %.1f", m.gflops(), peak)
			} else if entry.Efficiency > 1 {
				m.warn(schema.AbovePeak, "%.1f GFLOPS are a little above the register peak of %.1f", m.gflops(), peak)
			}
		}
		entry.Warnings = c.warnAll("compute", i, m.Warnings, m.Notes)
		c.Device.Compute = append(c.Device.Compute, entry)
	}
}

// boundFusion holds both sides of each pair, without what is padding, against the
// register peak.
func (c *Calibrator) boundFusion() {
	for i := range c.Device.FusionProfiles {
		f := &c.Device.FusionProfiles[i]
		peak, rate := c.peak(f.DType, Place{Threads: f.Threads}), f.WithoutPadding(max(f.UnfusedGFLOPS, f.FusedGFLOPS))
		if peak > 0 && rate > boundTolerance*peak && !slices.Contains(f.Warnings, schema.Implausible) {
			note := fmt.Sprintf("%s %s %s: %.1f GFLOPS are above the register peak of %.1f", f.Pattern, f.DType, f.Shape, rate, peak)
			f.Warnings = append(f.Warnings, c.warnAll("fusion_profiles", i, []schema.Code{schema.Implausible}, []string{note})...)
		}
	}
}

// peak is the register peak measured on a place, of the best unit; 0 if there is none that can be true.
func (c *Calibrator) peak(d schema.DType, p Place) float64 {
	best := 0.0
	for i := range c.computed {
		if m := &c.computed[i]; m.operation == "peak_fma" && m.dtype == d && m.place == p && !hasAny(m.Warnings, schema.Implausible) {
			best = max(best, m.gflops())
		}
	}
	return best
}

// entry describes the measurement as the profile does.
func (m *computed) entry() schema.Compute {
	ms, rate := make([]float64, len(m.Seconds)), make([]float64, len(m.Seconds))
	for i, s := range m.Seconds {
		ms[i], rate[i] = s*1e3, float64(m.flop)/s/1e9
	}
	e := schema.Compute{
		Operation:         m.operation,
		DType:             m.dtype,
		Implementation:    m.Implementation,
		Threads:           m.place.Threads,
		CoreClass:         m.place.Class,
		FLOP:              m.flop,
		PaddingFLOP:       m.padding,
		Bytes:             m.bytes,
		BytesWritten:      m.written,
		LatencyMS:         stat.Summarize(ms, stat.Smaller),
		EffectiveClockMHz: m.ClockMHz,
	}
	if m.flop > 0 {
		gflops := stat.Summarize(rate, stat.Larger)
		e.GFLOPS = &gflops
	}
	if m.shape != nil {
		e.Shape, e.InputShape = m.shape.String(), m.shape.Values()
	}
	if m.bytes > 0 && m.flop > 0 {
		e.ArithmeticIntensity = float64(m.flop) / float64(m.bytes)
	}
	if m.Verified {
		e.MaxAbsError = &m.MaxAbsError
	}
	e.Energy = cmp.Or(m.energy(m.flop, m.bytes), m.earlier)
	return e
}

func (m *Measurement) warn(code schema.Code, format string, args ...any) {
	g := guarded{codes: m.Warnings, notes: m.Notes}
	g.warn(code, format, args...)
	m.Warnings, m.Notes = g.codes, g.notes
}

// unwarn takes a warning back.
func (m *Measurement) unwarn(code schema.Code) {
	if i := slices.Index(m.Warnings, code); i >= 0 {
		m.Warnings, m.Notes = slices.Delete(m.Warnings, i, i+1), slices.Delete(m.Notes, i, i+1)
	}
}

// judgeScatter flags samples that scatter, and takes the flag back from those that do not now that others are
// pooled with them.
func (m *Measurement) judgeScatter() {
	m.unwarn(schema.Unstable)
	if s := stat.Summarize(m.Seconds, stat.Smaller); s.Std > mostVariation*s.Mean {
		m.warn(schema.Unstable, "the standard deviation of the samples is %.0f%% of their mean", 100*s.Std/s.Mean)
	}
}

// energy is what a case took, given the FLOP and bytes of one execution; nil if no meter
// told.
func (m *Measurement) energy(flop, bytes int64) *schema.Energy {
	e := m.Energy
	if e == nil || !(e.Joules > 0) {
		return nil
	}
	return &schema.Energy{
		WindowSeconds: e.Window.Seconds(), Executions: m.Executions, Meters: e.Meters,
		Joules: e.Joules, AvgWatts: e.Joules / e.Window.Seconds(), MaxWatts: e.MaxWatts,
		OpsPerWatt:    m.Executions / e.Joules,
		GFLOPSPerWatt: m.Executions * float64(flop) / e.Joules / 1e9,
		GBpsPerWatt:   m.Executions * float64(bytes) / e.Joules / 1e9,
		Celsius:       e.Celsius,
	}
}
