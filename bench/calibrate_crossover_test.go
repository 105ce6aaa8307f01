package bench

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"hwcal/schema"
)

var verdictLetters = map[rune]schema.Verdict{'f': schema.Fuse, 'n': schema.Neutral, 'a': schema.Avoid, '?': schema.Inconclusive}

func verdictsOf(letters string) []schema.Verdict {
	var vs []schema.Verdict
	for _, l := range letters {
		vs = append(vs, verdictLetters[l])
	}
	return vs
}

// Every flip that is seen is narrowed to neighbours, apart from what is inconclusive,
// and little else is measured.
func TestBisection(t *testing.T) {
	for _, c := range []struct{ truth, measured string }{
		{"ff", "ff"},
		{"fn", "fn"},
		{"fff", "fff"},
		{"fffffffff", "f...f...f"},
		{"?????????", "?...?...?"},
		{"fffffffnn", "f...f.fnn"},
		{"nffffffff", "nff.f...f"},
		{"ffnnnnnff", "ffn.n.nff"},
		{"fff?nnnnn", "f.f?n...n"},
		{"f?????nnn", "f??.??n.n"},
		{"????fffff", "?.??f...f"},
		{"fnafnafna", "fnafnafna"},
	} {
		truth := verdictsOf(c.truth)
		verdicts := make([]schema.Verdict, len(truth))
		for i := nextPoint(verdicts); i >= 0; i = nextPoint(verdicts) {
			if verdicts[i] != "" {
				t.Fatalf("%s: %d is measured twice", c.truth, i)
			}
			verdicts[i] = truth[i]
		}
		var got strings.Builder
		for i, v := range verdicts {
			if v == "" {
				got.WriteByte('.')
			} else {
				got.WriteByte(c.truth[i])
			}
		}
		if got.String() != c.measured {
			t.Errorf("%s: measured %s, want %s", c.truth, &got, c.measured)
		}
	}
}

func TestCrossoverReason(t *testing.T) {
	for _, c := range []struct{ verdicts, want string }{
		{"ff", "fuse from m=1 to m=2; no flip"},
		{"??", "inconclusive at m=1, m=2; no flip"},
		{"fnn", "fuse at m=1, neutral from m=2 to m=4; the flip lies between m=1 and m=2"},
		{"?f?nna?", "fuse at m=2, neutral from m=8 to m=16, avoid at m=32, inconclusive at m=1, m=4, m=64; " +
			"flips lie between m=2 and m=8 and between m=16 and m=32"},
	} {
		x := schema.Crossover{Along: []string{"m"}}
		for i, v := range verdictsOf(c.verdicts) {
			x.Points = append(x.Points, schema.CrossoverPoint{Shape: dims(linearDims, 1<<i, 5, 6).String(), Verdict: v})
		}
		x.Flips = schema.Flips(x.Points)
		if got := crossoverReason(x); got != c.want {
			t.Errorf("%s: %s, want %s", c.verdicts, got, c.want)
		}
	}
}

// Quick runs sweep nothing, default runs one pattern of each group in fp32, full runs
// all.
func TestSweeps(t *testing.T) {
	group := func(name, group string, sweep []Shape) Pattern {
		p, err := Lookup("Linear_Bias")
		if err != nil {
			t.Fatal(err)
		}
		p.Name, p.Group, p.Sweep = name, group, sweep
		return p
	}
	some := linearSweep(1)
	ps := []Pattern{group("none", "linear", nil), group("one", "linear", some[:1]), group("a", "linear", some), group("b", "linear", some), group("c", "conv", some)}
	for _, c := range []struct {
		mode   schema.Mode
		dtypes []schema.DType
		want   string
	}{
		{schema.Quick, []schema.DType{schema.FP32}, ""},
		{schema.Default, []schema.DType{schema.FP64, schema.FP32}, "a fp32, c fp32"},
		{schema.Default, []schema.DType{schema.FP64, schema.BF16}, "a bf16, c bf16"},
		{schema.Full, []schema.DType{schema.FP64, schema.FP32}, "a fp64, a fp32, b fp64, b fp32, c fp64, c fp32"},
	} {
		cal := fakeCalibrator(newFake(), c.mode)
		cal.Options.Patterns, cal.Options.DTypes = ps, c.dtypes
		var got []string
		for _, s := range cal.sweeps() {
			got = append(got, s.pattern.Name+" "+string(s.dtype))
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%s in %v: %s, want %s", c.mode, c.dtypes, all, c.want)
		}
	}
}

// Both ends are measured whatever the time; then it ends, and the entry says that its
// bracket is wider than it could be.
func TestSweepOutOfTime(t *testing.T) {
	cal := fakeCalibrator(newFake(), schema.Default)
	for _, s := range cal.crossoverSteps()[:1] {
		if err := s.run(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
	}
	x := cal.Device.FusionCrossovers[0]
	const want = "neutral at m=1, fuse at m=512; the flip lies between m=1 and m=512; the time was up before the points were closer"
	if len(x.Points) != 2 || x.Reason != want {
		t.Errorf("%d points, %s; want %s", len(x.Points), x.Reason, want)
	}
}

// A point that fails leaves no half of an entry.
func TestSweepFails(t *testing.T) {
	f := newFake()
	f.wrong = "gemm+bias"
	cal := fakeCalibrator(f, schema.Default)
	err := cal.crossoverSteps()[0].run(context.Background(), 1)
	if !errors.Is(err, ErrMismatch) || !strings.HasPrefix(err.Error(), "m=1 n=1024 k=1024: ") || len(cal.Device.FusionCrossovers) != 0 {
		t.Errorf("%v, %d crossovers", err, len(cal.Device.FusionCrossovers))
	}
}

// A point between the ends that fails costs what is closer, not the crossover.
func TestSweepWithoutAPoint(t *testing.T) {
	f := newFake()
	cal := fakeCalibrator(f, schema.Default)
	f.fails = 25 // ten layouts of each end, and some of the middle
	err := cal.crossoverSteps()[0].run(context.Background(), 1)
	if err == nil || len(cal.Device.FusionCrossovers) != 1 {
		t.Fatalf("%v, %d crossovers", err, len(cal.Device.FusionCrossovers))
	}
	if x := cal.Device.FusionCrossovers[0]; len(x.Points) != 2 || !strings.HasSuffix(x.Reason, err.Error()) {
		t.Errorf("%d points: %s", len(x.Points), x.Reason)
	}
}

// Each point says what disturbed it, with an interval as wide as that of a pair then, and the warnings of the profile say
// where.
func TestSweepDisturbed(t *testing.T) {
	f := newFake()
	f.reasons = []string{"a neighbour"}
	cal := fakeCalibrator(f, schema.Default)
	if err := cal.crossoverSteps()[0].run(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	for _, p := range cal.Device.FusionCrossovers[0].Points {
		if !slices.Equal(p.Warnings, []schema.Code{schema.NoisyHost}) {
			t.Errorf("%s: %v", p.Shape, p.Warnings)
		}
		if math.Log(p.SpeedupCIHigh/p.SpeedupCILow) < 2*neighbourShift {
			t.Errorf("%s: [%.3f, %.3f] beside a neighbour", p.Shape, p.SpeedupCILow, p.SpeedupCIHigh)
		}
	}
	if got, want := told(cal), []string{"noisy_host /fusion_crossovers/0/points/0", "noisy_host /fusion_crossovers/0/points/1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Every sweep grows: the profile sorts its points by unfused bytes.
func TestSweepsGrow(t *testing.T) {
	swept := 0
	for _, p := range Patterns() {
		last := int64(0)
		for _, s := range p.Sweep {
			chain, err := p.Build(s, Place{Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			if bytes := chain.UnfusedBytes(schema.FP32); bytes <= last {
				t.Errorf("%s %s: %d bytes, not more than the %d of the shape before", p.Name, s, bytes, last)
			} else {
				last = bytes
			}
		}
		swept += len(p.Sweep)
	}
	if swept == 0 {
		t.Error("no pattern has a sweep")
	}
	if got := varying(linearSweep(1)); !slices.Equal(got, []string{"m"}) {
		t.Errorf("linear varies %v, want m", got)
	}
}
