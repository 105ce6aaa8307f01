package bench

import (
	"context"
	"fmt"
	"time"

	"hwcal/schema"
)

// peakSteps plans the register peaks: each dtype on each place. They are metered once.
func (c *Calibrator) peakSteps(dtypes []schema.DType, places []Place, metered bool) []step {
	var steps []step
	for _, p := range places {
		for _, d := range dtypes {
			for _, unit := range c.units("peak_fma", d) {
				steps = append(steps, step{
					label: peakLabel(d, unit, p),
					cost:  c.Runner.Settings.CaseBudget + 2*c.Runner.Settings.WarmUp,
					run: func(ctx context.Context, scale float64) error {
						return c.measurePeak(ctx, d, unit, p, metered && c.meterFits(1), scale)
					},
				})
			}
		}
	}
	return steps
}

func peakLabel(d schema.DType, unit string, p Place) string {
	if unit != "" {
		return fmt.Sprintf("peak_fma %s %s, %s", d, unit, p)
	}
	return fmt.Sprintf("peak_fma %s, %s", d, p)
}

// units are those of the device that run a chain, where there are several for the type:
// a peak is the best of them. One alone needs no name.
func (c *Calibrator) units(chain string, d schema.DType) []string {
	var names []string
	for _, k := range c.Runner.Backend.Kernels() {
		if k.Chain == chain && k.DType == d {
			names = append(names, k.Implementation)
		}
	}
	if len(names) < 2 {
		return []string{""}
	}
	return names
}

func (c *Calibrator) measurePeak(ctx context.Context, d schema.DType, unit string, p Place, metered bool, scale float64) error {
	op := PeakFMA(roundsOf(d, p), int64(p.Parts()))
	m, err := c.measure(ctx, Case{Chain: Chain{op}, DType: d, Unit: unit, Place: p, Seed: c.Options.Seed, Metered: metered}, scale)
	if err != nil {
		return err
	}
	m.unwarn(schema.WorkersApart) // between which nothing passes
	c.pool(computed{operation: "peak_fma", dtype: d, place: p, flop: op.FLOP, Measurement: m})
	return nil
}

// meterStretch is how many times its time a case may take for the sake of its energy.
const meterStretch = 2

// meterFits says whether there is a meter, and what it wants is no more than that for a share of the time of a case.
func (c *Calibrator) meterFits(share float64) bool {
	meter := c.Runner.Backend.Meter()
	if meter == nil {
		return false
	}
	meter.Stop()
	return float64(meter.LeastWindow()) <= meterStretch*share*float64(c.Runner.Settings.CaseBudget)
}

// measure runs a case within its share of the budget. A panic is its error, and costs no other case of a step.
func (c *Calibrator) measure(ctx context.Context, cs Case, scale float64) (m Measurement, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = Caught(r)
		}
	}()
	r := c.runner(scale)
	return r.Measure(ctx, cs)
}

// runner is the one for cases and pairs of a share of the budget. They warm up as much less:
// what ran before them has warmed the cores.
func (c *Calibrator) runner(scale float64) Runner {
	r := c.Runner
	r.Settings.CaseBudget = time.Duration(scale * float64(r.Settings.CaseBudget))
	r.Settings.WarmUp = time.Duration(scale * float64(r.Settings.WarmUp))
	r.Settings.PairBudget = time.Duration(scale * float64(r.Settings.PairBudget))
	r.Settings.RetryTime = time.Duration(scale * float64(r.Settings.RetryTime))
	return r
}
