package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"hwcal/schema"
)

// The ranks that the method prescribes for its four looks.
func TestRanksOfLooks(t *testing.T) {
	want := []int{1, 5, 12, 29}
	for i, n := range Looks {
		if got := rank(n, lookAlpha); got != want[i] {
			t.Errorf("rank(%d, %g) = %d, want %d", n, lookAlpha, got, want[i])
		}
	}
}

func TestRankNeedsMinSamples(t *testing.T) {
	if got := rank(MinSamples-1, 1-Confidence); got != 0 {
		t.Errorf("rank(%d) = %d, want none", MinSamples-1, got)
	}
	if got := rank(MinSamples, 1-Confidence); got != 1 {
		t.Errorf("rank(%d) = %d, want 1", MinSamples, got)
	}
}

func TestSummarize(t *testing.T) {
	got := Summarize([]float64{5, 1, 4, 2, 3, 6, 7}, Larger)
	want := schema.Stat{N: 7, Best: 7, Median: 4, Mean: 4, Std: math.Sqrt(28.0 / 6), Min: 1, Max: 7, CILow: 1, CIHigh: 7}
	if math.Abs(got.Std-want.Std) > 1e-12 {
		t.Errorf("std = %g, want %g", got.Std, want.Std)
	}
	got.Std = want.Std
	if got != want {
		t.Errorf("Summarize = %+v, want %+v", got, want)
	}
	if one := Summarize([]float64{3}, Smaller); one != (schema.Stat{N: 1, Best: 3, Median: 3, Mean: 3, Min: 3, Max: 3, CILow: 3, CIHigh: 3}) {
		t.Errorf("one sample: %+v", one)
	}
}

// The interval of the median must cover it as often as it says.
func TestIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const trials = 2000
	missed := 0
	for range trials {
		x := make([]float64, 25)
		for i := range x {
			x[i] = rng.ExpFloat64() // skewed, as times are
		}
		if s := Summarize(x, Smaller); s.CILow > math.Ln2 || s.CIHigh < math.Ln2 {
			missed++
		}
	}
	if rate := float64(missed) / trials; rate > 1-Confidence {
		t.Errorf("the interval missed the median in %.1f%% of the trials", 100*rate)
	}
}

// A block counts the best of each side, and what is faster fused is above 1.
func TestLogRatio(t *testing.T) {
	if got := math.Exp(LogRatio([]float64{30, 3, 4}, []float64{2, 20})); math.Abs(got-1.5) > 1e-12 {
		t.Errorf("3 s against 2 s: %g times as fast", got)
	}
	got := Decide([][][]float64{InTurn([]float64{math.Log(2), math.Log(8), math.Log(4)}, 1)})
	for at, f := range map[string][2]float64{"speedup": {got.Speedup, 4}, "low": {got.Low, 2}, "high": {got.High, 8}} {
		if math.Abs(f[0]-f[1]) > 1e-12 {
			t.Errorf("%s %g, want %g", at, f[0], f[1])
		}
	}
	if got.Blocks != 3 {
		t.Errorf("%d blocks", got.Blocks)
	}
}

func TestDecide(t *testing.T) {
	constant := func(n int, speedup float64) []float64 {
		d := make([]float64, n)
		for i := range d {
			d[i] = math.Log(speedup)
		}
		return d
	}
	for _, c := range []struct {
		name string
		d    []float64
		want schema.Verdict
	}{
		{"clear gain", constant(10, 1.10), schema.Fuse},
		{"clear loss", constant(10, 0.90), schema.Avoid},
		{"no effect", constant(10, 1.005), schema.Neutral},
		{"nine blocks decide nothing", constant(9, 1.50), schema.Inconclusive},
		{"one bad block of ten", append(constant(9, 1.10), 0), schema.Inconclusive},
		{"four bad blocks of twenty", append(constant(16, 1.10), 0, 0, 0, 0), schema.Fuse},
		{"five bad blocks of twenty", append(constant(15, 1.10), 0, 0, 0, 0, 0), schema.Inconclusive},
	} {
		if got := Decide([][][]float64{InTurn(c.d, 1)}); got.Verdict != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

// What is so in some layouts is no verdict, however often each is asked.
func TestDecideLayouts(t *testing.T) {
	for _, c := range []struct {
		layouts, gain, blocks int
		want                  schema.Verdict
	}{
		{10, 0, 10, schema.Neutral},
		{10, 1, 10, schema.Inconclusive},
		{10, 1, 20, schema.Neutral},
		{10, 2, 80, schema.Inconclusive},
		{10, 8, 80, schema.Inconclusive},
		{10, 9, 20, schema.Fuse},
		{5, 4, 80, schema.Inconclusive},
		{2, 1, 80, schema.Inconclusive},
		{2, 2, 10, schema.Fuse},
		{1, 1, 10, schema.Fuse},
	} {
		var d []float64
		for i := range c.blocks {
			if i%c.layouts < c.gain {
				d = append(d, math.Log(1.1))
			} else {
				d = append(d, 0)
			}
		}
		if got := Decide([][][]float64{InTurn(d, c.layouts)}); got.Verdict != c.want {
			t.Errorf("%d of %d layouts, %d blocks: %+v, want %s", c.gain, c.layouts, c.blocks, got, c.want)
		}
	}
}

// timesOf has ten layouts, a block each, for each time.
func timesOf(block func(time int) float64, n int) [][][]float64 {
	times := make([][][]float64, n)
	for i := range times {
		for range 10 {
			times[i] = append(times[i], []float64{block(i)})
		}
	}
	return times
}

// What is so at some times is no verdict, in however many layouts.
func TestDecideTimes(t *testing.T) {
	for _, c := range []struct {
		effects []float64
		want    schema.Verdict
	}{
		{[]float64{0.05, 0.04}, schema.Fuse},
		{[]float64{0, 0.03, 0.05}, schema.Inconclusive},
		{[]float64{0, 0.03, 0.04, 0.08}, schema.Inconclusive},
		{[]float64{-0.04, 0.03, 0.03, 0.04, 0.04, -0.03}, schema.Inconclusive},
		{[]float64{0, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05}, schema.Fuse},
		{[]float64{0, 0.001, -0.001, 0.002}, schema.Neutral},
	} {
		if got := Decide(timesOf(func(i int) float64 { return c.effects[i] }, len(c.effects))); got.Verdict != c.want {
			t.Errorf("%v: %+v, want %s", c.effects, got, c.want)
		}
	}
}

// Times that differ by 3%, and the blocks of each by a tenth of that: from six times on the interval holds the median of
// all times at 95%.
func TestTimeIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{6, 8, 12} {
		missed := 0
		const trials = 2000
		for range trials {
			own := make([]float64, n)
			for i := range own {
				own[i] = 0.03 * rng.NormFloat64()
			}
			if dec := Decide(timesOf(func(i int) float64 { return own[i] + 0.003*rng.NormFloat64() }, n)); dec.Low > 1 || dec.High < 1 {
				missed++
			}
		}
		if rate := float64(missed) / trials; rate > 0.05 {
			t.Errorf("%d times: the interval missed the median in %.1f%% of the trials", n, 100*rate)
		}
	}
}

// Layouts that differ by 2.5%, and blocks by as much or by less: the interval holds the median at every look,
// as often as the schema says.
func TestLayoutIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		layouts int
		noise   float64
		most    float64 // share of trials that miss it
	}{
		{5, 0.003, 0.10}, {5, 0.025, 0.10}, {10, 0.003, 0.05}, {10, 0.025, 0.05},
	} {
		missed := 0
		const trials = 2000
		for range trials {
			own := make([]float64, c.layouts)
			for i := range own {
				own[i] = 0.025 * rng.NormFloat64()
			}
			var d []float64
			for i := range Looks[3] {
				d = append(d, own[i%c.layouts]+c.noise*rng.NormFloat64())
			}
			for _, n := range Looks {
				if dec := Decide([][][]float64{InTurn(d[:n], c.layouts)}); dec.Low > 1 || dec.High < 1 {
					missed++
					break
				}
			}
		}
		if rate := float64(missed) / trials; rate > c.most {
			t.Errorf("%d layouts, noise %g: the interval missed the median in %.1f%% of the trials", c.layouts, c.noise, 100*rate)
		}
	}
}

// The same code on both sides under heavy one-sided noise: no verdict but neutral
// or inconclusive may come out more often than the four looks allow.
func TestSameCodeIsNeverDecided(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sample := func() float64 {
		x := 1 + 0.004*rng.ExpFloat64()
		if rng.Float64() < 0.1 {
			x *= 1 + rng.Float64() // an interruption
		}
		return x
	}
	wrong := 0
	for range 500 {
		var d []float64
		for _, n := range Looks {
			for len(d) < n {
				d = append(d, LogRatio([]float64{sample(), sample()}, []float64{sample(), sample()}))
			}
			if v := Decide([][][]float64{InTurn(d, 1)}).Verdict; v == schema.Fuse || v == schema.Avoid {
				wrong++
			} else if v == schema.Neutral {
				break
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of 500 A/A trials were decided", wrong)
	}
}
