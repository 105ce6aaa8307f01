package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// fullCalibrator is a full run of a scripted machine without noise.
func fullCalibrator() (*Calibrator, *fake) {
	c, f := calmCalibrator(schema.Full, twoNodes)
	c.Options.Patterns = named("Linear_Bias", "Conv2d_ReLU")
	for i, p := range c.Options.Patterns {
		c.Options.Patterns[i].Shapes = func(schema.Mode) []Shape { return p.Shapes(schema.Quick) }
	}
	return c, f
}

// calmCalibrator is a run of a scripted machine without noise, so that what is
// measured does not depend on when.
func calmCalibrator(mode schema.Mode, machine func(*Calibrator)) (*Calibrator, *fake) {
	f := newFake()
	f.noise, f.watts = 0, 40
	c := fakeCalibrator(f, mode)
	machine(c)
	c.Runner.Sleep = func(_ context.Context, d time.Duration) { f.now = f.now.Add(d) }
	c.Runner.Settings.MaxSamples = stat.MinSamples
	return c, f
}

// interrupted runs the calibration until the clock is read for the n-th time, and passes
// what it leaves through JSON.
func interrupted(t *testing.T, c *Calibrator, f *fake, n int) *Earlier {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f.clock = func(reading int) float64 {
		if reading == n {
			cancel()
		}
		return 3000
	}
	begin := c.Runner.Now()
	dev, warnings, err := c.Run(ctx)
	if !errors.Is(err, context.Canceled) || dev.Resume == nil {
		t.Fatalf("reading %d: %v, state %v", n, err, dev.Resume)
	}
	before := 0.0
	if c.Options.Resume != nil {
		before = c.Options.Resume.Device.Resume.Spent
	}
	if want := before + c.Runner.Now().Sub(begin).Seconds(); math.Abs(dev.Resume.Spent-want) > 1e-6 {
		t.Errorf("spent %g s, want %g", dev.Resume.Spent, want)
	}
	e := &Earlier{}
	for from, to := range map[any]any{&dev: &e.Device, &warnings: &e.Warnings} {
		data, err := json.Marshal(from)
		if err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(to); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

type result struct {
	Device   schema.Device
	Warnings []schema.Warning
	steps    int
	labels   []string // of the steps
}

func run(t *testing.T, c *Calibrator) result {
	t.Helper()
	var r result
	also := c.Options.Observe
	c.Options.Observe = func(p Progress) {
		r.steps, r.labels = p.Steps, append(r.labels, p.Label)
		if also != nil {
			also(p)
		}
	}
	var err error
	if r.Device, r.Warnings, err = c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

// left are the steps that an interrupted run names.
func (e *Earlier) left() []schema.Unavailable {
	return slices.DeleteFunc(slices.Clone(e.Device.Unavailable[e.Device.Resume.Unavailable:]), func(u schema.Unavailable) bool {
		return strings.HasPrefix(u.What, "summary.")
	})
}

// Wherever a run is interrupted, and continued, its result is that of a whole one.
func TestResume(t *testing.T) {
	long(t)
	for name, k := range map[string]struct {
		calibrator func() (*Calibrator, *fake)
		in         []string                 // the last step of which it is interrupted
		measured   func(schema.Device) bool // all that is restored, in the last of them
	}{
		"CPU": {fullCalibrator, []string{"idle", "matmul", "bandwidth L2", "NUMA", "crossover", "softmax"}, func(d schema.Device) bool {
			return len(d.Latency) > 0 && len(d.NUMA) > 0 && len(d.FusionProfiles) > 0 && len(d.FusionCrossovers) > 0 && len(d.OperationProfiles) > 0
		}},
		"GPU": {func() (*Calibrator, *fake) { return calmCalibrator(schema.Default, fakeGPU) }, []string{"launch", "softmax"}, func(d schema.Device) bool {
			return len(d.Latency) > 0 && len(d.Launch) > 1 && len(d.FusionCrossovers) > 0
		}},
	} {
		c, f := k.calibrator()
		last := map[string]int{} // readings of the clock before the last step of each kind
		c.Options.Observe = func(p Progress) {
			for _, kind := range k.in {
				if strings.HasPrefix(p.Label, kind) {
					last[kind] = f.reads
				}
			}
		}
		whole := run(t, c)
		if len(whole.Warnings) != 0 || whole.Device.Resume != nil || len(last) != len(k.in) {
			t.Fatalf("%s: %v; steps of %v", name, whole.Warnings, last)
		}
		for i, kind := range k.in {
			c, f := k.calibrator()
			e := interrupted(t, c, f, last[kind]+1)
			if i == len(k.in)-1 && !k.measured(e.Device) {
				t.Errorf("%s, interrupted in %s: not all was measured before", name, kind)
			}
			c, _ = k.calibrator()
			c.Options.Resume = e
			got := run(t, c)
			left := e.left()
			if got.steps != len(left) || len(left) == 0 || !strings.HasPrefix(left[0].Reason, "interrupted") {
				t.Errorf("%s, interrupted in %s: %d steps are left, %d were run", name, kind, len(left), got.steps)
			}
			if diff := cmp.Diff(whole, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(result{})); diff != "" {
				t.Fatalf("%s, interrupted in %s (-whole +resumed):\n%.3000s", name, kind, diff)
			}
		}
	}
}

// A run may be interrupted more than once, and takes no more than its budget in all.
func TestResumeTwice(t *testing.T) {
	c, f := fullCalibrator()
	once := interrupted(t, c, f, 100)
	c, f = fullCalibrator()
	c.Options.Resume = once
	twice := interrupted(t, c, f, 100)
	if got, before := len(twice.left()), len(once.left()); got >= before {
		t.Errorf("%d steps are left, before %d", got, before)
	}
	if n := len(twice.Device.Resume.Compute); n != len(twice.Device.Compute) || n == 0 {
		t.Errorf("samples of %d of %d entries", n, len(twice.Device.Compute))
	}
	c, _ = fullCalibrator()
	twice.Device.Resume.Spent = c.Options.Budget.Seconds()
	c.Options.Resume = twice
	got := run(t, c)
	for _, u := range twice.left() {
		if !slices.ContainsFunc(got.Device.Unavailable, func(v schema.Unavailable) bool { return v.What == u.What && v.Reason == ErrBudget.Error() }) {
			t.Errorf("%s was not skipped", u.What)
		}
	}
}

// What the host disturbed before the interruption is measured again behind it.
func TestResumeMeasuresDisturbedAgain(t *testing.T) {
	long(t)
	c, f := fullCalibrator()
	f.reasons = []string{"a neighbour"}
	e := interrupted(t, c, f, 100)
	noisy := func(entries []schema.Compute) (n int) {
		for _, m := range entries {
			if slices.Contains(m.Warnings, schema.NoisyHost) {
				n++
			}
		}
		return n
	}
	if noisy(e.Device.Compute) != len(e.Device.Compute) {
		t.Fatal("nothing is disturbed")
	}
	c, _ = fullCalibrator()
	c.Options.Resume = e
	got := run(t, c)
	if noisy(got.Device.Compute) != 0 || slices.ContainsFunc(got.Warnings, func(w schema.Warning) bool { return w.Code == schema.NoisyHost }) {
		t.Errorf("%d entries are still disturbed: %v", noisy(got.Device.Compute), got.Warnings)
	}
	// The repetitions that were to come have replaced the peaks of one thread.
	if again := "peak_fma fp32, 1 thread, again"; slices.Contains(got.labels, again) || !slices.Contains(got.labels, "peak_fma fp32, 1 thread, repetition 5") {
		t.Errorf("%s, without need, or no repetition: %q", again, got.labels)
	}
}

// So are pairs and controls.
func TestResumeComparesDisturbedAgain(t *testing.T) {
	long(t)
	c, f := fullCalibrator()
	f.apart = math.MaxInt
	ctx, cancel := context.WithCancel(context.Background())
	c.Options.Observe = func(p Progress) {
		if q := c.Device.Quality; q != nil && len(c.Device.FusionProfiles) > 2 {
			cancel()
		}
	}
	dev, warnings, err := c.Run(ctx)
	if !errors.Is(err, context.Canceled) || !slices.Contains(dev.Quality.Controls[0].Warnings, schema.WorkersApart) {
		t.Fatal(err)
	}
	c, _ = fullCalibrator()
	c.Options.Resume = &Earlier{Device: dev, Warnings: warnings}
	pairs, controls := len(dev.FusionProfiles), len(dev.Quality.Controls)
	got := run(t, c).Device
	for i, p := range got.FusionProfiles[:pairs] {
		if slices.Contains(p.Warnings, schema.WorkersApart) || p.Pattern != dev.FusionProfiles[i].Pattern {
			t.Errorf("pair %d: %s %v", i, p.Pattern, p.Warnings)
		}
	}
	for i, k := range got.Quality.Controls[:controls] {
		if len(k.Warnings) > 0 || k.Outcome != schema.ControlPassed {
			t.Errorf("control %d: %s, %v", i, k.Outcome, k.Warnings)
		}
	}
}

// Controls that failed beside a neighbour, or were not measured yet, take all verdicts with them, and give them back when
// they pass.
func TestResumeGivesVerdictsBack(t *testing.T) {
	long(t)
	for name, k := range map[string]struct {
		pairs   int // that are measured before the run is interrupted
		begin   func(f *fake, label string)
		quality bool // by then
	}{
		"failed": {6, func(f *fake, _ string) { f.reasons, f.unfair = []string{"a neighbour"}, 1.1 }, true},
		"not measured": {1, func(f *fake, label string) {
			if strings.HasPrefix(label, "control: ") {
				f.fails = f.opened + 1
			}
		}, false},
	} {
		c, f := fullCalibrator()
		ctx, cancel := context.WithCancel(context.Background())
		c.Options.Observe = func(p Progress) {
			k.begin(f, p.Label)
			if len(c.Device.FusionProfiles) >= k.pairs {
				cancel()
			}
		}
		dev, warnings, err := c.Run(ctx)
		if !errors.Is(err, context.Canceled) || !dev.Untrusted() || (dev.Quality != nil) != k.quality {
			t.Fatalf("%s: %v, %+v", name, err, dev.Quality)
		}
		c, _ = fullCalibrator()
		c.Options.Resume = &Earlier{Device: dev, Warnings: warnings}
		got := run(t, c).Device
		if !got.Quality.Passed {
			t.Fatalf("%s: %+v", name, got.Quality)
		}
		for i, p := range got.FusionProfiles {
			if want := schema.VerdictOf(p.SpeedupCILow, p.SpeedupCIHigh); p.Verdict != want || strings.HasPrefix(p.Reason, takenBack) {
				t.Errorf("%s, pair %d: %s, want %s: %s", name, i, p.Verdict, want, p.Reason)
			}
		}
	}
}

// Only the same run continues one.
func TestResumeOther(t *testing.T) {
	c, f := fullCalibrator()
	e := interrupted(t, c, f, 50)
	for _, o := range []struct {
		change func(*Calibrator)
		want   string
	}{
		{func(c *Calibrator) { c.Options.DTypes = []schema.DType{schema.FP64} }, "it is in [fp32], not in [fp64]"},
		{func(c *Calibrator) { c.Options.Threads = 1 }, "it is on 4 threads, not on 1"},
		{func(c *Calibrator) { c.Options.Patterns = nil }, "its fusion patterns are [Linear_Bias Conv2d_ReLU], not []"},
		{func(c *Calibrator) {
			c.Options.Patterns[0].Shapes = func(schema.Mode) []Shape { return []Shape{dims(linearDims, 1, 2, 3)} }
		}, "its shapes or its kernels are others"},
		{func(c *Calibrator) { e.Device.Resume = nil }, "nothing is left of it"},
	} {
		c, _ := fullCalibrator()
		c.Options.Resume = e
		o.change(c)
		if _, _, err := c.Run(context.Background()); !errors.Is(err, ErrResume) || !strings.HasSuffix(err.Error(), o.want) {
			t.Errorf("%v, want %s", err, o.want)
		}
	}
}
