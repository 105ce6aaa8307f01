package bench

import (
	"context"
	"fmt"
	"time"

	"hwcal/schema"
)

// peakSteps plans the register peaks: each dtype on each place.
func (c *Calibrator) peakSteps() []step {
	var steps []step
	for _, d := range c.Options.DTypes {
		for _, unit := range c.units("peak_fma", d) {
			for _, p := range c.places() {
				label := fmt.Sprintf("peak_fma %s, %s", d, p)
				if unit != "" {
					label = fmt.Sprintf("peak_fma %s %s, %s", d, unit, p)
				}
				steps = append(steps, step{
					label: label,
					cost:  c.Runner.Settings.CaseBudget + 2*c.Runner.Settings.WarmUp,
					run: func(ctx context.Context, scale float64) error {
						return c.measurePeak(ctx, d, unit, p, scale)
					},
				})
			}
		}
	}
	return steps
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

func (c *Calibrator) measurePeak(ctx context.Context, d schema.DType, unit string, p Place, scale float64) error {
	op := PeakFMA(roundsOf(d), int64(p.Threads))
	m, err := c.measure(ctx, Case{Chain: Chain{op}, DType: d, Unit: unit, Place: p, Seed: c.Options.Seed}, scale)
	if err != nil {
		return err
	}
	c.pool(computed{operation: "peak_fma", dtype: d, place: p, flop: op.FLOP, Measurement: m})
	return nil
}

// matmulSteps plans the matrix multiplications of the mode.
func (c *Calibrator) matmulSteps() []step {
	matmul, err := Lookup("matmul")
	if err != nil {
		panic(err) // registered beside this file
	}
	var steps []step
	for _, d := range c.Options.DTypes {
		for _, s := range matmul.Shapes(c.Options.Mode) {
			for _, p := range c.places() {
				if p.Class != "" {
					continue // the register peak tells classes apart
				}
				chain, err := matmul.Build(s, p.Threads)
				if err != nil {
					panic(err) // a shape of our own
				}
				steps = append(steps, step{
					label: fmt.Sprintf("matmul %s %s, %s", d, s, p),
					// The register peak is known by then, but not yet when the
					// steps are planned: 50 GFLOPS a thread serve for an estimate.
					cost: max(c.Runner.Settings.CaseBudget, time.Duration(float64(chain.FLOP())/50/float64(p.Threads))*time.Duration(c.Runner.Settings.MinSamples+2)),
					run: func(ctx context.Context, scale float64) error {
						return c.measureMatmul(ctx, chain, s, d, p, scale)
					},
				})
			}
		}
	}
	return steps
}

func (c *Calibrator) measureMatmul(ctx context.Context, chain Chain, s Shape, d schema.DType, p Place, scale float64) error {
	m, err := c.measure(ctx, Case{Chain: chain, DType: d, Place: p, Seed: c.Options.Seed}, scale)
	if err != nil {
		return err
	}
	c.pool(computed{
		operation: "matmul", dtype: d, place: p, shape: s,
		flop: chain.FLOP(), bytes: chain.FusedBytes(d), Measurement: m,
	})
	return nil
}

// measure runs a case within its share of the budget.
func (c *Calibrator) measure(ctx context.Context, cs Case, scale float64) (Measurement, error) {
	r := c.Runner
	r.Settings.CaseBudget = time.Duration(scale * float64(r.Settings.CaseBudget))
	return r.Measure(ctx, cs)
}
