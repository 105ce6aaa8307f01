package bench

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// On a quiet machine no control fails, and every group has one.
func TestControlsPass(t *testing.T) {
	long(t)
	dev, _, err := fakeCalibrator(newFake(), schema.Quick).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	q := dev.Quality
	if q == nil || !q.Passed {
		t.Fatalf("quality %+v", q)
	}
	// But networks, and with a known effect.
	if want := len(FusionGroups) - 1 + 1; len(q.Controls) != want {
		t.Errorf("%d controls, want %d", len(q.Controls), want)
	}
	for _, k := range q.Controls {
		if k.Outcome != schema.ControlPassed {
			t.Errorf("%s of %s: %s, speedup %.3f in [%.3f, %.3f]", k.Kind, k.Pattern, k.Outcome, k.Speedup, k.SpeedupCILow, k.SpeedupCIHigh)
		}
		if k.Kind == schema.KnownEffect && !(k.SpeedupCILow < k.TrueSpeedup && k.TrueSpeedup < k.SpeedupCIHigh) {
			t.Errorf("the effect of %.3f is outside of [%.3f, %.3f]", k.TrueSpeedup, k.SpeedupCILow, k.SpeedupCIHigh)
		}
	}
}

// What controls that did not pass take back is given back as it was, and so is what was said of it.
func TestVerdictsTakenBackAndRestored(t *testing.T) {
	f := newFake()
	c := fakeCalibrator(f, schema.Default)
	oneSweep(c)
	s := c.sweeps()[0]
	if err := c.measureCrossover(context.Background(), s, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.compareFusion(context.Background(), s.pattern, s.pattern.Sweep[0], s.dtype, way{c.all(), schema.Warm, ""}, 1); err != nil {
		t.Fatal(err)
	}
	pair, crossover := c.Device.FusionProfiles[0], c.Device.FusionCrossovers[0]
	for _, k := range []struct {
		quality *schema.Quality
		warned  string
	}{
		{&schema.Quality{Controls: []schema.Control{{Outcome: schema.ControlPassed}, {Outcome: schema.ControlFailed}}}, "controls_failed /quality/controls/1"},
		{&schema.Quality{Controls: []schema.Control{{Outcome: schema.ControlUndecided}}}, "controls_failed /quality"},
		{nil, "controls_failed /fusion_profiles"},
	} {
		crossover.Points = slices.Clone(crossover.Points)
		c.Device.Quality, c.warnings = k.quality, nil
		c.applyControls()
		taken := c.Device.FusionCrossovers[0]
		if !strings.HasSuffix(taken.Reason, "the time was up before the points were closer") || taken.Points[0].Verdict != schema.Inconclusive || len(crossover.Flips) == 0 {
			t.Errorf("%+v, before %+v", taken, crossover)
		}
		if got := c.Device.FusionProfiles[0]; got.Verdict != schema.Inconclusive || got.Reason != takenBack+pair.Reason {
			t.Errorf("%s, before %s", got.Reason, pair.Reason)
		}
		if got := told(c); !slices.Equal(got, []string{k.warned}) {
			t.Errorf("warnings %q, want %q", got, k.warned)
		}
		c.restoreVerdicts()
		if diff := cmp.Diff(pair, c.Device.FusionProfiles[0]); diff != "" {
			t.Errorf("pair (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(crossover, c.Device.FusionCrossovers[0]); diff != "" {
			t.Errorf("crossover (-before +after):\n%s", diff)
		}
	}
}

// A run whose controls all fail to be measured decides nothing, and one that judges nothing has nothing to take back.
func TestVerdictsWithoutControls(t *testing.T) {
	for _, pairs := range []int{0, 1} {
		c := fakeCalibrator(newFake(), schema.Quick)
		c.Options.Patterns, c.Options.DTypes = named("Linear_Bias"), []schema.DType{schema.FP32}
		steps := slices.DeleteFunc(c.plan(), func(s step) bool { return !strings.HasPrefix(s.label, "Linear_Bias") })
		dev, warnings, err := c.run(context.Background(), steps[:pairs])
		if err != nil {
			t.Fatal(err)
		}
		if len(dev.FusionProfiles) != pairs || len(warnings) != pairs || dev.Quality != nil {
			t.Errorf("%d pairs, want %d; warnings %v, quality %v", len(dev.FusionProfiles), pairs, warnings, dev.Quality)
		}
		for _, f := range dev.FusionProfiles {
			if f.Verdict != schema.Inconclusive || !strings.HasPrefix(f.Reason, takenBack) {
				t.Errorf("%s: %s", f.Verdict, f.Reason)
			}
		}
	}
}

// A machine on which the same kernel is slower when it is bound again fools the method:
// the controls show it, and no verdict is left.
func TestFailedControlsDecideNothing(t *testing.T) {
	long(t)
	f := newFake()
	f.unfair = 1.1
	dev, warnings, err := fakeCalibrator(f, schema.Quick).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if dev.Quality == nil || dev.Quality.Passed {
		t.Fatalf("quality %+v", dev.Quality)
	}
	for _, e := range dev.FusionProfiles {
		if e.Verdict != schema.Inconclusive || !strings.HasPrefix(e.Reason, "inconclusive: ") {
			t.Errorf("%s %s: %s", e.Pattern, e.Shape, e.Reason)
		}
	}
	for _, w := range warnings {
		if w.Code == schema.ControlsFailed {
			return
		}
	}
	t.Error("no warning")
}

// A control that cannot be measured is no control that passed: its step fails.
func TestControlFails(t *testing.T) {
	f := newFake()
	f.wrong = "gemm+bias"
	c := fakeCalibrator(f, schema.Quick)
	c.Options.Patterns = named("Linear_Bias")
	steps := c.controlSteps()
	if len(steps) == 0 {
		t.Fatal("no controls")
	}
	for _, s := range steps {
		if err := s.run(context.Background(), 1); !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: %v, want a mismatch", s.label, err)
		}
	}
}

// The first look of a control with a known effect fits into the budget of a pair, also on a GPU that is slow in the type.
func TestEffectShape(t *testing.T) {
	pattern, err := Lookup("Linear_Bias")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		mode  schema.Mode
		dtype schema.DType
		peak  float64 // GFLOPS; 0 for one that is not known
		want  int64   // of all three dimensions
	}{
		{schema.Quick, schema.BF16, 989_400, 2048},
		{schema.Full, schema.FP32, 12_000, 2048},
		{schema.Full, schema.FP32, 8_100, 1024},
		{schema.Default, schema.FP32, 8_100, 1024},
		{schema.Quick, schema.FP32, 8_100, 1024},
		{schema.Quick, schema.FP64, 1_300, 512},
		{schema.Quick, schema.FP64, 250, 512},
		{schema.Quick, schema.FP64, 0, 1024},
		{schema.Quick, schema.BF16, 0, 2048},
	} {
		c := fakeCalibrator(newFake(), test.mode)
		fakeGPU(c)
		c.Options.Mode, c.Runner.Settings = test.mode, SettingsOf(test.mode)
		c.Device.Theoretical.PeakGFLOPS = map[schema.DType]schema.Peak{test.dtype: {Value: test.peak}}
		if got := c.effectShape(pattern, test.dtype); !slices.Equal(got, dims(linearDims, test.want, test.want, test.want)) {
			t.Errorf("%s in %s at %g GFLOPS: %s, want %d cubed", test.mode, test.dtype, test.peak, got, test.want)
		}
	}
}

// A control with a known effect takes twenty executions a sample: what it takes is planned, and refused if that is too much,
// though a pair of the same shape has time.
func TestEffectIsAffordable(t *testing.T) {
	f := newFake()
	c := fakeCalibrator(f, schema.Quick)
	fakeGPU(c)
	c.Options.DTypes, c.Options.Patterns = []schema.DType{schema.FP32}, named("Linear_Bias")
	steps := c.controlSteps()
	if len(steps) != 2 || !strings.HasPrefix(steps[0].label, "control: "+string(schema.KnownEffect)) {
		t.Fatalf("%d steps, the first %s", len(steps), steps[0].label)
	}
	pattern := c.Options.Patterns[0]
	s := c.effectShape(pattern, schema.FP32)
	chain, err := pattern.Build(s, c.all())
	if err != nil {
		t.Fatal(err)
	}
	const once = time.Millisecond
	executions := time.Duration(stat.Looks[0] * 2 * (20 + 21))
	if least, want := steps[0].least, executions*c.once(chain.FLOP(), chain.UnfusedBytes(schema.FP32), schema.FP32, c.all()); least < want {
		t.Errorf("at least %v is planned, of %d executions that take %v", least, executions, want)
	}
	c.computed = []computed{{
		operation: "peak_fma", dtype: schema.FP32, place: c.all(), flop: chain.FLOP(),
		Measurement: Measurement{Seconds: []float64{once.Seconds()}},
	}}
	c.Options.Budget = 10 * (executions*once - time.Second/10)
	c.deadline = f.now.Add(c.Options.Budget)
	if took := steps[0].takes(); (took - executions*once).Abs() > once {
		t.Errorf("takes %v, want %v", took, executions*once)
	}
	if err := steps[0].run(context.Background(), 1); !errors.Is(err, ErrBudget) {
		t.Errorf("a control of %d executions: %v", executions, err)
	}
	if err := c.affordablePair(chain, schema.FP32, c.all(), 0); err != nil {
		t.Errorf("a pair: %v", err)
	}
}

// A run of networks alone has its same code, too; beside other groups they have none but in full runs.
func TestControlsOfNetworks(t *testing.T) {
	networks := slices.DeleteFunc(Patterns(), func(p Pattern) bool { return !p.Network() })
	for _, c := range []struct {
		mode     schema.Mode
		patterns []Pattern
		want     bool
	}{
		{schema.Default, networks, true},
		{schema.Default, Patterns(), false},
		{schema.Full, Patterns(), true},
	} {
		calibrator := fakeCalibrator(newFake(), c.mode)
		calibrator.Options.Patterns = c.patterns
		label := controlLabel(schema.SameCode, networks[0].Name, schema.FP32, calibrator.shapes(networks[0])[0].String())
		if got := slices.ContainsFunc(calibrator.controlSteps(), func(s step) bool { return s.label == label }); got != c.want {
			t.Errorf("%s run of %d patterns: %q is planned: %v", c.mode, len(c.patterns), label, got)
		}
	}
}

// Where the first pattern of a group has no kernel, the next one is its same code.
func TestControlsWithoutAKernel(t *testing.T) {
	f := newFake()
	c := fakeCalibrator(f, schema.Quick)
	c.Options.Patterns, c.Options.DTypes = named("Linear_Bias", "Linear_Bias_ReLU", "Conv2d_ReLU"), []schema.DType{schema.FP32}
	for _, p := range c.Options.Patterns[1:] {
		f.kernels = append(f.kernels, KernelInfo{c.chainOf(p).String(), schema.FP32, "fake"})
	}
	var got, want []string
	for _, s := range c.controlSteps() {
		got = append(got, s.label)
	}
	for _, p := range c.Options.Patterns[1:] {
		want = append(want, controlLabel(schema.SameCode, p.Name, schema.FP32, c.shapes(p)[0].String()))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A full run has a user's own shapes, however many, before the rest.
func TestOwnShapesAreNotLeftForLater(t *testing.T) {
	own, err := Lookup("Linear_Bias")
	if err != nil {
		t.Fatal(err)
	}
	own.Own = true
	own.Shapes = func(schema.Mode) []Shape {
		return []Shape{dims(linearDims, 1, 8, 8), dims(linearDims, 2, 8, 8), dims(linearDims, 3, 8, 8)}
	}
	c := fakeCalibrator(newFake(), schema.Full)
	c.Options.Patterns = []Pattern{own}
	if _, _, others := c.fusionSteps(); len(others) > 0 {
		t.Errorf("%d steps are left for later", len(others))
	}
}
