package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hwcal/schema"
)

// effectPart makes the known effect of a control 1/20: one execution more in twenty.
const effectPart = 20

// effectShape takes a few microseconds, so that twenty executions are a short sample; on a GPU some tens of them, far longer
// than a launch. What is bound by launches, some of which come before the device starts on the sample, has no share of
// time for each execution: an H200 took 1.18 times as long for 21 executions of 64x128x128 as for 20. On a slow one it is
// smaller, so that the first look is within the budget of a pair, by what is known before anything was measured. What once
// assumes is far below tensor cores whose rate is not known: it would be bound by launches again.
func (c *Calibrator) effectShape(pattern Pattern, d schema.DType) Shape {
	if c.Device.Kind == schema.CPU {
		return dims(linearDims, 64, 128, 128)
	}
	assumed := c.Device.Theoretical.PeakGFLOPS[d].Value == 0 && d.Bytes() < schema.FP32.Bytes()
	for side := int64(2048); side > 512; side /= 2 {
		s := dims(linearDims, side, side, side)
		chain, err := pattern.In(d).Build(s, c.all())
		if err != nil {
			continue
		}
		look := firstLook(c.once(chain.FLOP(), chain.UnfusedBytes(d), d, c.all()), effectPart)
		if assumed || look <= c.Runner.Settings.PairBudget {
			return s
		}
	}
	return dims(linearDims, 512, 512, 512)
}

// controlSteps plans trials whose outcome is known: the same code on both sides, for the first pattern of each group that
// there are kernels for, and a known effect. Networks, which take seconds, have theirs in full runs, or where there is no
// other group.
func (c *Calibrator) controlSteps() []step {
	var steps []step
	plan := func(kind schema.ControlKind, pattern Pattern, s Shape, d schema.DType, part int) {
		label := controlLabel(kind, pattern.Name, d, s.String())
		steps = append(steps, c.pairStep(label, pattern, s, d, c.all(), part, func(ctx context.Context, scale float64) error {
			return c.measureControl(ctx, kind, pattern, s, d, part, scale)
		}))
	}
	if len(c.Options.Patterns) > 0 {
		pattern, err := Lookup("Linear_Bias")
		if err != nil {
			panic(err) // a pattern of our own
		}
		if d, has := c.controlDType(pattern); has {
			plan(schema.KnownEffect, pattern, c.effectShape(pattern, d), d, effectPart)
		}
	}
	var groups []string
	for _, p := range c.Options.Patterns {
		if p.Network() && c.Options.Mode != schema.Full && len(groups) > 0 {
			continue
		}
		if d, has := c.controlDType(p); has && !slices.Contains(groups, p.Group) {
			plan(schema.SameCode, p, c.shapes(p)[0], d, 0)
			groups = append(groups, p.Group)
		}
	}
	return steps
}

// controlDType is the main type, or else the first that the pattern has, if it has one.
func (c *Calibrator) controlDType(pattern Pattern) (schema.DType, bool) {
	for _, d := range append([]schema.DType{c.mainDType()}, c.fusionDTypes()...) {
		if !c.lacks(pattern, d) {
			return d, true
		}
	}
	return "", false
}

func controlLabel(kind schema.ControlKind, pattern string, d schema.DType, shape string) string {
	return fmt.Sprintf("control: %s, %s %s %s", kind, pattern, d, shape)
}

func (c *Calibrator) measureControl(ctx context.Context, kind schema.ControlKind, pattern Pattern, s Shape, d schema.DType, part int, scale float64) error {
	chain, err := pattern.In(d).Build(s, c.all())
	if err != nil {
		return err
	}
	if err := c.affordablePair(chain, d, c.all(), part); err != nil {
		return err
	}
	cs := Case{Chain: chain, Parts: pattern.Parts(chain, d, c.Runner.Backend), DType: d, Place: c.all(), Seed: c.Options.Seed}
	r := c.runner(scale)
	cmp, err := r.Control(ctx, cs, r.Settings.PairBudget, part)
	if err != nil {
		return err
	}
	if c.Device.Quality == nil {
		c.Device.Quality = &schema.Quality{}
	}
	q := c.Device.Quality
	at := slices.IndexFunc(q.Controls, func(k schema.Control) bool {
		return k.Kind == kind && k.Pattern == pattern.Name && k.DType == d && slices.Equal(k.InputShape, s.Values())
	})
	if at < 0 {
		at = len(q.Controls)
		q.Controls, c.controls = append(q.Controls, schema.Control{}), append(c.controls, cmp)
	} else {
		cmp = c.controls[at].join(cmp)
	}
	control := schema.Control{
		Kind: kind, Pattern: pattern.Name, DType: d, Threads: cs.Place.Threads, Shape: s.String(), InputShape: s.Values(),
		TrueSpeedup: TrueSpeedup(part), Speedup: cmp.Speedup, SpeedupCILow: cmp.Low, SpeedupCIHigh: cmp.High, Blocks: cmp.Blocks,
		Verdict: cmp.Verdict, Outcome: schema.OutcomeOf(TrueSpeedup(part), cmp.Low, cmp.High, cmp.Verdict),
		Warnings: c.warnAnew("quality/controls", at, cmp.Warnings, cmp.Notes),
	}
	q.Controls[at], c.controls[at] = control, cmp
	q.Passed = schema.ControlsPassed(q.Controls)
	if cmp.disturbed() {
		c.disturbed = append(c.disturbed, c.disturbedControl(at))
	}
	return nil
}

// disturbedControl is the disturbance of a control, which all verdicts wait for if it failed.
func (c *Calibrator) disturbedControl(at int) disturbance {
	return disturbance{
		still:  func() bool { return c.controls[at].disturbed() },
		urgent: c.Device.Quality.Controls[at].Outcome != schema.ControlPassed,
	}
}

func failed(k schema.Control) bool { return k.Outcome == schema.ControlFailed }

// applyControls takes all verdicts back unless the controls passed: a method that is seen to be wrong here, or not seen
// to be right, decides nothing here.
func (c *Calibrator) applyControls() {
	if c.uncontrolled || !c.Device.Untrusted() {
		return
	}
	path, why := "/fusion_profiles", "no control was measured"
	if q := c.Device.Quality; q != nil {
		path, why = "/quality", "none of the controls passed"
		if i := slices.IndexFunc(q.Controls, failed); i >= 0 {
			k := q.Controls[i]
			path, why = fmt.Sprintf("/quality/controls/%d", i), fmt.Sprintf("%s of %s %s: %s, speedup %.3f in [%.3f, %.3f], is %.3f in truth",
				k.Kind, k.Pattern, k.DType, k.Verdict, k.Speedup, k.SpeedupCILow, k.SpeedupCIHigh, k.TrueSpeedup)
		}
	}
	c.warn(schema.ControlsFailed, path, "%s: no verdict of this run can be relied on", why)
	for i := range c.Device.FusionProfiles {
		f := &c.Device.FusionProfiles[i]
		if f.Verdict != schema.Inconclusive {
			f.Reason = takenBack + f.Reason
			f.Verdict = schema.Inconclusive
		}
	}
	for i := range c.Device.FusionCrossovers {
		x := &c.Device.FusionCrossovers[i]
		for j := range x.Points {
			x.Points[j].Verdict = schema.Inconclusive
		}
		x.Flips = schema.Flips(x.Points)
		x.Reason = takenBack + x.Reason
	}
}

// takenBack is put before the reason that verdicts had.
var takenBack = schema.Inconclusive.Because("a control of this run failed, or none passed; without that, ")

// restoreVerdicts undoes applyControls: the controls may pass when they are measured, or measured again.
func (c *Calibrator) restoreVerdicts() {
	verdict := func(low, high float64, blocks int, warnings []schema.Code) schema.Verdict {
		if blocks < schema.LeastBlocks || slices.Contains(warnings, schema.WorkersApart) {
			return schema.Inconclusive
		}
		return schema.VerdictOf(low, high)
	}
	for i := range c.Device.FusionProfiles {
		f := &c.Device.FusionProfiles[i]
		f.Verdict = verdict(f.SpeedupCILow, f.SpeedupCIHigh, f.Blocks, f.Warnings)
		f.Reason = strings.TrimPrefix(f.Reason, takenBack)
	}
	for i := range c.Device.FusionCrossovers {
		x := &c.Device.FusionCrossovers[i]
		x.Points = slices.Clone(x.Points)
		for j := range x.Points {
			p := &x.Points[j]
			p.Verdict = verdict(p.SpeedupCILow, p.SpeedupCIHigh, p.Blocks, p.Warnings)
		}
		x.Flips = schema.Flips(x.Points)
		x.Reason = strings.TrimPrefix(x.Reason, takenBack)
	}
}

// spread puts the few among the many, each before its share of them: a run that ends
// early has its controls.
func spread(many, few []step) []step {
	if len(few) == 0 {
		return many
	}
	var all []step
	for i, s := range few {
		all = append(all, s)
		all = append(all, many[len(many)*i/len(few):len(many)*(i+1)/len(few)]...)
	}
	return all
}
