package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"hwcal/schema"
)

// told are the warnings so far, as "code path".
func told(c *Calibrator) []string {
	var all []string
	for _, w := range c.warnings {
		all = append(all, string(w.Code)+" "+w.Path)
	}
	return all
}

// Above the register peak by more than the tolerance a rate cannot be true, and by less it says
// so, in both lists of operations.
func TestRatesAbovePeak(t *testing.T) {
	for _, k := range []struct {
		share float64
		want  []schema.Code
	}{{1, nil}, {1.04, []schema.Code{schema.AbovePeak}}, {1.06, []schema.Code{schema.Implausible}}} {
		c := fakeCalibrator(newFake(), schema.Quick)
		add := func(operation string, gflops float64) computed {
			return computed{operation: operation, dtype: schema.FP32, place: c.all(), flop: int64(gflops * 1e9), Measurement: Measurement{Seconds: []float64{1}}}
		}
		c.computed = []computed{add("peak_fma", 100), add("matmul", 100*k.share)}
		product := c.computed[1]
		c.Device.OperationProfiles = []schema.Compute{product.entry()}
		c.finish()
		var want []string
		for path, e := range map[string]schema.Compute{"/compute/1": c.Device.Compute[1], "/operation_profiles/0": c.Device.OperationProfiles[0]} {
			if !slices.Equal(e.Warnings, k.want) || e.Efficiency != k.share {
				t.Errorf("%s at %g of the peak: %g, %v, want %v", path, k.share, e.Efficiency, e.Warnings, k.want)
			}
			for _, code := range k.want {
				want = append(want, string(code)+" "+path)
			}
		}
		got := told(c)
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("at %g of the peak: %v, want %v", k.share, got, want)
		}
	}
}

// What moves faster than its level does was in another one. The theoretical bandwidth is that of
// the memory.
func TestTrafficAboveItsLevel(t *testing.T) {
	for _, k := range []struct {
		level schema.Level
		bytes int64
		share float64
		own   []schema.Code
		want  []schema.Code
	}{
		{schema.L2, 1 << 20, 1.04, nil, nil},
		{schema.L2, 1 << 20, 1.06, nil, []schema.Code{schema.Cached}},
		{schema.DRAM, 1 << 30, 1.06, nil, []schema.Code{schema.Cached}},
		{schema.DRAM, 1 << 30, 1.9, []schema.Code{schema.WorkersApart}, nil}, // on two memories
	} {
		c := fakeCalibrator(newFake(), schema.Quick)
		c.levels = c.claimed()
		c.Device.Theoretical.BandwidthGBps = &schema.Peak{Value: 20}
		c.Device.Bandwidth = []schema.Bandwidth{{Level: k.level, Pattern: "copy", Threads: 2, GBps: schema.Stat{Best: 10}}}
		ms := float64(k.bytes) / (10 * k.share) / 1e6
		entries := []schema.Compute{{Threads: 2, Bytes: k.bytes, LatencyMS: schema.Stat{Best: ms, Mean: 2 * ms}, Warnings: k.own}}
		c.finishTraffic("operation_profiles", entries)
		e, theory := entries[0], 0.0
		if k.level == schema.DRAM {
			theory = 20
		}
		near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9*want }
		if tr := e.Traffic; tr == nil || tr.Level != k.level || !near(tr.PeakGBps, 10*k.share) || !near(tr.AvgGBps, 5*k.share) ||
			!near(tr.Utilization, 100*k.share) || tr.TheoreticalGBps != theory {
			t.Errorf("%s at %g: %+v", k.level, k.share, tr)
		}
		if want := slices.Concat(k.own, k.want); !slices.Equal(e.Warnings, want) || len(c.warnings) != len(k.want) {
			t.Errorf("%s at %g of its bandwidth: %v, want %v", k.level, k.share, e.Warnings, want)
		}
	}
}

// A theoretical peak that a measurement passes is none.
func TestMeasuredAboveTheory(t *testing.T) {
	for theory, want := range map[float64][]string{
		100: nil,
		99: {
			"theoretical_peak_below_measured /theoretical/peak_gflops/fp32",
			"theoretical_peak_below_measured /theoretical/bandwidth_gbps",
		},
	} {
		c := fakeCalibrator(newFake(), schema.Quick)
		c.computed = []computed{{operation: "peak_fma", dtype: schema.FP32, place: c.all(), flop: 100e9, Measurement: Measurement{Seconds: []float64{1}}}}
		c.Device.Bandwidth = []schema.Bandwidth{{Level: schema.DRAM, Pattern: "copy", Threads: 2, GBps: schema.Stat{Best: 100}}}
		c.Device.Theoretical.PeakGFLOPS = map[schema.DType]schema.Peak{schema.FP32: {Value: theory}}
		c.Device.Theoretical.BandwidthGBps = &schema.Peak{Value: theory}
		c.finish()
		if got := told(c); !slices.Equal(got, want) {
			t.Errorf("peaks of %g: %v, want %v", theory, got, want)
		}
	}
}

// The curve is held against the caches that are claimed: 32 KiB, 1 MiB and 16 MiB.
func TestCurveAgainstClaims(t *testing.T) {
	curve := func(gbps func(mib float64) float64) []curvePoint {
		var all []curvePoint
		for _, mib := range []float64{1, 2, 4, 8, 11, 16, 22, 32, 45, 64, 90, 128, 181, 256, 362, 512} {
			all = append(all, curvePoint{int64(mib * (1 << 20)), gbps(mib)})
		}
		return all
	}
	until := func(size float64) func(float64) float64 {
		return func(mib float64) float64 {
			if mib <= size {
				return 30
			}
			return 12
		}
	}
	for _, k := range []struct {
		name string
		gbps func(mib float64) float64
		want []string
	}{
		{"as claimed", until(16), nil},
		{"falling to the end", func(mib float64) float64 { return 40 - mib/16 }, []string{"dram_working_set_limited /bandwidth"}},
		{"a last level of 4 MiB", until(4), []string{"level_not_seen /cpu/caches"}},
		{"a last level of 64 MiB", until(64), []string{"level_not_claimed /cpu/caches"}},
	} {
		c := fakeCalibrator(newFake(), schema.Quick)
		c.levels = c.claimed()
		c.learn(curve(k.gbps))
		if got := told(c); !slices.Equal(got, k.want) {
			t.Errorf("%s: %v, want %v", k.name, got, k.want)
		}
	}
}

// What a GPU claims is held against its curve, too: the L2 of the scripted one has 40 MiB, whatever it claims.
func TestCurveOfGPUAgainstClaims(t *testing.T) {
	for l2, want := range map[int64][]string{40 << 20: nil, 96 << 20: {"level_not_seen /gpu"}, 8 << 20: {"level_not_claimed /gpu"}, 0: {"level_not_claimed /gpu"}} {
		f := newFake()
		c := fakeCalibrator(f, schema.Quick)
		fakeGPU(c)
		c.Device.GPU.L2Bytes = l2
		c.levels, c.deadline = c.claimed(), f.now.Add(time.Hour)
		if err := c.measureCurve(context.Background(), c.one(), 1); err != nil {
			t.Fatal(err)
		}
		if got := told(c); !slices.Equal(got, want) {
			t.Errorf("%d bytes claimed: %v, want %v", l2, got, want)
		}
	}
}

// Bandwidth of DRAM says where memory did not suffice for its working set.
func TestMemoryLimitsWorkingSet(t *testing.T) {
	for memory, want := range map[int64][]string{8 << 30: nil, 512 << 20: {"dram_working_set_limited /bandwidth/0"}} {
		c := fakeCalibrator(newFake(), schema.Quick)
		c.levels, c.Options.MemoryBytes = c.claimed(), memory
		if err := c.measureLevel(context.Background(), schema.DRAM, c.all(), Streams[:1], 1); err != nil {
			t.Fatal(err)
		}
		if got := told(c); !slices.Equal(got, want) {
			t.Errorf("of %d bytes: %v, want %v", memory, got, want)
		}
	}
}

// It also says so where it is in a cache as far as is known: a machine claims 480 MiB, and its curve failed.
func TestWorkingSetInClaimedCache(t *testing.T) {
	for flatFrom, want := range map[int64][]string{64 << 20: nil, 0: {"dram_working_set_limited /bandwidth/0"}} {
		c := fakeCalibrator(newFake(), schema.Quick)
		c.levels = c.claimed()
		c.levels.caches[2].size, c.levels.flatFrom = 480<<20, flatFrom
		if err := c.measureLevel(context.Background(), schema.DRAM, c.one(), Streams[:1], 1); err != nil {
			t.Fatal(err)
		}
		if got := told(c); !slices.Equal(got, want) {
			t.Errorf("flat from %d: %v, want %v", flatFrom, got, want)
		}
	}
}

// The arrays of DRAM leave room for what is written beside them, of however many pages memory is.
func TestArraysFitIntoMemory(t *testing.T) {
	for pages := range int64(6) {
		c := fakeCalibrator(newFake(), schema.Quick)
		c.levels, c.Options.MemoryBytes = c.claimed(), (48000+pages)*4096
		c.Runner.Memory = c.Options.MemoryBytes / 2
		if err := c.measureLevel(context.Background(), schema.DRAM, c.all(), Streams, 1); err != nil {
			t.Errorf("of %d pages: %v", 48000+pages, err)
		}
		if got := len(c.Device.Bandwidth); got != len(Streams) {
			t.Errorf("of %d pages: %d of %d kernels", 48000+pages, got, len(Streams))
		}
	}
}

// A level does not answer sooner than one nearer to the core: a load of the scripted machine takes
// 5 ns everywhere.
func TestLatencyBelowInnerLevel(t *testing.T) {
	for inner, want := range map[float64][]string{
		5.2: nil,
		5.3: {"implausible /latency/1", "implausible /numa/0"},
	} {
		f := newFake()
		f.noise = 0
		c := fakeCalibrator(f, schema.Quick)
		twoNodes(c)
		c.levels = c.claimed()
		c.Device.Latency = []schema.Latency{{Level: schema.L1, PageBytes: 2 << 20, Nanoseconds: schema.Stat{Best: inner}}}
		if err := c.measureLatency(context.Background(), schema.L2, false, 1); err != nil {
			t.Fatal(err)
		}
		if err := c.numaSteps()[0].run(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
		if got := told(c); !slices.Equal(got, want) {
			t.Errorf("behind one of %g ns: %v, want %v", inner, got, want)
		}
	}
}

// A speedup far above what the savings explain says so: 10 MB less at 10 GB/s are a millisecond.
func TestSpeedupAboveSavings(t *testing.T) {
	for speedup, want := range map[float64][]schema.Code{2.4: nil, 2.6: {schema.AboveTraffic}} {
		c := fakeCalibrator(newFake(), schema.Quick)
		c.levels = c.claimed()
		cs := fakeCase(t, "Linear_Bias", "1024x1024x1024")
		c.pool(computed{operation: "peak_fma", dtype: schema.FP32, place: cs.Place, flop: 200e9, Measurement: Measurement{Seconds: []float64{1}}})
		c.Device.Bandwidth = []schema.Bandwidth{{Level: schema.L3, Pattern: "copy", Threads: 1, GBps: schema.Stat{Best: 10}}}
		c.Device.FusionProfiles = []schema.Fusion{{DType: schema.FP32, Threads: 1, UnfusedBytes: 12e6, FusedBytes: 2e6, FusedLatencyMS: 1, Speedup: speedup}}
		c.compared = []Comparison{{Parts: Parts{cs.Chain}}}
		c.explainFusion()
		e := c.Device.FusionProfiles[0]
		if math.Abs(e.PredictedSpeedup-2) > 0.001 || !slices.Equal(e.Warnings, want) || len(c.warnings) != len(want) {
			t.Errorf("speedup of %g where %g is predicted: %v, %v, want %v", speedup, e.PredictedSpeedup, e.Warnings, c.warnings, want)
		}
	}
}

// Each failure is in the profile with its reason, and warned of where it is more than a lack.
func TestRecord(t *testing.T) {
	for _, k := range []struct {
		err  error
		want []string
	}{
		{nil, nil},
		{ErrUnsupported, nil},
		{errLeftOut, nil},
		{ErrMismatch, []string{"mismatch "}},
		{ErrMemory, []string{"out_of_memory "}},
		{ErrLost, []string{"device_lost "}},
		{ErrBudget, []string{"budget_spent "}},
		{errors.New("other"), []string{"failed "}},
	} {
		c := fakeCalibrator(newFake(), schema.Quick)
		known := len(c.Device.Unavailable)
		if k.err != nil {
			k.err = fmt.Errorf("case: %w", k.err)
		}
		c.record("what", k.err)
		if got := told(c); !slices.Equal(got, k.want) {
			t.Errorf("%v: %v, want %v", k.err, got, k.want)
		}
		if got := c.Device.Unavailable[known:]; (k.err != nil) != slices.Equal(got, []schema.Unavailable{{What: "what", Reason: fmt.Sprint(k.err)}}) {
			t.Errorf("%v: unavailable %v", k.err, got)
		}
	}
}

// The warnings of an entry that is measured again take the place of its own, and of no other's.
func TestWarnAnew(t *testing.T) {
	c := fakeCalibrator(newFake(), schema.Quick)
	for i := range 3 {
		c.warnAll("numa", i, []schema.Code{schema.NoisyHost}, []string{"a neighbour"})
	}
	codes := c.warnAnew("numa", 1, []schema.Code{schema.Unstable}, []string{"scatter"})
	if want := []string{"noisy_host /numa/0", "noisy_host /numa/2", "unstable /numa/1"}; !slices.Equal(told(c), want) || !slices.Equal(codes, []schema.Code{schema.Unstable}) {
		t.Errorf("%v, of the entry %v, want %v", told(c), codes, want)
	}
}

// A case that memory cannot hold is refused before any of it is taken.
func TestCaseWithoutMemory(t *testing.T) {
	f := newFake()
	r, c := fakeRunner(f), fakeCase(t, "matmul", "16x16x16")
	for memory, want := range map[int64]error{c.Footprint(): nil, c.Footprint() - 1: ErrMemory} {
		r.Memory = memory
		opened := f.opened
		if _, err := r.Measure(context.Background(), c); !errors.Is(err, want) || (f.opened == opened) != (want != nil) {
			t.Errorf("%d bytes for %d: %v, %d opened", memory, c.Footprint(), err, f.opened-opened)
		}
	}
}

// Where no case of an operation fits into memory, nothing is measured before that is said.
func TestBenchWithoutMemory(t *testing.T) {
	f := newFake()
	c := fakeCalibrator(f, schema.Quick)
	c.Options.DTypes, c.Runner.Memory = []schema.DType{schema.FP32}, 1<<30
	matmul, err := Lookup("matmul")
	if err != nil {
		t.Fatal(err)
	}
	bench := func(shapes ...Shape) []schema.Unavailable {
		matmul.Shapes = func(schema.Mode) []Shape { return shapes }
		dev, _, err := c.Bench(context.Background(), matmul, nil)
		if err != nil {
			t.Fatal(err)
		}
		return dev.Unavailable
	}
	large := dims(matmul.Dims, 100000, 100000, 1)
	refused := func(u schema.Unavailable) bool { return strings.Contains(u.Reason, ErrMemory.Error()) }
	if lacking := bench(large); f.opened > 0 || !slices.ContainsFunc(lacking, refused) {
		t.Errorf("%d cases opened, %v", f.opened, lacking)
	}
	if bench(large, dims(matmul.Dims, 16, 16, 16)); f.opened == 0 {
		t.Error("one that fits is not measured")
	}
}

// An operation in a level that is hardly larger than the one before is measured without a ceiling: that is no failure.
func TestBenchWithoutCeiling(t *testing.T) {
	softmax, err := Lookup("softmax")
	if err != nil {
		t.Fatal(err)
	}
	softmax.Shapes = func(schema.Mode) []Shape { return []Shape{dims(softmax.Dims, 1, 2200, 128)} } // 2.2 MiB
	f := newFake()
	c := fakeCalibrator(f, schema.Quick)
	c.Options.DTypes = []schema.DType{schema.FP32}
	c.Device.CPU.Caches[2].SizeBytes = 5 << 19 // of which two of 1 MiB are nearer
	for _, s := range Streams {
		f.kernels = append(f.kernels, KernelInfo{"stream_" + s.Name, schema.FP64, "fake"})
	}
	had := len(c.Device.Unavailable)
	dev, _, err := c.Bench(context.Background(), softmax, nil)
	if err != nil || len(dev.OperationProfiles) != 1 || dev.OperationProfiles[0].Traffic != nil {
		t.Fatalf("%v, %+v", err, dev.OperationProfiles)
	}
	for _, u := range dev.Unavailable[had:] {
		if !strings.HasPrefix(u.What, "summary.") {
			t.Errorf("%+v", u)
		}
	}
}

// What is wrong when it is measured again says so.
func TestMismatchOfRepetition(t *testing.T) {
	f := newFake()
	c := fakeCalibrator(f, schema.Quick)
	s := step{label: "what", cost: 1, run: func(context.Context, float64) error { return errors.Join(ErrUnsupported, ErrMismatch) }}
	again := disturbedStep{s, disturbance{still: func() bool { return true }}}
	c.deadline = f.now.Add(time.Hour)
	if left, _ := c.measureAgain(context.Background(), []disturbedStep{again}, 0, c.deadline, 1); len(left) != 0 {
		t.Errorf("%d are left", len(left))
	}
	s.run = func(context.Context, float64) error { return ErrBudget }
	again.step = s
	c.measureAgain(context.Background(), []disturbedStep{again}, 0, c.deadline, 1)
	last := c.Device.Unavailable[len(c.Device.Unavailable)-1]
	if got := told(c); !slices.Equal(got, []string{"mismatch "}) || last.What != "what, again" {
		t.Errorf("%v, %+v", got, last)
	}
}

// A single operation is held against the ceilings of the levels that its shapes live in.
func TestBench(t *testing.T) {
	softmax, err := Lookup("softmax")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		rows  int64
		level schema.Level
		curve bool // what may live beyond the caches of a core needs it
	}{{16, schema.L1, false}, {1024, schema.L2, false}, {1 << 13, schema.L3, true}} {
		softmax.Shapes = func(schema.Mode) []Shape { return []Shape{dims(softmax.Dims, 1, k.rows, 128)} }
		f := newFake()
		c := fakeCalibrator(f, schema.Quick)
		c.Options.DTypes = []schema.DType{schema.FP32}
		for _, s := range Streams {
			f.kernels = append(f.kernels, KernelInfo{"stream_" + s.Name, schema.FP64, "fake"})
		}
		curve := false
		peaks := 0
		c.Options.Observe = func(p Progress) {
			curve = curve || p.Label == c.curveStep(c.one()).label
			if strings.HasPrefix(p.Label, "peak_fma") {
				peaks++
			}
		}
		dev, _, err := c.Bench(context.Background(), softmax, map[schema.DType][]string{schema.FP32: {"a", "b"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(dev.OperationProfiles) != 2 || curve != k.curve || peaks != 2 {
			t.Fatalf("%d rows: %d entries, curve %t, %d peaks", k.rows, len(dev.OperationProfiles), curve, peaks)
		}
		for i, unit := range []string{"a", "b"} {
			e := dev.OperationProfiles[i]
			if e.Implementation != "fake"+unit || e.Traffic == nil || e.Traffic.Level != k.level || !(e.Efficiency > 0) {
				t.Errorf("%d rows: %s, %+v", k.rows, e.Implementation, e.Traffic)
			}
		}
	}
}

// A fusion pattern is held against the ceilings, too, of the level of its tensors, and its verdict is explained by that in
// which its operations meet. There are no controls that its verdict would wait for.
func TestBenchOfPair(t *testing.T) {
	pattern, err := Lookup("Linear_Bias")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		shape         [3]int64
		level, meet   schema.Level
		compute, read bool
	}{
		{[3]int64{8, 64, 16}, schema.L1, schema.L1, true, false},
		{[3]int64{1, 1024, 2048}, schema.L3, schema.L1, false, true},
		{[3]int64{4096, 4096, 1}, schema.DRAM, schema.DRAM, false, false},
		{[3]int64{512, 1024, 1024}, schema.L3, schema.L3, true, false},
	} {
		pattern.Shapes = func(schema.Mode) []Shape { return []Shape{dims(pattern.Dims, k.shape[:]...)} }
		f := newFake()
		c := fakeCalibrator(f, schema.Quick)
		c.Options.DTypes = []schema.DType{schema.FP32}
		for _, s := range Streams {
			f.kernels = append(f.kernels, KernelInfo{"stream_" + s.Name, schema.FP64, "fake"})
		}
		dev, warnings, err := c.Bench(context.Background(), pattern, nil)
		if err != nil || len(dev.FusionProfiles) != 1 {
			t.Fatalf("%v: %v, %d pairs, %+v", k.shape, err, len(dev.FusionProfiles), dev.Unavailable)
		}
		e, o := dev.FusionProfiles[0], c.FusedOperation(0)
		if e.PredictedSpeedup < 1 || !strings.HasPrefix(e.Reason, string(e.Verdict)+": ") || !strings.Contains(e.Reason, "the intermediates are in "+string(k.meet)) {
			t.Errorf("%v: predicted %g, %s", k.shape, e.PredictedSpeedup, e.Reason)
		}
		if slices.ContainsFunc(warnings, func(w schema.Warning) bool { return w.Code == schema.ControlsFailed }) {
			t.Errorf("%v: %v", k.shape, warnings)
		}
		if o.Traffic == nil || o.Traffic.Level != k.level || *o.ComputeBound != k.compute || (o.Traffic.CeilingOf == "read" || o.Traffic.CeilingOf == "read4") != k.read || !(o.Efficiency > 0) {
			t.Errorf("%v: %+v", k.shape, o.Traffic)
		}
	}
}

// The working set of a kernel of bandwidth lies in the level that the curve tells, if caches of a core do not hold it; without
// a need for that, nothing is measured.
func TestLevelsOfStreams(t *testing.T) {
	pattern, err := Lookup("stream_copy")
	if err != nil {
		t.Fatal(err)
	}
	for bytes, want := range map[int64]schema.Level{64 << 10: schema.L1, 2 << 20: schema.L2, 12 << 20: schema.L3, 24 << 20: schema.DRAM, 64 << 20: schema.DRAM} {
		pattern.Shapes = func(schema.Mode) []Shape { return []Shape{dims(pattern.Dims, bytes)} }
		f := newFake()
		c := fakeCalibrator(f, schema.Quick)
		c.Options.DTypes = []schema.DType{schema.FP64}
		c.Device.CPU.Caches[2].SizeBytes = 32 << 20 // as of a host, of which the machine has 16 MiB
		of, _, err := c.Levels(context.Background(), pattern)
		if err != nil || of(bytes) != want || (f.opened > 0) != (bytes > 2<<20) {
			t.Errorf("%d bytes: %v, %s, %d cases", bytes, err, of(bytes), f.opened)
		}
	}
}
