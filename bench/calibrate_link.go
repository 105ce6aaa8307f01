package bench

import (
	"context"
	"fmt"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// linkBytes is what a transfer moves: so much that its start makes no difference.
const linkBytes = 256 << 20

// linkSteps plan the link between the memory of the host and that of a GPU, both ways.
func (c *Calibrator) linkSteps() []step {
	if c.Device.Kind != schema.GPU {
		return nil
	}
	var steps []step
	for _, op := range []Op{hostToDevice(linkBytes / schema.FP64.Bytes()), deviceToHost(linkBytes / schema.FP64.Bytes())} {
		steps = append(steps, step{
			label: fmt.Sprintf("bandwidth %s", op.Name),
			cost:  c.Runner.Settings.CaseBudget + c.Runner.Settings.WarmUp + caseOverhead,
			run: func(ctx context.Context, scale float64) error {
				return c.measureLink(ctx, op, scale)
			},
		})
	}
	return steps
}

func (c *Calibrator) measureLink(ctx context.Context, op Op, scale float64) error {
	m, err := c.measure(ctx, Case{Chain: Chain{op}, DType: schema.FP64, Place: c.all(), Seed: c.Options.Seed}, scale)
	if err != nil {
		return err
	}
	bytes := op.Out.Bytes(schema.FP64)
	rate := make([]float64, len(m.Seconds))
	for i, s := range m.Seconds {
		rate[i] = float64(bytes) / s / 1e9
	}
	c.addBandwidth(schema.Bandwidth{
		Level: schema.HostLink, Pattern: op.Name, Implementation: m.Implementation, Threads: c.all().Threads,
		WorkingSetBytes: bytes, GBps: stat.Summarize(rate, stat.Larger), EffectiveClockMHz: m.ClockMHz,
	}, m)
	return nil
}
