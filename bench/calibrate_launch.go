package bench

import (
	"context"
	"fmt"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// empty is the operation that does nothing.
func empty() Op { return Op{Name: "empty", Out: &Tensor{Name: "none", Dims: []int64{1}}} }

// launchSteps plan what it costs a GPU to launch a kernel.
func (c *Calibrator) launchSteps() []step {
	if c.Device.Kind != schema.GPU {
		return nil
	}
	var steps []step
	for _, mode := range []schema.LaunchMode{schema.LaunchStream, schema.LaunchGraph} {
		steps = append(steps, step{
			label: fmt.Sprintf("launch, %s", mode),
			cost:  c.pointCost(),
			run: func(ctx context.Context, scale float64) error {
				return c.measureLaunch(ctx, mode, scale*c.Runner.Settings.PointShare)
			},
		})
	}
	return steps
}

func (c *Calibrator) measureLaunch(ctx context.Context, mode schema.LaunchMode, scale float64) error {
	m, err := c.measure(ctx, Case{
		Chain: Chain{empty()}, DType: schema.FP32, Place: c.all(), Seed: c.Options.Seed, Graph: mode == schema.LaunchGraph,
	}, scale)
	if err != nil {
		return err
	}
	us := make([]float64, len(m.Seconds))
	for i, s := range m.Seconds {
		us[i] = s * 1e6
	}
	c.Device.Launch = append(c.Device.Launch, schema.LaunchCost{
		Mode: mode, Microseconds: stat.Summarize(us, stat.Smaller),
		Warnings: c.warnAll("launch", len(c.Device.Launch), m.Warnings, m.Notes),
	})
	return nil
}
