package bench

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

func fakeRunner(f *fake) *Runner {
	return &Runner{Backend: f, Settings: SettingsOf(schema.Default), Now: f.Now}
}

func fakeCase(t *testing.T, pattern, shape string) Case {
	_, chain := build(t, pattern, shape)
	return Case{Chain: chain, DType: schema.FP32, Place: Place{Threads: 1}, Seed: 1}
}

func TestMeasureBatchesAndStops(t *testing.T) {
	f := newFake()
	m, err := fakeRunner(f).Measure(context.Background(), fakeCase(t, "matmul", "16x16x16"))
	if err != nil {
		t.Fatal(err)
	}
	// 8192 FLOP at 200 GFLOPS and 3 KiB at 400 GB/s.
	want := 8192/200e9 + 3072/400e9
	if got := slices.Min(m.Seconds); math.Abs(got/want-1) > 0.001 {
		t.Errorf("best %g s, want %g", got, want)
	}
	if len(m.Seconds) < 10 || len(m.Seconds) > 1000 {
		t.Errorf("%d samples", len(m.Seconds))
	}
	if !m.Verified || m.ClockMHz != 3000 || len(m.Warnings) != 0 {
		t.Errorf("verified %v, clock %g, warnings %v", m.Verified, m.ClockMHz, m.Warnings)
	}
}

func TestWrongResultIsNotTimed(t *testing.T) {
	f := newFake()
	f.wrong = "gemm+bias"
	c := fakeCase(t, "Linear_Bias", "8x8x8")
	if _, err := fakeRunner(f).Compare(context.Background(), c, 0); !errors.Is(err, ErrMismatch) {
		t.Errorf("compare: %v, want a mismatch", err)
	}
	if _, err := Verify(f, c); !errors.Is(err, ErrMismatch) {
		t.Errorf("verify: %v, want a mismatch", err)
	}
}

// A kernel that writes nothing does not pass for the one before it, which wrote what is right to the same place.
func TestNoResultIsNotTimed(t *testing.T) {
	f := newFake()
	f.lazy = "gemm+bias"
	c := fakeCase(t, "Linear_Bias", "8x8x8")
	if _, err := fakeRunner(f).Compare(context.Background(), c, 0); !errors.Is(err, ErrMismatch) {
		t.Errorf("compare: %v, want a mismatch", err)
	}
	if _, err := Verify(f, c); !errors.Is(err, ErrMismatch) {
		t.Errorf("verify: %v, want a mismatch", err)
	}
}

// deaf is a fake whose clock cannot be read at all, as that of a device which was lost.
type deaf struct{ *fake }

func (deaf) Clock(Place, bool) (float64, error) { return 0, ErrLost }

func TestClockThatFails(t *testing.T) {
	f := newFake()
	r := fakeRunner(f)
	r.Backend = deaf{f}
	if m, err := r.Measure(context.Background(), fakeCase(t, "matmul", "16x16x16")); !errors.Is(err, ErrLost) || len(m.Seconds) > 0 {
		t.Errorf("%v, %d samples", err, len(m.Seconds))
	}
}

func TestMissingKernelIsUnsupported(t *testing.T) {
	f := newFake()
	f.none = "gemm+bias"
	if _, err := fakeRunner(f).Compare(context.Background(), fakeCase(t, "Linear_Bias", "8x8x8"), 0); !errors.Is(err, ErrUnsupported) {
		t.Errorf("%v, want unsupported", err)
	}
}

func TestGuards(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(*fake)
		want  []schema.Code
	}{
		{"quiet", func(*fake) {}, nil},
		{"the clock moves once and the case is repeated", func(f *fake) {
			f.clock = func(n int) float64 {
				if n == 2 {
					return 2500
				}
				return 3000
			}
		}, nil},
		{"the clock keeps moving by 4%", func(f *fake) {
			f.clock = func(n int) float64 { return 3000 - 120*float64(n%2) }
		}, []schema.Code{schema.Throttled}},
		{"the clock keeps moving by 2%", func(f *fake) {
			f.clock = func(n int) float64 { return 3000 - 60*float64(n%2) }
		}, nil},
		{"the clock settles neither before nor after", func(f *fake) {
			f.clock = func(n int) float64 { return float64(max(0, 1-n)) * 3000 }
		}, []schema.Code{schema.ClockUnsettled}},
		{"the workers move and the case is repeated", func(f *fake) { f.moves, f.apart = 1, 1 }, nil},
		{"the workers keep moving", func(f *fake) { f.moves, f.apart = 9, 9 }, []schema.Code{schema.WorkersApart}},
		{"a neighbour", func(f *fake) { f.reasons = []string{"a neighbour"} }, []schema.Code{schema.NoisyHost}},
	} {
		f := newFake()
		c.setup(f)
		m, err := fakeRunner(f).Measure(context.Background(), fakeCase(t, "matmul", "16x16x16"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Warnings, c.want) {
			t.Errorf("%s: %v, want %v", c.name, m.Warnings, c.want)
		}
	}
}

// What is measured waits for workers that were moved apart: until they are together, or as long as a case
// may be repeated, or as long as a run has patience.
func TestTogether(t *testing.T) {
	f := newFake()
	r := fakeRunner(f)
	r.Settings.RetryTime, r.Settings.Patience = time.Second, 1500*time.Millisecond
	r.patient()
	var slept time.Duration
	r.Sleep = func(_ context.Context, d time.Duration) {
		slept += d
		f.now = f.now.Add(d)
	}
	for _, c := range []struct {
		looks int // that find them apart
		want  time.Duration
	}{{0, 0}, {10, 10 * apartNap}, {1 << 20, time.Second}, {1 << 20, 500*time.Millisecond - 10*apartNap}, {1 << 20, 0}} {
		f.away, slept = c.looks, 0
		copied := *r // as the runners of steps are
		if _, err := copied.Measure(context.Background(), fakeCase(t, "matmul", "16x16x16")); err != nil {
			t.Fatal(err)
		}
		if slept != c.want {
			t.Errorf("apart for %d looks: waited for %v, want %v", c.looks, slept, c.want)
		}
	}
}

// Verdicts follow the true effect, and a control has none.
func TestCompare(t *testing.T) {
	const fused = "gemm+bias"
	for _, c := range []struct {
		name   string
		factor float64 // of the fused kernel's time
		want   []schema.Verdict
	}{
		{"as the traffic says", 1, []schema.Verdict{schema.Fuse}},
		{"a bad fused kernel", 1.5, []schema.Verdict{schema.Avoid}},
	} {
		f := newFake()
		f.slower = map[string]float64{fused: c.factor}
		cmp, err := fakeRunner(f).Compare(context.Background(), fakeCase(t, "Linear_Bias", "16x16x16"), SettingsOf(schema.Default).PairBudget)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(c.want, cmp.Verdict) || cmp.Blocks < 10 {
			t.Errorf("%s: %s after %d blocks, want one of %v", c.name, cmp.Verdict, cmp.Blocks, c.want)
		}
	}
	f := newFake()
	f.noise = 0.02
	for seed := range uint64(50) {
		c := fakeCase(t, "Linear_Bias", "16x16x16")
		c.Seed = seed
		cmp, err := fakeRunner(f).Control(context.Background(), c, SettingsOf(schema.Default).PairBudget, 0)
		if err != nil {
			t.Fatal(err)
		}
		if cmp.Verdict == schema.Fuse || cmp.Verdict == schema.Avoid {
			t.Errorf("seed %d: the same code against itself is %s: %+v", seed, cmp.Verdict, cmp.Decision)
		}
	}
}

// Where the host takes a core most of the time, blocks of which most have no undisturbed sample of a side would decide
// nothing: they grow until they have one.
func TestPairsOfATakenCore(t *testing.T) {
	f := newFake()
	f.taken = 0.93
	c := fakeCase(t, "Linear_Bias", "16x16x16")
	for part, want := range map[int]schema.Verdict{0: schema.Neutral, 20: schema.Fuse} {
		got := map[schema.Verdict]int{}
		for range 100 {
			cmp, err := fakeRunner(f).Control(context.Background(), c, SettingsOf(schema.Default).PairBudget, part)
			if err != nil {
				t.Fatal(err)
			}
			got[cmp.Verdict]++
		}
		if got[want] < 95 || got[want]+got[schema.Inconclusive] < 100 {
			t.Errorf("%d of 100 with an effect of 1/%d are %s: %v", got[want], part, want, got)
		}
	}
}

// What a few places in memory do to one side is no verdict, even where these come first; what half
// of them do is none either.
func TestLayouts(t *testing.T) {
	const fused = "gemm+bias"
	for _, c := range []struct {
		name  string
		lucky int // layouts, the first ones, in which the fused kernel is a tenth faster
		want  schema.Verdict
	}{
		{"none", 0, schema.Neutral},
		{"one of ten", 1, schema.Neutral},
		{"five of ten", 5, schema.Inconclusive},
		{"ten of ten", 10, schema.Fuse},
	} {
		f := newFake()
		slow := fakeCase(t, "Linear_Bias", "16x16x4096") // compute-bound: fusing saves next to nothing
		f.pages = func(opened int, chain Chain) float64 {
			if chain.String() == fused && opened <= c.lucky {
				return 0.9
			}
			return 1
		}
		cmp, err := fakeRunner(f).Compare(context.Background(), slow, SettingsOf(schema.Default).PairBudget)
		if err != nil || cmp.Verdict != c.want {
			t.Errorf("%s: %s, speedup %g in [%g, %g], %v, want %s", c.name, cmp.Verdict, cmp.Speedup, cmp.Low, cmp.High, err, c.want)
		}
		if f.opened != 10 || f.closed != f.opened {
			t.Errorf("%s: %d workspaces were opened, %d closed", c.name, f.opened, f.closed)
		}
	}
}

// Workers that are apart decide nothing, whatever their interval, of controls neither.
func TestApartDecidesNothing(t *testing.T) {
	c := fakeCase(t, "Linear_Bias", "16x16x16")
	f := newFake()
	f.apart = math.MaxInt
	cmp, err := fakeRunner(f).Compare(context.Background(), c, SettingsOf(schema.Default).PairBudget)
	if err != nil || cmp.Verdict != schema.Inconclusive || schema.VerdictOf(cmp.Low, cmp.High) != schema.Fuse {
		t.Errorf("%s of [%g, %g], %v", cmp.Verdict, cmp.Low, cmp.High, err)
	}
	f.apart = math.MaxInt
	cmp, err = fakeRunner(f).Control(context.Background(), c, SettingsOf(schema.Default).PairBudget, 0)
	if err != nil || cmp.Verdict != schema.Inconclusive || schema.VerdictOf(cmp.Low, cmp.High) != schema.Neutral {
		t.Errorf("control: %s, %v", cmp.Verdict, err)
	}
}

// The clock of the case's own instructions is that, or absent: scalar code runs at another.
func TestOwnClockUnsettled(t *testing.T) {
	f := newFake()
	f.clock = func(reading int) float64 { return float64(min(reading, 1)) * 3000 }
	m, err := fakeRunner(f).Measure(context.Background(), fakeCase(t, "Linear_Bias", "16x16x16"))
	if err != nil || m.ClockMHz != 0 || m.TopMHz != 3000 || !slices.Equal(m.Warnings, []schema.Code{schema.ClockUnsettled}) {
		t.Errorf("%g MHz, at most %g, %v, %v", m.ClockMHz, m.TopMHz, m.Warnings, err)
	}
}

// An execution that page faults or a neighbour held up, for however long, neither makes samples too short nor
// takes the place of one.
func TestHeldUpExecution(t *testing.T) {
	for _, held := range []time.Duration{20 * time.Millisecond, 400 * time.Millisecond, 3 * time.Second} {
		for call := 1; call < 60; call++ {
			f := newFake()
			f.held = map[int]time.Duration{call: held}
			r, c := fakeRunner(f), fakeCase(t, "Linear_Bias", "16x16x16")
			m, err := r.Measure(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			if took := slices.Min(m.Seconds) * float64(f.executions); took < r.Settings.MinSample.Seconds()/2 || len(m.Seconds) < r.Settings.MinSamples {
				t.Errorf("execution %d held up for %s: %d samples of %g s", call, held, len(m.Seconds), took)
			}
			f.calls = 0
			cmp, err := r.Compare(context.Background(), c, r.Settings.PairBudget)
			if err != nil {
				t.Fatal(err)
			}
			if took := cmp.Fused * float64(f.executions); took < r.Settings.PairSample.Seconds()/2 || cmp.Verdict != schema.Fuse {
				t.Errorf("execution %d of a pair held up for %s: samples of %g s, %s", call, held, took, cmp.Verdict)
			}
		}
	}
}

// Whether samples scatter is told of those that are published: of a case that is measured twice, of both together.
func TestScatterOfPooledSamples(t *testing.T) {
	steady := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	slower := []float64{1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5}
	apart := []float64{1, 1, 1.3} // by 0.16 of the mean
	for name, c := range map[string]struct {
		first, second []float64
		want          []schema.Code
	}{
		"of one level each": {steady, slower, []schema.Code{schema.NoisyHost, schema.Unstable}},
		"diluted":           {apart, slices.Repeat(steady, 3), []schema.Code{schema.NoisyHost}},
		"never":             {steady, steady, []schema.Code{schema.NoisyHost}},
		"both":              {apart, apart, []schema.Code{schema.NoisyHost, schema.Unstable}},
	} {
		m := [2]computed{{Measurement: Measurement{Seconds: slices.Clone(c.first)}}, {Measurement: Measurement{Seconds: c.second}}}
		for i := range m {
			m[i].judgeScatter()
			m[i].warn(schema.NoisyHost, "a neighbour")
		}
		m[0].add(m[1])
		if slices.Sort(m[0].Warnings); !slices.Equal(m[0].Warnings, c.want) || len(m[0].Notes) != len(c.want) {
			t.Errorf("%s: %v %q, want %v", name, m[0].Warnings, m[0].Notes, c.want)
		}
	}
}

// What takes no time by a coarse clock has no ratio, and a case is executed until it takes some.
func TestCoarseClock(t *testing.T) {
	f := newFake()
	f.tick = 100 * time.Microsecond
	r, c := fakeRunner(f), fakeCase(t, "Linear_Bias", "16x16x16")
	m, err := r.Measure(context.Background(), c)
	if err != nil || slices.Min(m.Seconds) == 0 {
		t.Errorf("%d samples, %v", len(m.Seconds), err)
	}
	if cmp, err := r.Compare(context.Background(), c, r.Settings.PairBudget); err != nil || cmp.Verdict == schema.Avoid {
		t.Errorf("warm: %s, %v", cmp.Verdict, err)
	}
	c.Cold = true
	if cmp, err := r.Compare(context.Background(), c, r.Settings.PairBudget); !errors.Is(err, ErrUnsupported) {
		t.Errorf("cold: speedup %g in [%g, %g], %v", cmp.Speedup, cmp.Low, cmp.High, err)
	}
}

func TestJoin(t *testing.T) {
	decided := func(low, high float64, codes ...schema.Code) Comparison {
		return Comparison{
			Decision: stat.Decision{Speedup: (low + high) / 2, Low: low, High: high, Verdict: schema.VerdictOf(low, high), Blocks: 10},
			Warnings: codes, Notes: make([]string, len(codes)),
		}
	}
	noisy, apart := schema.NoisyHost, schema.WorkersApart
	// blocks are so many noisy ones, half a percent above the speedup and half below.
	blocks := func(n int, speedup float64) Comparison {
		var rs []ratio
		for i := range n {
			d := math.Log(speedup) + 0.005*float64(i%2*2-1)
			rs = append(rs, ratio{d, math.Exp(d), 1})
		}
		c := Comparison{times: [][][]ratio{{rs}}, Warnings: []schema.Code{noisy}, Notes: []string{""}}
		c.Decision = judge(c.times)
		return c
	}
	for _, c := range []struct {
		name string
		a, b Comparison
		want schema.Verdict
		low  float64
	}{
		{"the quiet one counts", decided(1.1, 1.2, noisy), decided(0.99, 1.01), schema.Neutral, 0.99},
		{"whichever it is", decided(0.99, 1.01), decided(1.1, 1.2, noisy), schema.Neutral, 0.99},
		{"noise is better than distance", decided(1.1, 1.2, apart), decided(0.99, 1.01, noisy), schema.Neutral, 0.99},
		{"two that agree", decided(1.1, 1.2, noisy), decided(1.04, 1.15, noisy), schema.Fuse, 1.04},
		{"two that do not", decided(1.1, 1.2, noisy), decided(0.99, 1.01, noisy), schema.Inconclusive, 0.99},
		{"the blocks of two times", blocks(10, 1.1), blocks(20, 1.1), schema.Fuse, 1.1 * math.Exp(-0.005)},
		{"too few that the first contradict", blocks(10, 0.99), blocks(80, 1.1), schema.Inconclusive, 0.99},
		{"as many", blocks(20, 1.1), blocks(20, 1), schema.Inconclusive, 1},
	} {
		got := c.a.join(c.b)
		if got.Verdict != c.want || math.Abs(got.Low-c.low) > 1e-12 {
			t.Errorf("%s: %s of [%g, %g], want %s from %g", c.name, got.Verdict, got.Low, got.High, c.want, c.low)
		}
	}
}

// A neighbour at the only time widens the interval, by as much however often it is asked; at two times the interval is theirs.
func TestBesideANeighbour(t *testing.T) {
	measured := func(speedup float64, codes ...schema.Code) Comparison {
		c := Comparison{times: [][][]ratio{{nil}}, Warnings: codes, Notes: make([]string, len(codes))}
		for range 10 {
			c.times[0][0] = append(c.times[0][0], ratio{math.Log(speedup), speedup, 1})
		}
		c.Decision = judge(c.times)
		return c
	}
	noisy, apart := schema.NoisyHost, schema.WorkersApart
	for _, c := range []struct {
		name  string
		times []Comparison
		want  schema.Verdict
		low   float64
	}{
		{"calm", []Comparison{measured(1.04)}, schema.Fuse, 1.04},
		{"a clock that moved", []Comparison{measured(1.04, schema.Throttled)}, schema.Fuse, 1.04},
		{"too little", []Comparison{measured(1.04, noisy)}, schema.Inconclusive, 1.04 / math.Exp(neighbourShift)},
		{"enough", []Comparison{measured(1.1, noisy)}, schema.Fuse, 1.1 / math.Exp(neighbourShift)},
		{"nothing", []Comparison{measured(1, noisy)}, schema.Inconclusive, 1 / math.Exp(neighbourShift)},
		{"calm again", []Comparison{measured(0.95, noisy), measured(1)}, schema.Neutral, 1},
		{"twice alike", []Comparison{measured(1.04, noisy), measured(1.04, noisy)}, schema.Fuse, 1.04},
		{"twice unlike", []Comparison{measured(0.95, noisy), measured(1.1, noisy)}, schema.Inconclusive, 0.95},
		{"apart", []Comparison{measured(1.1, noisy, apart)}, schema.Inconclusive, 1.1 / math.Exp(neighbourShift)},
		{"apart, then not", []Comparison{measured(1.2, apart), measured(1.1, noisy)}, schema.Fuse, 1.1 / math.Exp(neighbourShift)},
	} {
		got := c.times[0]
		got.beside()
		got.beside()
		for _, again := range c.times[1:] {
			got = got.join(again)
			got.beside()
		}
		if got.Verdict != c.want || math.Abs(got.Low-c.low) > 1e-12 {
			t.Errorf("%s: %s from %g, want %s from %g", c.name, got.Verdict, got.Low, c.want, c.low)
		}
	}
}

func TestInterruptEndsMeasuring(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := newFake()
	if _, err := fakeRunner(f).Measure(ctx, fakeCase(t, "matmul", "16x16x16")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want canceled", err)
	}
}
