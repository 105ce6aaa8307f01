package bench

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"hwcal/schema"
)

// hopperPeaks are those of an H100 SXM, in GFLOPS.
var hopperPeaks = map[schema.DType]float64{
	schema.FP64: 66_900, schema.FP32: 66_900, schema.TF32: 494_700, schema.FP16: 989_400, schema.BF16: 989_400, schema.FP8: 1_978_900, schema.INT8: 1_978_900,
}

// hopperKernels are those of such a device: all in real types, matmul in int8 and fp8, and in int8 what is quantized.
func hopperKernels() []KernelInfo {
	var all []KernelInfo
	for d := range hopperPeaks {
		for _, unit := range []string{"wgmma", "mma"} {
			all = append(all, KernelInfo{"peak_fma", d, unit})
		}
		for _, p := range slices.Concat(Patterns(), Operations()) {
			real := d != schema.INT8 && d != schema.FP8
			if !real && !strings.HasPrefix(p.Name, "matmul") && (d != schema.INT8 || p.Quantized == nil) || p.Name == "peak_fma" {
				continue
			}
			chain, err := p.In(d).Build(p.Shapes(schema.Full)[0], Place{})
			if err != nil {
				panic(err)
			}
			for _, name := range append(chain.Names(), chain.String()) {
				all = append(all, KernelInfo{name, d, "own"})
			}
		}
	}
	return all
}

// A default run of a GPU that has all types comes to the end of its plan if steps take their usual time, cut to what
// is left.
func TestDefaultRunOfGPU(t *testing.T) {
	f := newFake()
	f.kernels = hopperKernels()
	c := fakeCalibrator(f, schema.Default)
	fakeGPU(c)
	c.Options.DTypes, c.Options.Patterns, c.Options.Operations = schema.DTypes(), Patterns(), Singles()
	c.Options.Budget = 114 * time.Second
	c.Device.Theoretical.PeakGFLOPS = map[schema.DType]schema.Peak{}
	for d, gflops := range hopperPeaks {
		c.Device.Theoretical.PeakGFLOPS[d] = schema.Peak{Value: gflops}
	}
	c.Device.Theoretical.BandwidthGBps = &schema.Peak{Value: 3352}
	steps := c.plan()
	for i, s := range steps {
		if s.usual == 0 {
			s.usual = s.cost
		}
		steps[i].run = func(_ context.Context, scale float64) error {
			f.now = f.now.Add(s.least + time.Duration(scale*float64(s.usual-s.least)))
			return nil
		}
	}
	dev, _, err := c.run(context.Background(), steps)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range dev.Unavailable {
		if strings.HasSuffix(u.Reason, ErrBudget.Error()) {
			t.Errorf("%s: %s", u.What, u.Reason)
		}
	}
	for _, want := range []string{"Full_Attention fp16", "Causal_Attention bf16", "BERT_Encoder bf16", "ResNet50 bf16", "matmul fp8_e4m3 m=8192", "softmax bf16"} {
		if !slices.ContainsFunc(steps, func(s step) bool { return strings.HasPrefix(s.label, want) }) {
			t.Errorf("no step %s", want)
		}
	}
}

// On an H100 a peak takes so long that the microseconds in which a kernel begins and ends are no more than a percent.
func TestDevicePeakOutlastsStart(t *testing.T) {
	const start = 5 * time.Microsecond
	for d, gflops := range hopperPeaks {
		flop := PeakFMA(roundsOf(d, Place{}), int64(Place{}.Parts())).FLOP
		if took := time.Duration(float64(flop) / gflops); took < 100*start {
			t.Errorf("%s: %v", d, took)
		}
	}
}

// A GPU of which nothing runs near its highest clock says so once.
func TestHeldClock(t *testing.T) {
	for rated, want := range map[float64][]string{3000: nil, 3900: nil, 4100: {"throttled /gpu/sm_max_mhz"}} {
		c := fakeCalibrator(newFake(), schema.Quick)
		fakeGPU(c)
		c.Device.GPU.SMMaxMHz = rated
		c.Device.Compute = []schema.Compute{{EffectiveClockMHz: 1500}, {EffectiveClockMHz: 3000}}
		c.flagHeldClock()
		if got := told(c); !slices.Equal(got, want) {
			t.Errorf("3000 of %g MHz: %v, want %v", rated, got, want)
		}
	}
}

// Where a meter counts, but no case ran long enough for it, the profile says so.
func TestEnergyOfNothing(t *testing.T) {
	for _, meters := range [][]schema.PowerMeter{nil, {{Name: "GPU", Readable: true}}} {
		c := fakeCalibrator(newFake(), schema.Quick)
		c.Device.Power.Meters = meters
		says := func() bool {
			had := len(c.Device.Unavailable)
			c.missing()
			return slices.ContainsFunc(c.Device.Unavailable[had:], func(u schema.Unavailable) bool { return u.What == "energy" })
		}
		if got := says(); got != (meters != nil) {
			t.Errorf("%v: energy unavailable %t", meters, got)
		}
		c.Device.OperationProfiles = []schema.Compute{{Energy: &schema.Energy{}}}
		if says() {
			t.Errorf("%v: energy of an operation is unavailable", meters)
		}
	}
}

// Bench measures a case whatever it is held against: neither cases too short for the meter nor a type without a register
// peak are faults of the command.
func TestBenchOfGPULacksNothing(t *testing.T) {
	for _, name := range []string{"Linear_Bias", "softmax", "stream_copy"} {
		for _, none := range []string{"", "peak_fma"} {
			f := newFake()
			c := fakeCalibrator(f, schema.Quick)
			fakeGPU(c)
			f.kernels = slices.DeleteFunc(hopperKernels(), func(k KernelInfo) bool { return k.Chain == none })
			f.none, f.watts, f.window = none, 300, 500*time.Millisecond
			c.Device.Power = schema.Power{Meters: []schema.PowerMeter{{Name: "GPU", Readable: true}}}
			c.Options.DTypes = []schema.DType{schema.BF16}
			p, err := Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			had := len(c.Device.Unavailable)
			var dev schema.Device
			if p.Group == "memory" {
				_, dev, err = c.Levels(context.Background(), p)
			} else {
				shapes := p.Shapes(schema.Quick)[:1]
				p.Shapes = func(schema.Mode) []Shape { return shapes }
				dev, _, err = c.Bench(context.Background(), p, nil)
				if len(dev.FusionProfiles)+len(dev.OperationProfiles) != 1 {
					t.Errorf("%s without %q: not measured", name, none)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range dev.Unavailable[had:] {
				t.Errorf("%s without %q lacks %s: %s", name, none, u.What, u.Reason)
			}
		}
	}
}

// No kernel of a device adds in fp16.
func TestPrecisionOfDevice(t *testing.T) {
	if device, cpu := precisionOf(schema.FP16, Place{}), precisionOf(schema.FP16, Place{Threads: 1}); device.Short != 0 || !(cpu.Short > 0) {
		t.Errorf("of a device %+v, of a CPU %+v", device, cpu)
	}
}

// The scripted link moves 50 GB/s, of what crosses it, and a launch takes 2 us, from a graph 1 us.
func TestLinkAndLaunches(t *testing.T) {
	f := newFake()
	c := fakeCalibrator(f, schema.Quick)
	fakeGPU(c)
	c.deadline = f.now.Add(time.Hour)
	for _, s := range slices.Concat(c.linkSteps(), c.launchSteps()) {
		if err := s.run(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
	}
	near := func(got, want float64) bool { return math.Abs(got/want-1) < 0.01 }
	if n := len(c.Device.Bandwidth); n != 2 {
		t.Errorf("%d ways of the link, want 2", n)
	}
	for _, b := range c.Device.Bandwidth {
		if b.Level != schema.HostLink || b.WorkingSetBytes != linkBytes || !near(b.GBps.Best, 50) {
			t.Errorf("%s: %g GB/s of %d bytes", b.Pattern, b.GBps.Best, b.WorkingSetBytes)
		}
	}
	want := map[schema.LaunchMode]float64{schema.LaunchStream: 2, schema.LaunchGraph: 1}
	for _, l := range c.Device.Launch {
		if !near(l.Microseconds.Best, want[l.Mode]) {
			t.Errorf("%s: %g us, want %g", l.Mode, l.Microseconds.Best, want[l.Mode])
		}
		delete(want, l.Mode)
	}
	if len(want) > 0 {
		t.Errorf("no launches of %v", want)
	}
}
