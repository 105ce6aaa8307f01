package bench

import (
	"context"
	"time"

	"hwcal/schema"
)

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

// idleTime is how long nothing is done to see what the device takes while idle.
const idleTime = time.Second

// idleSteps plan the power of the idle device, if it has a meter.
func (c *Calibrator) idleSteps() []step {
	meter := c.Runner.Backend.Meter()
	if meter == nil {
		return nil
	}
	meter.Stop()
	return []step{{label: "idle power", cost: idleTime, run: func(ctx context.Context, _ float64) error {
		return c.measureIdle(ctx)
	}}}
}

func (c *Calibrator) measureIdle(ctx context.Context) error {
	meter := c.Runner.Backend.Meter()
	c.Runner.wait(ctx, idleTime)
	e, ok := meter.Stop()
	if ok && ctx.Err() == nil {
		c.Device.Power.Idle = &schema.Idle{
			WindowSeconds: e.Window.Seconds(), Meters: e.Meters, AvgWatts: e.Joules / e.Window.Seconds(), Celsius: e.Celsius,
		}
	}
	return ctx.Err()
}
