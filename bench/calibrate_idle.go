package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hwcal/schema"
)

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
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !ok:
		return fmt.Errorf("the meter could not be read, or was set back, or tells nothing of %s: %w", e.Window, ErrUnsupported)
	case !(e.Joules > 0): // no device takes nothing: the counter stands still
		return fmt.Errorf("%s counted %g J in %s: %w", strings.Join(e.Meters, ", "), e.Joules, e.Window, ErrUnsupported)
	}
	c.Device.Power.Idle = &schema.Idle{
		WindowSeconds: e.Window.Seconds(), Meters: e.Meters, AvgWatts: e.Joules / e.Window.Seconds(), Celsius: e.Celsius,
	}
	return nil
}
