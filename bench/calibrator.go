package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hwcal/schema"
)

// Calibrator measures a whole device: it plans steps, runs each within its share
// of the budget, and keeps what they give. A step that fails is recorded and
// costs none of the others.
type Calibrator struct {
	Runner  Runner
	Device  schema.Device // as detected; the results are added to it
	Options Options

	planSum  string    // tells the plan from others
	begin    time.Time // less what the run took before it was interrupted
	deadline time.Time // when the budget is spent
	levels   levels
	computed []computed
	compared []Comparison // behind FusionProfiles
	controls []Comparison // behind the controls of Quality
	// disturbed is what the present step has measured and the host disturbed: each says
	// whether it still is.
	disturbed []disturbance
	warnings  []schema.Warning
	lost      bool // the device answers no more
	// uncontrolled: there are no controls, and verdicts do not wait for any.
	uncontrolled bool
	// starts is what it costs to start an operation, in seconds: for each way of the pairs.
	starts map[started]float64
}

// Options of a calibration.
type Options struct {
	Mode        schema.Mode
	DTypes      []schema.DType // in which to measure
	Patterns    []Pattern      // fusion patterns to measure
	Operations  []Pattern      // single operations to measure
	Threads     int            // "all threads": the most that a case uses; 0 if the device has none
	Seed        uint64
	Budget      time.Duration // of the whole calibration; cases past it are skipped
	MemoryBytes int64         // that may be taken
	Resume      *Earlier      // run to continue; nil for none
	Observe     func(Progress)
}

// Progress is where a calibration stands.
type Progress struct {
	Step, Steps int           // steps done, steps in all
	Label       string        // the step that begins
	Left        time.Duration // estimate
}

// step is a unit of work. run gets a scale, at most 1: the share of cost - least that is
// left to it when the budget runs short.
type step struct {
	label string
	cost  time.Duration        // what is set aside for it
	least time.Duration        // the part of cost that it takes in any case
	usual time.Duration        // what it usually takes, to estimate the time left; 0 for the cost
	takes func() time.Duration // the least that it takes at the rates measured by then; nil for steps that are never long
	extra bool                 // comes after the urgent repetitions of what the host disturbed
	run   func(ctx context.Context, scale float64) error
}

// attempt runs the step; a panic is its error.
func (s step) attempt(ctx context.Context, scale float64) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = Caught(r)
		}
	}()
	return s.run(ctx, scale)
}

// minScale is the share of the planned time below which no step is cut: when the
// budget runs short, the first steps are measured and the last ones skipped.
const minScale = 0.15

// longShare of the budget is what a step may take in its turn. A longer one waits until all
// others had theirs: if the budget runs short, it is what is left out.
const longShare = 1.0 / 60

// Run calibrates the device. It returns an error if ctx ended: what was measured by
// then comes with the state to resume it. The only other one is ErrResume.
func (c *Calibrator) Run(ctx context.Context) (schema.Device, []schema.Warning, error) {
	steps := c.plan()
	if c.Options.Resume == nil {
		c.recordLacks()
	}
	_, _, err := c.run(ctx, steps)
	c.missing()
	return c.Device, c.warnings, err
}

// run takes the steps.
func (c *Calibrator) run(ctx context.Context, steps []step) (schema.Device, []schema.Warning, error) {
	uniqueLabels(steps)
	c.Runner.patient() // of all runners that are made from it
	var again []disturbedStep
	c.planSum = c.sumOf(steps)
	c.begin = c.Runner.Now()
	if c.Options.Resume != nil {
		var err error
		if steps, again, err = c.resume(steps); err != nil {
			return c.Device, nil, err
		}
	}
	c.deadline = c.begin.Add(c.Options.Budget)
	all := len(steps)
	usual := time.Duration(0)
	for i, s := range steps {
		if s.usual == 0 {
			steps[i].usual = s.cost
		}
		usual += steps[i].usual
	}
	begin, first, repeated := c.Runner.Now(), usual, false
	for len(steps) > 0 && ctx.Err() == nil {
		s := steps[0]
		if s.takes != nil && float64(s.takes()) > longShare*float64(c.Options.Budget) {
			s.takes = nil
			steps = append(steps[1:], s)
			continue
		}
		if s.extra && !repeated {
			repeated = true
			now := c.Runner.Now()
			until := now.Add(time.Duration(repeatShare * float64(c.Options.Budget)))
			urgent := urgentFirst(again)
			still, _ := c.measureAgain(ctx, again[:urgent], all-len(steps), until, c.scaleOf(steps, c.deadline.Sub(now)))
			again = append(still, again[urgent:]...)
			continue
		}
		left := c.deadline.Sub(c.Runner.Now())
		pace := 1.0 // at which the steps so far took their usual time
		if done := first - usual; done > 0 {
			pace = float64(c.Runner.Now().Sub(begin)) / float64(done)
		}
		c.observe(Progress{all - len(steps), all, s.label, min(left, time.Duration(pace*float64(usual)))})
		err := ErrBudget
		if left > 0 {
			err = s.attempt(ctx, c.scaleOf(steps, left))
		}
		if err != nil && ctx.Err() != nil {
			break // it is the first of those left out
		}
		if errors.Is(err, ErrLost) {
			c.abandon(steps, err)
			break
		}
		steps, usual = steps[1:], usual-s.usual
		c.record(s.label, err)
		again = c.appendDisturbed(again, s)
	}
	if !c.lost {
		// What never ends to disturb does not more than double the time of the run.
		left := c.deadline.Sub(c.Runner.Now())
		spent := c.Options.Budget - left
		until := c.deadline.Add(min(spent-left, 0))
		urgentFirst(again)
		for ran := true; ran; {
			again, ran = c.measureAgain(ctx, again, all, until, 1)
		}
	}
	if ctx.Err() != nil {
		c.interrupt(steps)
		return c.Device, c.warnings, context.Cause(ctx)
	}
	c.observe(Progress{all, all, "", 0})
	c.finish()
	return c.Device, c.warnings, nil
}

// scaleOf the first of the steps that are left: what the time allows to it and all others. A default run of a CPU has no
// time for all: there extra steps take what the others leave.
func (c *Calibrator) scaleOf(steps []step, left time.Duration) float64 {
	short := c.Options.Mode == schema.Default && c.Device.Kind == schema.CPU
	planned, least := time.Duration(0), time.Duration(0)
	for _, s := range steps {
		if !short || s.extra == steps[0].extra {
			planned, least = planned+s.cost, least+s.least
		}
	}
	return scale(planned, least, left)
}

// scale is what the time that is left allows to steps of such a cost together.
func scale(planned, least, left time.Duration) float64 {
	return min(1, max(minScale, float64(left-least)/float64(max(planned-least, 1))))
}

// abandon records that the device was lost in the first of the steps, and what it costs.
func (c *Calibrator) abandon(steps []step, err error) {
	c.lost = true
	c.record(steps[0].label, err)
	for _, s := range steps[1:] {
		c.Device.Unavailable = append(c.Device.Unavailable, schema.Unavailable{
			What: s.label, Reason: "the device was lost before: " + err.Error(),
		})
	}
}

// plan lists the steps. What a run can best go without comes last, as that is what a slow or
// busy machine has no time for.
func (c *Calibrator) plan() []step {
	pairs, typed, otherPairs := c.fusionSteps()
	operations, sweep := c.operationSteps()
	steps := c.idleSteps()
	// The register peak bounds all else: it is measured five times, and what the
	// summary quotes of matmul twice, so that one slow moment of the host decides
	// nothing.
	steps = append(steps, c.peakSteps(c.Options.DTypes, c.places(), true)...)
	steps = append(steps, c.matmulSteps(false)...)
	steps = append(steps, c.peakSteps(c.Options.DTypes, c.places(), false)...)
	steps = append(steps, c.scalingSteps()...)
	steps = append(steps, c.bandwidthSteps()...)
	steps = append(steps, c.latencySteps()...)
	steps = append(steps, c.linkSteps()...)
	steps = append(steps, c.launchSteps()...)
	steps = append(steps, c.numaSteps()...)
	steps = append(steps, c.peakSteps(c.Options.DTypes, c.places(), false)...)
	steps = append(steps, spread(pairs, c.controlSteps())...)
	steps = append(steps, c.peakSteps(c.Options.DTypes, c.places(), false)...)
	steps = append(steps, c.crossoverSteps()...)
	steps = append(steps, operations...)
	steps = append(steps, c.matmulSteps(true)...)
	steps = append(steps, c.peakSteps(c.Options.DTypes, c.places(), false)...)
	steps = append(steps, typed...)
	extras := spread(sweep, otherPairs)
	for i := range extras {
		extras[i].extra = true
	}
	return append(steps, extras...)
}

// uniqueLabels gives each step a label of its own.
func uniqueLabels(steps []step) {
	times := map[string]int{}
	for i, s := range steps {
		if times[s.label]++; times[s.label] > 1 {
			steps[i].label += fmt.Sprintf(", repetition %d", times[s.label])
		}
	}
}

// ErrBudget: the time for the calibration was spent before the step, or the step
// takes too much of it.
var ErrBudget = errors.New("budget spent")

// affordable refuses what takes more than is left, or than a tenth of the whole
// budget whatever it is cut to: one case shall not cost the others their turn.
func (c *Calibrator) affordable(least time.Duration) error {
	if most := min(c.Options.Budget/10, c.deadline.Sub(c.Runner.Now())); least > most {
		return fmt.Errorf("would take %s, of which at most %s are left to it: %w",
			least.Round(time.Millisecond), most.Round(time.Millisecond), ErrBudget)
	}
	return nil
}

func (c *Calibrator) observe(p Progress) {
	if c.Options.Observe != nil {
		c.Options.Observe(p)
	}
}

// all is the whole device, as far as a case may use it; one is a thread of it, or the whole
// device where there are none.
func (c *Calibrator) all() Place { return Place{Threads: c.Options.Threads} }

func (c *Calibrator) one() Place { return Place{Threads: min(1, c.Options.Threads)} }

// shapes of a pattern that a run measures on this device: on a GPU first those that fill it.
func (c *Calibrator) shapes(p Pattern) []Shape {
	shapes := p.Shapes(c.Options.Mode)
	if c.Device.Kind == schema.GPU && p.Throughput != nil && !p.Own {
		return append(p.Throughput(c.Options.Mode), shapes...)
	}
	return shapes
}

// places are the parts of the device on which compute is measured: one thread,
// all threads, and both within each class of cores where there are several.
func (c *Calibrator) places() []Place {
	if c.Device.CPU == nil {
		return []Place{c.all()}
	}
	ps := []Place{c.one(), c.all()}
	if len(c.Device.CPU.CoreClasses) > 1 {
		for _, class := range c.Device.CPU.CoreClasses {
			n := 0
			for _, cpu := range class.CPUs {
				for _, used := range c.Device.CPU.UsedCPUs {
					if cpu == used {
						n++
					}
				}
			}
			if n > 0 {
				ps = append(ps, Place{Threads: 1, Class: class.Name}, Place{Threads: n, Class: class.Name})
			}
		}
	}
	var distinct []Place
	seen := map[Place]bool{}
	for _, p := range ps {
		if !seen[p] {
			seen[p] = true
			distinct = append(distinct, p)
		}
	}
	return distinct
}
