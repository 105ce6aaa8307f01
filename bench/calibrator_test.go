package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hwcal/schema"
)

var update = flag.Bool("update", false, "write the golden profile anew")

func TestMain(m *testing.M) {
	verifyWork = 1 << 12
	os.Exit(m.Run())
}

// fakeDevice is a CPU of two cores as detected.
func fakeDevice() schema.Device {
	return schema.Device{
		ID: "cpu0", Kind: schema.CPU, Name: "Scripted CPU", Vendor: "hwcal",
		CPU: &schema.CPUInfo{
			Family: 6, Model: 1, Sockets: 1, Cores: 2, Threads: 2, UsedCPUs: []int{0, 1},
			CoreClasses: []schema.CoreClass{{Name: "core", CPUs: []int{0, 1}}},
			NUMANodes:   []schema.NUMANode{{ID: 0, CPUs: []int{0, 1}}},
			ISA:         []string{"avx2", "fma3"},
			Caches: []schema.Cache{
				{Level: 1, Type: "data", SizeBytes: 32 << 10, SharedBy: 1, Count: 2},
				{Level: 2, Type: "unified", SizeBytes: 1 << 20, SharedBy: 1, Count: 2},
				{Level: 3, Type: "unified", SizeBytes: 16 << 20, SharedBy: 2, Count: 1},
			},
		},
		Compute: []schema.Compute{}, Bandwidth: []schema.Bandwidth{}, Latency: []schema.Latency{},
		OperationProfiles: []schema.Compute{}, FusionProfiles: []schema.Fusion{},
		Power: schema.Power{Unavailable: "a scripted machine has no meter"},
		Unavailable: []schema.Unavailable{
			{What: "theoretical.peak_gflops", Reason: "a scripted machine has none"},
			{What: "theoretical.bandwidth_gbps", Reason: "a scripted machine has none"},
		},
	}
}

func fakeCalibrator(f *fake, mode schema.Mode) *Calibrator {
	return &Calibrator{
		Runner: Runner{Backend: f, Settings: SettingsOf(mode), Now: f.Now},
		Device: fakeDevice(),
		Options: Options{
			Mode: mode, DTypes: []schema.DType{schema.FP64, schema.FP32}, Patterns: chains(), Operations: someOperations(),
			Threads: 2, Seed: 1, Budget: time.Hour, MemoryBytes: 8 << 30,
		},
	}
}

// long skips a test of whole calibrations under -short.
func long(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
}

// chains are the fusion patterns but networks, which the fake would take too long to compute.
func chains() []Pattern {
	return slices.DeleteFunc(Patterns(), Pattern.Network)
}

// someOperations are an element-wise one and one over rows, of three sizes each and few elements.
func someOperations() []Pattern {
	var some []Pattern
	for _, name := range []string{"add", "softmax"} {
		p, err := Lookup(name)
		if err != nil {
			panic(err)
		}
		p.Shapes = func(schema.Mode) []Shape {
			return []Shape{dims(p.Dims, 1, 16, 64), dims(p.Dims, 1, 64, 1024), dims(p.Dims, 1, 1024, 1024)}
		}
		some = append(some, p)
	}
	return some
}

// named is some fusion patterns, which a test can afford to verify.
func named(names ...string) []Pattern {
	ps, err := Select(names)
	if err != nil {
		panic(err)
	}
	return ps
}

// twoNodes makes the scripted machine one of four cores in two NUMA nodes, of which
// only compute and memory are measured.
func twoNodes(c *Calibrator) {
	c.Device.CPU.Sockets, c.Device.CPU.Cores, c.Device.CPU.Threads = 2, 4, 4
	c.Device.CPU.UsedCPUs = []int{0, 1, 2, 3}
	c.Device.CPU.CoreClasses[0].CPUs = c.Device.CPU.UsedCPUs
	for i := range c.Device.CPU.Caches {
		c.Device.CPU.Caches[i].Count *= 2
	}
	c.Device.CPU.NUMANodes = []schema.NUMANode{
		{ID: 0, CPUs: []int{0, 2}, MemoryBytes: 4 << 30}, {ID: 1, CPUs: []int{1, 3}, MemoryBytes: 4 << 30},
	}
	c.Options.Threads, c.Options.Patterns, c.Options.DTypes = 4, nil, []schema.DType{schema.FP32}
}

// oneSweep is a default run of a single pattern, whose verdict flips as the saved
// traffic begins to matter.
func oneSweep(c *Calibrator) {
	c.Options.Mode, c.Runner.Settings = schema.Default, SettingsOf(schema.Default)
	c.Options.DTypes, c.Options.Patterns = []schema.DType{schema.FP32}, chains()[:1]
}

// fakeGPU makes the scripted machine a GPU, on which one pattern is measured.
func fakeGPU(c *Calibrator) {
	c.Device = schema.Device{
		ID: "cuda0", Kind: schema.GPU, Name: "Scripted GPU", Vendor: "hwcal",
		GPU: &schema.GPUInfo{
			UUID: "GPU-0", MemoryBytes: 64 << 30, ComputeCapability: "9.0", SMs: 100, L2Bytes: 40 << 20, MemoryBusBits: 5120,
			Libraries: map[string]string{"compiler": "scripted 1.0"},
		},
		Compute: []schema.Compute{}, Bandwidth: []schema.Bandwidth{}, Latency: []schema.Latency{},
		OperationProfiles: []schema.Compute{}, FusionProfiles: []schema.Fusion{},
		Power: schema.Power{Unavailable: "a scripted machine has no meter"},
		Unavailable: []schema.Unavailable{
			{What: "theoretical.peak_gflops", Reason: "a scripted machine has none"},
			{What: "theoretical.bandwidth_gbps", Reason: "a scripted machine has none"},
		},
	}
	c.Options.Mode, c.Runner.Settings = schema.Default, SettingsOf(schema.Default)
	c.Options.Threads, c.Options.MemoryBytes = 0, 64<<30
	c.Options.DTypes, c.Options.Patterns = []schema.DType{schema.FP32, schema.BF16}, named("Linear_Bias_ReLU")
}

// The whole calibration of scripted machines, byte for byte. The profiles package
// validates the same files.
func TestScriptedProfile(t *testing.T) {
	for name, change := range map[string]func(*Calibrator){
		"scripted": func(*Calibrator) {}, "scripted-numa": twoNodes, "scripted-crossover": oneSweep, "scripted-interrupted": cut, "scripted-gpu": fakeGPU,
	} {
		t.Run(name, func(t *testing.T) {
			if name != "scripted" {
				long(t)
			}
			f := newFake()
			c := fakeCalibrator(f, schema.Quick)
			change(c)
			scripted(t, f, c, "../testdata/golden/"+name+".json")
		})
	}
}

// cut is interrupted in the middle of the fusion pairs, one pattern in one type.
func cut(c *Calibrator) {
	c.Options.DTypes, c.Options.Patterns, c.Options.Operations = []schema.DType{schema.FP32}, chains()[:1], nil
	c.Runner.Settings.MaxSamples = c.Runner.Settings.MinSamples
}

func scripted(t *testing.T, f *fake, c *Calibrator, golden string) {
	begin := f.now
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if strings.Contains(golden, "interrupted") {
		c.Options.Observe = func(p Progress) {
			if strings.HasPrefix(p.Label, "Linear_Bias") {
				cancel()
			}
		}
	}
	dev, warnings, err := c.Run(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	allowed := []int{0, 1}
	if dev.CPU != nil {
		allowed = dev.CPU.UsedCPUs
	}
	p := schema.Profile{
		Schema: schema.ID, SchemaVersion: schema.Version,
		Metadata: schema.Metadata{
			HardwareName: dev.Name, CalibrationDate: begin, ToolVersion: "test", Mode: c.Options.Mode, Seed: 1,
			DurationSeconds: f.now.Sub(begin).Seconds(), Fingerprint: schema.Fingerprint([]schema.Device{dev}),
		},
		Host:    schema.Host{OS: "linux", Arch: "amd64", AllowedCPUs: allowed, Preflight: []schema.Check{}},
		Devices: []schema.Device{dev}, Warnings: []schema.Warning{},
	}
	for _, w := range warnings {
		w.Path = "/devices/0" + w.Path
		p.Warnings = append(p.Warnings, w)
	}
	got, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOARCH != "amd64" {
		// Elsewhere the compiler fuses multiplications with additions: the last
		// digits differ.
		var g, w any
		if err := errors.Join(json.Unmarshal(got, &g), json.Unmarshal(want, &w)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w, g, cmpopts.EquateApprox(1e-6, 1e-12)); diff != "" {
			t.Errorf("the profile of the scripted machine differs from %s (-want +got):\n%s", golden, diff)
		}
		return
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the profile of the scripted machine differs from %s; -update writes it anew, git diff shows what changed", golden)
	}
}

// What a calibration meets on the way is recorded and costs nothing else.
func TestFailuresAreRecorded(t *testing.T) {
	long(t)
	f := newFake()
	f.wrong, f.none, f.crashes = "gemm+bias+relu", "gemm+bias+gelu", "gemm+bias+silu"
	f.clock = func(n int) float64 { return 3000 }
	dev, warnings, err := fakeCalibrator(f, schema.Quick).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"Linear_Bias_ReLU ": "mismatch", "Linear_Bias_GELU ": "unsupported", "Linear_Bias_SiLU ": "panic: fake: no way (fake_test.go:",
	} {
		of := slices.DeleteFunc(slices.Clone(dev.Unavailable), func(u schema.Unavailable) bool { return !strings.HasPrefix(u.What, pattern) })
		if len(of) != 1 || !strings.Contains(of[0].Reason, want) {
			t.Errorf("unavailable of %s: %v, want one, %s", pattern, of, want)
		}
	}
	mismatches := 0
	for _, w := range warnings {
		if w.Code == schema.Mismatch {
			mismatches++
		}
	}
	if mismatches != 1 {
		t.Errorf("%d warnings of a mismatch, want 1: %v", mismatches, warnings)
	}
	if want := len(chains()) - 3; len(dev.FusionProfiles) != want {
		t.Errorf("%d fusion profiles, want %d", len(dev.FusionProfiles), want)
	}
}

// One kernel of a level that the device lacks does not hide that another is wrong.
func TestMismatchBesideUnsupported(t *testing.T) {
	f := newFake()
	var names []string
	for _, s := range Streams {
		names = append(names, "stream_"+s.Name)
	}
	f.none, f.wrong = "stream_write_nt", strings.Join(names, "+") // what all but the reading ones write
	c := fakeCalibrator(f, schema.Default)
	c.levels, c.deadline = c.claimed(), f.now.Add(time.Hour)
	step := c.levelStep(schema.L1, c.one(), false)
	c.record(step.label, step.run(context.Background(), 1))
	if len(c.Device.Bandwidth) == 0 || len(c.warnings) != 1 || c.warnings[0].Code != schema.Mismatch {
		t.Errorf("%d kernels, warnings %+v", len(c.Device.Bandwidth), c.warnings)
	}
}

// What the runs of a mode do not measure is told, if it was asked for.
func TestModesTellWhatTheyLeaveOut(t *testing.T) {
	both := []schema.DType{schema.FP64, schema.FP32}
	const (
		sweeps = "fusion_crossovers of patterns behind the first of their group, and in types other than the main one"
		alone  = "operation_profiles on 1 thread"
	)
	for _, k := range []struct {
		mode   schema.Mode
		dtypes []schema.DType
		want   []string
	}{
		{schema.Quick, both, []string{"fusion_profiles.fp64", "operation_profiles.fp64", "fusion_crossovers", alone}},
		{schema.Default, both, []string{"fusion_profiles.fp64", "operation_profiles.fp64", sweeps, alone}},
		{schema.Full, both, nil},
		{schema.Default, both[:1], []string{sweeps, alone}},
	} {
		for _, asked := range []bool{true, false} {
			c := fakeCalibrator(newFake(), k.mode)
			c.Options.DTypes = k.dtypes
			want := k.want
			if !asked {
				c.Options.Patterns, c.Options.Operations, want = nil, nil, nil
			}
			c.recordLacks()
			var got []string
			for _, u := range c.Device.Unavailable {
				if u.Reason == fmt.Sprintf("left out of %s runs", k.mode) {
					got = append(got, u.What)
				}
			}
			if !slices.Equal(got, want) || len(c.warnings) > 0 {
				t.Errorf("%s in %v, asked %t: left out %q, want %q; warnings %v", k.mode, k.dtypes, asked, got, want, c.warnings)
			}
		}
	}
}

// A budget that is spent skips what is left, with a reason, and the profile says
// what it lacks.
func TestBudget(t *testing.T) {
	f := newFake()
	c := fakeCalibrator(f, schema.Default)
	c.Options.Budget = time.Second
	dev, _, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(dev.FusionProfiles) != 0 || len(dev.Unavailable) < 10 {
		t.Errorf("%d fusion profiles, unavailable: %v", len(dev.FusionProfiles), dev.Unavailable)
	}
	if took := f.now.Sub(newFake().now); took > 5*time.Second {
		t.Errorf("took %v of a budget of 1 s", took)
	}
}

// What is long at the rates that were measured waits until all else is done, and is what a short
// budget leaves out.
func TestLongStepsWait(t *testing.T) {
	const flop = 1e9
	for _, k := range []struct {
		lasts time.Duration // each of the other steps
		want  []string
	}{
		{time.Second, []string{"peak", "short", "last", "long"}},
		{7 * time.Second, []string{"peak", "short", "last"}},
	} {
		f := newFake()
		c := fakeCalibrator(f, schema.Default)
		c.Options.Budget = 20 * time.Second
		var done []string
		add := func(label string, flop int64) step {
			return step{label: label, cost: k.lasts, run: func(context.Context, float64) error {
				done = append(done, label)
				f.now = f.now.Add(k.lasts)
				c.computed = append(c.computed, computed{
					operation: "peak_fma", dtype: schema.FP32, flop: flop, Measurement: Measurement{Seconds: []float64{1}},
				})
				return nil
			}, takes: func() time.Duration { return c.at(flop, schema.FP32, Place{}) }}
		}
		// A second at the peak: more than a sixtieth of the budget.
		dev, _, err := c.run(context.Background(), []step{add("peak", flop), add("long", flop), add("short", flop/10), add("last", flop/10)})
		if err != nil {
			t.Fatal(err)
		}
		left := slices.IndexFunc(dev.Unavailable, func(u schema.Unavailable) bool { return u.What == "long" }) >= 0
		if !slices.Equal(done, k.want) || left == slices.Contains(done, "long") {
			t.Errorf("steps of %v: %v, long left out %t; want %v", k.lasts, done, left, k.want)
		}
	}
}

// A product is as fast as the last one, which may be far from the register peak.
func TestTimeAtMeasuredRates(t *testing.T) {
	c := fakeCalibrator(newFake(), schema.Quick)
	if got := c.at(1e9, schema.FP32, Place{}); got != 0 {
		t.Errorf("%v before anything was measured, want 0", got)
	}
	for _, k := range []struct {
		operation string
		seconds   float64
		want      time.Duration
	}{{"peak_fma", 0.1, 100 * time.Millisecond}, {"matmul", 0.5, 500 * time.Millisecond}, {"matmul", 0.4, 400 * time.Millisecond}} {
		c.computed = append(c.computed, computed{
			operation: k.operation, dtype: schema.FP32, flop: 1e9, Measurement: Measurement{Seconds: []float64{k.seconds}},
		})
		if got := c.at(1e9, schema.FP32, Place{}).Round(time.Millisecond); got != k.want {
			t.Errorf("%v behind %s, want %v", got, k.operation, k.want)
		}
	}
}

// What the host disturbed is measured again, and the disturbed samples are dropped.
func TestDisturbedIsMeasuredAgain(t *testing.T) {
	long(t)
	f := newFake()
	f.reasons, f.calm = []string{"a neighbour"}, 30
	c := fakeCalibrator(f, schema.Quick)
	c.Options.Patterns = nil
	dev, _, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range dev.Compute {
		if slices.Contains(m.Warnings, schema.NoisyHost) {
			t.Errorf("%s %s %s: %v", m.Operation, m.DType, m.Shape, m.Warnings)
		}
	}
}

// So are the levels: as many entries as on a quiet host, and each of the same rate.
func TestDisturbedLevelIsMeasuredAgain(t *testing.T) {
	long(t)
	measured := func(reasons ...string) (_ []schema.Bandwidth, times int) {
		f := newFake()
		c := fakeCalibrator(f, schema.Quick)
		c.Options.Patterns = nil
		c.Options.Observe = func(p Progress) {
			switch p.Label {
			case "bandwidth L2, 2 threads":
				f.reasons, f.calm = reasons, 3
			case "bandwidth L2, 2 threads, again":
				times++
			}
		}
		dev, warnings, err := c.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range warnings {
			if w.Code == schema.NoisyHost {
				t.Errorf("%+v", w)
			}
		}
		return dev.Bandwidth, times
	}
	quiet, _ := measured()
	same := func(a, b schema.Bandwidth) bool {
		return a.Level == b.Level && a.Pattern == b.Pattern && a.Threads == b.Threads &&
			math.Abs(b.GBps.Best/a.GBps.Best-1) < 0.01 && len(b.Warnings) == 0
	}
	if again, times := measured("a neighbour"); times != 1 || !slices.EqualFunc(quiet, again, same) {
		t.Errorf("measured again %d times, %d entries, %d on a quiet host, or other rates", times, len(again), len(quiet))
	}
}

// A neighbour that never rests does not keep the run going for all of its budget.
func TestNoEndOfDisturbance(t *testing.T) {
	long(t)
	took := func(reasons ...string) time.Duration {
		f := newFake()
		f.reasons, f.calm = reasons, math.MaxInt
		c := fakeCalibrator(f, schema.Quick)
		c.Options.Patterns, c.Options.Budget = nil, time.Hour
		begin := c.Runner.Now()
		if _, _, err := c.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return c.Runner.Now().Sub(begin)
	}
	if quiet, busy := took(), took("a neighbour"); busy > 3*quiet {
		t.Errorf("%v beside a neighbour, %v without", busy, quiet)
	}
}

// A pair that was measured while the workers were apart is decided once they are not.
func TestApartIsMeasuredAgain(t *testing.T) {
	long(t)
	verdicts := func(apart int) (dev schema.Device, decided int) {
		f := newFake()
		c := fakeCalibrator(f, schema.Quick)
		c.Options.Operations = nil
		c.Options.Observe = func(p Progress) {
			if strings.HasPrefix(p.Label, "Linear_Bias ") {
				f.apart, apart = apart, 0
			}
		}
		dev, warnings, err := c.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range warnings {
			if w.Code == schema.WorkersApart {
				t.Errorf("%+v", w)
			}
		}
		for _, p := range dev.FusionProfiles {
			if p.Verdict != schema.Inconclusive {
				decided++
			}
		}
		return dev, decided
	}
	quiet, want := verdicts(0)
	dev, got := verdicts(3)
	if got != want || len(dev.FusionProfiles) != len(quiet.FusionProfiles) {
		t.Errorf("%d of %d pairs are decided, %d of %d on a quiet host", got, len(dev.FusionProfiles), want, len(quiet.FusionProfiles))
	}
}

// A level, which others are held against, is measured again before the steps that a run can do without, however many
// they are; a product is behind them.
func TestDisturbedAndExtraSteps(t *testing.T) {
	long(t)
	for label, early := range map[string]bool{"bandwidth L2, 2 threads": true, "matmul fp32 m=1024 n=1024 k=1024, 2 threads": false} {
		f := newFake()
		c := fakeCalibrator(f, schema.Default)
		c.Options.Operations = nil
		var labels []string
		c.Options.Observe = func(p Progress) {
			labels = append(labels, p.Label)
			if p.Label == label {
				f.apart = 3
			}
		}
		steps := c.plan()
		first := slices.IndexFunc(steps, func(s step) bool { return s.extra })
		if first < 0 {
			t.Fatal("no step is extra")
		}
		if _, _, err := c.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		again, extra := slices.Index(labels, label+", again"), slices.Index(labels, steps[first].label)
		if again < 0 || again < extra != early {
			t.Errorf("%s is measured again as step %d, the first extra one is step %d", label, again, extra)
		}
	}
}

// A host that is never quiet costs the budget, not more, and every figure says so.
func TestAlwaysDisturbed(t *testing.T) {
	long(t)
	f := newFake()
	f.reasons = []string{"a neighbour"}
	c := fakeCalibrator(f, schema.Quick)
	c.Options.Patterns, c.Options.Budget = nil, 30*time.Second
	dev, _, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range dev.Compute {
		if !slices.Contains(m.Warnings, schema.NoisyHost) {
			t.Errorf("%s %s %s: %v", m.Operation, m.DType, m.Shape, m.Warnings)
		}
	}
	if took := f.now.Sub(newFake().now); took > 31*time.Second {
		t.Errorf("took %v of a budget of 30 s", took)
	}
}

// A lost device costs what was still to be measured, each step by name, and nothing else.
func TestLostDevice(t *testing.T) {
	f := newFake()
	f.last = 20
	c := fakeCalibrator(f, schema.Quick)
	planned := len(c.plan())
	known := len(c.Device.Unavailable)
	steps := 0
	c.Options.Observe = func(p Progress) { steps++ }
	dev, warnings, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(dev.Compute) == 0 || steps > 25 {
		t.Errorf("%d figures, %d steps begun", len(dev.Compute), steps)
	}
	lost := 0
	for _, u := range dev.Unavailable[known:] {
		if strings.Contains(u.Reason, "fell off the bus") {
			lost++
		}
	}
	if begun := steps - 1; lost != planned-begun+1 { // the last call says that all is done
		t.Errorf("%d of %d steps are lost, %d were begun", lost, planned, begun)
	}
	if n := slices.IndexFunc(warnings, func(w schema.Warning) bool { return w.Code == schema.DeviceLost }); n < 0 {
		t.Errorf("no warning among %v", warnings)
	}
}

// A meter gives each figure its energy, and the idle device its power.
func TestEnergyOfCases(t *testing.T) {
	long(t)
	f := newFake()
	f.watts = 40
	c := fakeCalibrator(f, schema.Quick)
	c.Options.Patterns = nil
	c.Runner.Sleep = func(_ context.Context, d time.Duration) { f.now = f.now.Add(d) }
	dev, _, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if idle := dev.Power.Idle; idle == nil || math.Abs(idle.AvgWatts-40) > 1e-9 || idle.WindowSeconds != idleTime.Seconds() {
		t.Errorf("idle: %+v", idle)
	}
	for _, m := range slices.Concat(dev.Compute, dev.OperationProfiles) {
		e := m.Energy
		if e == nil {
			t.Fatalf("%s %s: no energy", m.Operation, m.Shape)
		}
		each := m.LatencyMS.Mean * 1e-3 // what an execution takes, of which the window holds some
		if math.Abs(e.AvgWatts-40) > 1e-9 || math.Abs(e.Joules/e.Executions/40/each-1) > 0.2 {
			t.Errorf("%s %s: %+v, %g s each", m.Operation, m.Shape, e, each)
		}
		rate := e.OpsPerWatt / 1e9
		if near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-9*want }; !near(e.OpsPerWatt, e.Executions/e.Joules) ||
			!near(e.GFLOPSPerWatt, rate*float64(m.FLOP)) || !near(e.GBpsPerWatt, rate*float64(m.Bytes)) {
			t.Errorf("%s %s, of %d FLOP and %d bytes: %+v", m.Operation, m.Shape, m.FLOP, m.Bytes, e)
		}
	}
}

// A case lasts as long as the meter wants where that is about its time: register peaks and what the summary
// quotes, once, and the operations where the meter is quick.
func TestMeteredCases(t *testing.T) {
	long(t)
	for _, tt := range []struct {
		window                     time.Duration
		peak, headline, operations bool
	}{
		{100 * time.Millisecond, true, true, true},
		{500 * time.Millisecond, true, true, false},
		{2 * time.Second, false, false, false},
	} {
		f := newFake()
		f.watts, f.window = 40, tt.window
		c := fakeCalibrator(f, schema.Default)
		c.Options.Patterns = nil
		c.Runner.Sleep = func(_ context.Context, d time.Duration) { f.now = f.now.Add(d) }
		dev, _, err := c.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		check := func(m schema.Compute, want bool) {
			if has := m.Energy != nil; has != want {
				t.Errorf("window of %v: energy of %s %s: %t, want %t", tt.window, m.Operation, m.Shape, has, want)
			}
		}
		for _, m := range dev.Compute {
			switch shape := c.headlineShape(); {
			case m.Operation == "peak_fma":
				check(m, tt.peak)
			case m.Operation == "matmul" && m.Shape == shape.String():
				check(m, tt.headline)
			}
		}
		for _, m := range dev.OperationProfiles {
			check(m, tt.operations)
		}
	}
}

// The power of the idle device is over the window that passed, which may be longer; without a
// window, and of a counter that stands still, there is none, and a reason.
func TestIdlePower(t *testing.T) {
	for _, test := range []struct {
		window time.Duration
		stuck  bool
		want   *schema.Idle
	}{
		{2 * idleTime, false, &schema.Idle{WindowSeconds: 2, Meters: []string{"package-0"}, AvgWatts: 40, Celsius: 50}},
		{2 * idleTime, true, nil},
		{0, false, nil},
	} {
		f := newFake()
		f.watts, f.stuck = 40, test.stuck
		c := fakeCalibrator(f, schema.Quick)
		c.Runner.Sleep = func(context.Context, time.Duration) { f.now = f.now.Add(test.window) }
		err := c.measureIdle(context.Background())
		if (err == nil) != (test.want != nil) || err != nil && !errors.Is(err, ErrUnsupported) {
			t.Errorf("over %v, stuck %t: %v", test.window, test.stuck, err)
		}
		if diff := cmp.Diff(test.want, c.Device.Power.Idle); diff != "" {
			t.Errorf("over %v, stuck %t (-want +got):\n%s", test.window, test.stuck, diff)
		}
	}
}

// A counter that stands still gives no figure, and the profile says why.
func TestStuckMeter(t *testing.T) {
	long(t)
	f := newFake()
	f.watts, f.stuck = 40, true
	c := fakeCalibrator(f, schema.Quick)
	c.Options.Patterns = nil
	c.Runner.Sleep = func(_ context.Context, d time.Duration) { f.now = f.now.Add(d) }
	dev, warnings, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(dev.Unavailable, func(u schema.Unavailable) bool { return u.What == "idle power" })
	if dev.Power.Idle != nil || at < 0 || dev.Unavailable[at].Reason != "package-0 counted 0 J in 1s: unsupported" {
		t.Errorf("idle: %+v, unavailable: %v", dev.Power.Idle, dev.Unavailable)
	}
	if slices.ContainsFunc(warnings, func(w schema.Warning) bool { return w.Code == schema.Failed }) {
		t.Errorf("warnings: %v", warnings)
	}
}

func TestInterruptEndsCalibration(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	f := newFake()
	c := fakeCalibrator(f, schema.Quick)
	c.Options.Observe = func(p Progress) {
		if p.Step == 3 {
			cancel()
		}
	}
	if _, _, err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want canceled", err)
	}
}

// Rates that cannot be true are flagged and not quoted.
func TestImplausiblePeakIsNotQuoted(t *testing.T) {
	long(t)
	f := newFake()
	f.clock = func(int) float64 { return 1000 } // a third of what the rates need
	dev, warnings, err := fakeCalibrator(f, schema.Quick).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(dev.Summary.PeakGFLOPS) != 0 {
		t.Errorf("summary quotes %v", dev.Summary.PeakGFLOPS)
	}
	for _, e := range dev.Compute {
		if e.Efficiency != 0 {
			t.Errorf("%s %s %s: %g of a peak that cannot be true", e.Operation, e.DType, e.Shape, e.Efficiency)
		}
	}
	if len(warnings) == 0 || warnings[0].Code != schema.Implausible {
		t.Errorf("warnings %v", warnings)
	}
}

// Nor is anything held against one that was measured behind it, as where the first try failed.
func TestImplausiblePeakBoundsNothing(t *testing.T) {
	f := newFake()
	f.clock = func(int) float64 { return 1000 }
	f.fails = 1
	c := fakeCalibrator(f, schema.Quick)
	c.Options.DTypes, c.Options.Threads, c.Options.Patterns, c.Options.Operations = []schema.DType{schema.FP64}, 1, nil, nil
	dev, _, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if c.computed[0].operation != "peak_fma" || !slices.Contains(c.computed[0].Warnings, schema.Implausible) {
		t.Fatalf("%s: %v", c.computed[0].operation, c.computed[0].Warnings)
	}
	for _, e := range dev.Compute {
		if e.Efficiency != 0 {
			t.Errorf("%s %s: %g of a peak that cannot be true", e.Operation, e.Shape, e.Efficiency)
		}
	}
}

// A pair that is faster than the register peak, which a neighbour slowed down, is flagged.
func TestPairAbovePeak(t *testing.T) {
	long(t)
	for factor, want := range map[float64]bool{1: false, 4: true} {
		f := newFake()
		f.slower = map[string]float64{"peak_fma": factor}
		c := fakeCalibrator(f, schema.Quick)
		c.Options.Patterns, c.Options.DTypes = named("Linear_Bias"), []schema.DType{schema.FP32}
		dev, warnings, err := c.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(warnings, func(w schema.Warning) bool {
			return w.Code == schema.Implausible && w.Path == "/fusion_profiles/0"
		})
		if flagged := slices.Contains(dev.FusionProfiles[0].Warnings, schema.Implausible); flagged != want || told != want {
			t.Errorf("peak slower by %g: flagged %t, told %t", factor, flagged, told)
		}
	}
}

// A convolution may pass the register peak by what it leaves out of the padding.
func TestPaddingIsNotBounded(t *testing.T) {
	for padding, want := range map[int64]bool{0: true, 180: false} {
		c := fakeCalibrator(newFake(), schema.Quick)
		c.computed = []computed{{
			operation: "peak_fma", dtype: schema.FP32, place: Place{Threads: 1}, flop: 100e9, Measurement: Measurement{Seconds: []float64{1}},
		}}
		c.Device.FusionProfiles = []schema.Fusion{{DType: schema.FP32, Threads: 1, FLOP: 1000, PaddingFLOP: padding, UnfusedGFLOPS: 110, FusedGFLOPS: 122}}
		c.boundFusion()
		if got := slices.Contains(c.Device.FusionProfiles[0].Warnings, schema.Implausible); got != want {
			t.Errorf("%d of 1000 FLOP on padding: flagged %t, want %t", padding, got, want)
		}
	}
}

// An outer level that is faster than an inner one is flagged, whichever was
// measured first, and no bound for the levels behind it.
func TestOrderOfLevels(t *testing.T) {
	entry := func(level schema.Level, pattern string, gbps float64) schema.Bandwidth {
		return schema.Bandwidth{Level: level, Pattern: pattern, Threads: 1, GBps: schema.Stat{Best: gbps}}
	}
	c := fakeCalibrator(newFake(), schema.Quick)
	c.levels = claimedLevels(*c.Device.CPU)
	c.Device.Bandwidth = []schema.Bandwidth{
		entry(schema.DRAM, "copy", 12), entry(schema.L2, "copy", 450), entry(schema.L1, "copy", 400),
		entry(schema.L3, "copy", 410), entry(schema.L1, "copy_nt", 10), entry(schema.DRAM, "copy_nt", 20),
		entry(schema.L2, "read", 300), entry(schema.L3, "read", 310),
	}
	c.orderBandwidth()
	var flagged []int
	for i, e := range c.Device.Bandwidth {
		if slices.Contains(e.Warnings, schema.Implausible) {
			flagged = append(flagged, i)
		}
	}
	// L2 copy is above L1; L3 copy is above the best that is left of L2, 300.
	if want := []int{1, 3}; !slices.Equal(flagged, want) {
		t.Errorf("flagged %v, want %v: %+v", flagged, want, c.warnings)
	}
}

// Compute is measured on one thread, on all, and within each class of cores where
// there are several; a place that is one of them already is not repeated.
func TestPlaces(t *testing.T) {
	c := fakeCalibrator(newFake(), schema.Quick)
	if got, want := c.places(), []Place{{Threads: 1}, {Threads: 2}}; !slices.Equal(got, want) {
		t.Errorf("two like cores: %v, want %v", got, want)
	}
	c.Options.Threads = 6
	c.Device.CPU.UsedCPUs = []int{0, 2, 4, 5, 6, 7}
	c.Device.CPU.CoreClasses = []schema.CoreClass{{Name: "P", CPUs: []int{0, 1, 2, 3}}, {Name: "E", CPUs: []int{4, 5, 6, 7}}, {Name: "unused", CPUs: []int{8, 9}}}
	want := []Place{{Threads: 1}, {Threads: 6}, {Threads: 1, Class: "P"}, {Threads: 2, Class: "P"}, {Threads: 1, Class: "E"}, {Threads: 4, Class: "E"}}
	if got := c.places(); !slices.Equal(got, want) {
		t.Errorf("P and E cores: %v, want %v", got, want)
	}
	c.Device.CPU.CoreClasses = nil
	c.Options.Threads = 1
	if got, want := c.places(), []Place{{Threads: 1}}; !slices.Equal(got, want) {
		t.Errorf("one core: %v, want %v", got, want)
	}
}

// The time left follows the pace so far. The scripted machine is without noise, and
// decides each pair at the first look, after an eighth of the blocks: still no more than
// three times what it then takes is told, after a quarter of the steps and until little
// is left.
func TestTimeLeft(t *testing.T) {
	long(t)
	for _, mode := range []schema.Mode{schema.Default, schema.Full} {
		f := newFake()
		c := fakeCalibrator(f, mode)
		c.Options.DTypes = []schema.DType{schema.FP32}
		c.Options.Patterns = named("Linear_Bias", "Softmax_Mask") // cheap to verify
		type told struct {
			at   time.Time
			left time.Duration
		}
		var all []told
		c.Options.Observe = func(p Progress) { all = append(all, told{f.now, p.Left}) }
		if _, _, err := c.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i, p := range all {
			if took := f.now.Sub(p.at); i > len(all)/4 && took > 10*time.Second && (p.left > 3*took || took > 3*p.left) {
				t.Errorf("%s, step %d of %d: %v left, but it takes %v", mode, i, len(all), p.left, took)
			}
		}
	}
}

// Where there is no time for all, extra steps take what the others leave; elsewhere all share it.
func TestScale(t *testing.T) {
	steps := []step{{cost: 10 * time.Second, least: 2 * time.Second}, {cost: 10 * time.Second, least: 2 * time.Second}, {cost: 20 * time.Second, extra: true}}
	for _, c := range []struct {
		mode schema.Mode
		kind schema.Kind
		from int
		left time.Duration
		want float64
	}{
		{schema.Default, schema.CPU, 0, 12 * time.Second, 0.5},
		{schema.Default, schema.CPU, 0, time.Hour, 1},
		{schema.Default, schema.CPU, 0, time.Second, minScale},
		{schema.Default, schema.CPU, 2, 12 * time.Second, 0.6},
		{schema.Full, schema.CPU, 0, 22 * time.Second, 0.5},
		{schema.Default, schema.GPU, 0, 22 * time.Second, 0.5},
	} {
		calibrator := Calibrator{Device: schema.Device{Kind: c.kind}, Options: Options{Mode: c.mode}}
		if got := calibrator.scaleOf(steps[c.from:], c.left); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s run of a %s, %v left: %g, want %g", c.mode, c.kind, c.left, got, c.want)
		}
	}
}

// A full run on a machine too slow for all of it has what a default run has, cold caches and one thread among it.
func TestFullRunBeginsWithWhatMatters(t *testing.T) {
	c := fakeCalibrator(newFake(), schema.Full)
	labels := map[string]int{}
	for i, s := range c.plan() {
		labels[s.label] = i
	}
	at := func(label string) int {
		i, ok := labels[label]
		if !ok {
			t.Fatalf("no step %q", label)
		}
		return i
	}
	last := 0
	for _, way := range []string{"2 threads, cold", "1 thread, warm", "1 thread, cold"} {
		last = max(last, at("Linear_Bias fp32 m=128 n=1024 k=1024, "+way))
	}
	if other := at("Linear_Bias fp32 m=1 n=4096 k=11008, 2 threads, warm"); other < last {
		t.Errorf("a shape that is not typical is step %d, before a way of one that is, %d", other, last)
	}
	named := 0
	for _, p := range c.Options.Operations {
		named = max(named, at(caseLabel(p.Name, schema.FP32, p.Shapes(schema.Default)[0], c.all())))
	}
	for _, p := range c.Options.Operations {
		if shapes := p.Shapes(schema.Full); len(shapes) > namedShapes {
			if i := at(caseLabel(p.Name, schema.FP32, shapes[namedShapes], c.all())); i < named {
				t.Errorf("the sweep of %s begins at step %d, before a size that every run has, %d", p.Name, i, named)
			}
		}
	}
}
