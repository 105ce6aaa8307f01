//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"hwcal/bench"
	"hwcal/schema"
)

// onDevice runs a test on a device, and on the emulation, so that tests are tested where there is
// no device.
func onDevice(t *testing.T, test func(t *testing.T, b *Backend)) {
	t.Run("emulated", func(t *testing.T) { test(t, newEmulated(t, Capability{8, 0})) })
	t.Run("device", func(t *testing.T) { test(t, newDevice(t)) })
}

// newDevice opens the device that HWCAL_GPU names by its UUID, or the first one of the driver. If
// there is none, the test is skipped, unless that variable says `first`.
func newDevice(t *testing.T) *Backend {
	t.Helper()
	uuid := os.Getenv("HWCAL_GPU")
	if uuid == "" || uuid == "first" {
		first, err := firstDevice()
		if err != nil && uuid == "" {
			t.Skipf("nothing was run on a device: %v", err)
		}
		check(t, err)
		uuid = first
	}
	check(t, keepContext(uuid))
	meter := schema.PowerMeter{Name: "GPU", Readable: true}
	b, err := Open(schema.Device{GPU: &schema.GPUInfo{UUID: uuid}, Power: schema.Power{Meters: []schema.PowerMeter{meter}}})
	check(t, err)
	t.Cleanup(func() { check(t, b.Close()) })
	if !b.capability.AtLeast(8, 0) {
		t.Skipf("nothing was run on a device: the kernels are for compute capability 8.0 and newer, this has %s", b.capability)
	}
	b.compiler = compiled{b.compiler}
	return b
}

var kept sync.Map // of errors by UUID

// keepContext opens the device once more, until the process ends: else the first test would destroy its primary
// context, and with it what libraries, which stay loaded, have in it for the next.
func keepContext(uuid string) error {
	err, _ := kept.LoadOrStore(uuid, sync.OnceValue(func() error {
		d, err := newDriver()
		if err == nil {
			_, err = d.Open(uuid)
		}
		return err
	}))
	return err.(func() error)()
}

// firstDevice is the UUID of the first device that the driver shows.
func firstDevice() (string, error) {
	d, err := newDriver()
	if err != nil {
		return "", err
	}
	all, err := d.Devices()
	if err == nil && len(all) == 0 {
		err = errors.New("the driver shows none")
	}
	if err != nil {
		return "", err
	}
	return "GPU-" + all[0], nil
}

// compiled keeps what was compiled for all tests, as a unit takes seconds.
type compiled struct{ Compiler }

var images sync.Map // of functions by unit

func (c compiled) Compile(u Unit, capability Capability) ([]byte, error) {
	once, _ := images.LoadOrStore(u, sync.OnceValues(func() ([]byte, error) { return c.Compiler.Compile(u, capability) }))
	return once.(func() ([]byte, error))()
}

func TestDeviceDescription(t *testing.T) {
	onDevice(t, func(t *testing.T, b *Backend) {
		free := must[int64](t)(b.context.Memory())
		t.Logf("compute capability %s, %d SMs, %d bytes of L2, %d bytes free", b.capability, b.sms, b.l2, free)
		t.Logf("found %v", b.Libraries())
		for _, name := range slices.Sorted(maps.Keys(b.lacking)) {
			t.Logf("no %s: %s", name, b.lacking[name])
		}
		if b.sms <= 0 || b.l2 <= 0 || free <= 0 {
			t.Error("want more than 0 of each")
		}
	})
}

// Libraries that are there are found and used: HWCAL_WHEELS names the folders of NVIDIA's wheels, which have all.
func TestDeviceLibraries(t *testing.T) {
	wheels := os.Getenv("HWCAL_WHEELS")
	if wheels == "" {
		t.Skip("HWCAL_WHEELS names none")
	}
	b := newDevice(t)
	for _, name := range []string{"cublaslt", "cudnn", "nvrtc"} {
		if why := b.lacking[name]; why != "" {
			t.Errorf("no %s, which is in %s: %s", name, wheels, why)
		}
	}
}

// Every unit compiles and is loaded. First, and at once, as other tests wait for it.
func TestDeviceUnits(t *testing.T) {
	b := newDevice(t)
	units := Units(t, b.capability)
	t.Run("compile", func(t *testing.T) {
		for _, u := range units {
			t.Run(u.String(), func(t *testing.T) {
				t.Parallel()
				if _, err := b.compiler.Compile(u, b.capability); err != nil {
					t.Errorf("%s: %v", b.compiler.Name(), err)
				}
			})
		}
	})
	for _, u := range units {
		if image, err := b.compiler.Compile(u, b.capability); err == nil {
			if _, err := b.context.Load(image); err != nil {
				t.Errorf("unit %s: %v", u, err)
			}
		}
	}
}

func TestDeviceMemory(t *testing.T) {
	onDevice(t, func(t *testing.T, b *Backend) {
		const n = 1<<20 + 3
		c := b.context
		want := make([]byte, n)
		for i := range want {
			want[i] = byte(i * i >> 3)
		}
		x, y := must[Address](t)(c.Alloc(n)), must[Address](t)(c.Alloc(n))
		host, h, err := c.AllocHost(n)
		check(t, err)
		check(t, c.Upload(x, want))
		check(t, c.Set(y, 0xa5, n))
		check(t, c.Copy(y+1, x, n-2))
		check(t, c.Copy(h, y, n))
		got := make([]byte, n)
		check(t, c.Download(got, y))
		if got[0] != 0xa5 || !bytes.Equal(got[1:n-1], want[:n-2]) || got[n-1] != 0xa5 {
			t.Error("a copy within the device moved something else")
		}
		if !bytes.Equal(host, got) {
			t.Error("a copy to the host moved something else")
		}
		host[n-1] = 0x5a
		check(t, c.Copy(x, h, n))
		check(t, c.Download(got, x))
		if !bytes.Equal(got, host) {
			t.Error("a copy from the host moved something else")
		}
		check(t, c.FreeHost(h))
		check(t, c.Free(x))
		check(t, c.Free(y))
	})
}

// Events happen in the order of the stream, and the times between them add up.
func TestDeviceEvents(t *testing.T) {
	onDevice(t, func(t *testing.T, b *Backend) {
		const n = 16 << 20
		c := b.context
		x := must[Address](t)(c.Alloc(n))
		events := must[[]Event](t)(b.eventsFor(3))
		check(t, c.Record(events[0]))
		for _, e := range events[1:] {
			check(t, c.Set(x, 1, n))
			check(t, c.Record(e))
		}
		check(t, c.Synchronize())
		first := must[time.Duration](t)(c.Elapsed(events[0], events[1]))
		second := must[time.Duration](t)(c.Elapsed(events[1], events[2]))
		both := must[time.Duration](t)(c.Elapsed(events[0], events[2]))
		if first <= 0 || second <= 0 || (both-first-second).Abs() > 5*time.Microsecond {
			t.Errorf("%v and %v, together %v", first, second, both)
		}
		check(t, c.Free(x))
	})
}

// A graph is executed when it is replayed, each time, and not when it is captured.
func TestDeviceGraphs(t *testing.T) {
	onDevice(t, func(t *testing.T, b *Backend) {
		const n = 1000
		c := b.context
		x, y := must[Address](t)(c.Alloc(n)), must[Address](t)(c.Alloc(n))
		expect := func(when string, want byte) {
			t.Helper()
			got := make([]byte, n)
			check(t, c.Download(got, y))
			if !bytes.Equal(got, bytes.Repeat([]byte{want}, n)) {
				t.Errorf("%s: % x ..., want %x", when, got[:4], want)
			}
		}
		failure := errors.New("inside")
		if _, err := c.Capture(func() error { return failure }); !errors.Is(err, failure) {
			t.Errorf("a capture that fails: %v", err)
		}
		check(t, c.Set(y, 0, n))
		g := must[Graph](t)(c.Capture(func() error {
			return errors.Join(c.Set(x, 7, n), c.Copy(y, x, n))
		}))
		expect("captured", 0)
		for range 2 {
			check(t, c.Set(y, 0, n))
			check(t, c.Replay(g))
			expect("replayed", 7)
		}
		check(t, c.FreeGraph(g))
		check(t, c.Free(x))
		check(t, c.Free(y))
	})
}

// What the device refuses is told for what it is, and the context works on.
func TestDeviceErrors(t *testing.T) {
	onDevice(t, func(t *testing.T, b *Backend) {
		c := b.context
		if _, err := c.Alloc(1 << 50); !errors.Is(err, bench.ErrMemory) {
			t.Errorf("out of memory: %v", err)
		}
		f, err := b.function(Unit{Source: "empty"}, "empty")
		check(t, err)
		if _, err := b.function(Unit{Source: "empty"}, "nothing"); codeOf(err) != 500 {
			t.Errorf("no function: %v, want CUDA_ERROR_NOT_FOUND (500)", err)
		}
		_, err = c.Load([]byte(".version 7.0\n.target sm_80\n.address_size 64\nno instruction;\n"))
		if e := (*Error)(nil); err == nil || errors.As(err, &e) && e.Log == "" {
			t.Errorf("PTX that is none: %v, want the log of the compilation", err)
		}
		if err := c.Launch(f, Grid{Threads: [3]int{2048}}); err == nil || errors.Is(err, bench.ErrLost) {
			t.Errorf("a block of 2048 threads: %v", err)
		}
		if _, err := b.Open(bench.Case{Chain: bench.Chain{bench.ReLU(matrix("X", 1<<24, 1<<24))}, DType: schema.FP32}); !errors.Is(err, bench.ErrMemory) {
			t.Errorf("a case that is too large: %v", err)
		}
		check(t, c.Launch(f, Grid{}))
		check(t, c.Synchronize())
	})
}

// codeOf a failed call of the driver; 0 for other errors.
func codeOf(err error) int {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// A device at rest takes a moment to reach its clock.
func TestDeviceClock(t *testing.T) {
	onDevice(t, func(t *testing.T, b *Backend) {
		best := 0.0
		for range 50 {
			best = max(best, must[float64](t)(b.Clock(bench.Place{}, false)))
		}
		t.Logf("%.0f MHz", best)
		if best < 300 || best > 4000 {
			t.Errorf("a clock of %g MHz", best)
		}
	})
}

// Poisoned elements are NaN, those beside them stay.
func TestDevicePoison(t *testing.T) {
	onDevice(t, func(t *testing.T, b *Backend) {
		for _, d := range floats {
			c := bench.Chain{bench.ReLU(matrix("X", 5, 7))}
			ws := must[bench.Workspace](t)(b.Open(bench.Case{Chain: c, DType: d, Seed: 7}))
			poisoned := []int64{0, 3, 4, 34}
			check(t, ws.Poison(c.Output(), poisoned))
			got := make([]float64, 35)
			check(t, ws.Read(c.Output(), 0, got))
			for i, v := range got {
				if math.IsNaN(v) != slices.Contains(poisoned, int64(i)) || !math.IsNaN(v) && v != 0 {
					t.Errorf("%s: [%d] = %g", d, i, v)
				}
			}
			check(t, ws.Close())
		}
	})
}

// Before a cold run twice the L2 is read, and the run computes the same.
func TestDeviceCold(t *testing.T) {
	onDevice(t, func(t *testing.T, b *Backend) {
		check(t, b.flush())
		sums, parts := b.flushed+Address(2*b.l2), bench.Place{}.Parts()
		check(t, b.context.Set(sums, 0xff, 8*int64(parts)))
		c := bench.Chain{bench.Scale(matrix("X", 64, 64), 3)}
		ws := must[bench.Workspace](t)(b.Open(bench.Case{Chain: c, DType: schema.FP32, Seed: 7}))
		kernels := []bench.Kernel{must[bench.Kernel](t)(ws.Bind(c))}
		times := must[[]time.Duration](t)(ws.Samples([]bench.Run{{Kernels: kernels, N: 1}, {Kernels: kernels, N: 1, Cold: true}}))
		t.Logf("warm %v, cold %v", times[0], times[1])
		if times[0] <= 0 || times[1] <= 0 {
			t.Error("a run took no time")
		}
		mem := make([]byte, 8*parts)
		check(t, b.context.Download(mem, sums))
		for part := range parts {
			if math.IsNaN(math.Float64frombits(binary.NativeEndian.Uint64(mem[8*part:]))) {
				t.Fatalf("part %d of twice the L2 (%d) was not read", part, b.l2)
			}
		}
		x, y := make([]float64, 64*64), make([]float64, 64*64)
		check(t, errors.Join(ws.Read(c[0].In[0], 0, x), ws.Read(c.Output(), 0, y)))
		for i := range x {
			if y[i] != float64(float32(x[i]*3)) {
				t.Fatalf("[%d] = %g, want 3 x %g", i, y[i], x[i])
			}
		}
		check(t, ws.Close())
	})
}

// A graph spares the device what launching costs, so that it cannot take much longer than launches do.
func TestDeviceLaunchCost(t *testing.T) {
	onDevice(t, func(t *testing.T, b *Backend) {
		const launches = 200
		best := map[bool]time.Duration{}
		for _, graph := range []bool{false, true} {
			c := emptyChain()
			ws := must[bench.Workspace](t)(b.Open(bench.Case{Chain: c, DType: schema.FP32, Graph: graph}))
			kernels := []bench.Kernel{must[bench.Kernel](t)(ws.Bind(c))}
			best[graph] = time.Hour
			for range 20 {
				best[graph] = min(best[graph], must[time.Duration](t)(bench.Sample(ws, kernels, launches)))
			}
			check(t, ws.Close())
		}
		t.Logf("a launch takes %v, within a graph %v", best[false]/launches, best[true]/launches)
		if best[true] > 2*best[false] {
			t.Error("a graph takes more than twice as long as launches")
		}
	})
}

// mostFLOP are those of a cycle and SM that no chip exceeds so far: of vector units 128 lanes x 2, of
// tensor cores those of Hopper in fp64 and of Blackwell in the others, dense (NVIDIA's H100 and Blackwell architecture
// papers).
var mostFLOP = map[schema.DType]float64{
	schema.FP64: 256, schema.FP32: 256, schema.TF32: 4096, schema.FP16: 8192, schema.BF16: 8192, schema.FP8: 16384, schema.INT8: 16384,
}

// No unit does more than it can: then the compiler would have left something out.
func TestDevicePeakBounds(t *testing.T) {
	onDevice(t, func(t *testing.T, b *Backend) {
		for _, k := range b.Kernels() {
			if k.Chain != "peak_fma" {
				continue
			}
			var took time.Duration
			var mhz float64
			rounds := int64(1)
			for ; took < time.Millisecond; rounds *= 2 {
				must[float64](t)(b.Clock(bench.Place{}, true))
				c := bench.Chain{bench.PeakFMA(rounds, 1)}
				ws := must[bench.Workspace](t)(b.Open(bench.Case{Chain: c, DType: k.DType, Unit: k.Implementation, Seed: 7}))
				took = must[time.Duration](t)(bench.Sample(ws, []bench.Kernel{must[bench.Kernel](t)(ws.Bind(c))}, 1))
				mhz = must[float64](t)(b.Clock(bench.Place{}, false)) // of the sample alone
				check(t, ws.Close())
			}
			flop := bench.PeakFMA(rounds/2, 1).FLOP
			perCycle := float64(flop) / took.Seconds() / (mhz * 1e6 * float64(b.sms))
			t.Logf("%s on %s: %.4g GFLOPS, %.4g FLOP a cycle and SM at %.0f MHz", k.DType, k.Implementation, float64(flop)/took.Seconds()/1e9, perCycle, mhz)
			if perCycle > 1.1*mostFLOP[k.DType] {
				t.Errorf("%s on %s: %.4g FLOP a cycle and SM, no chip has more than %g", k.DType, k.Implementation, perCycle, mostFLOP[k.DType])
			}
		}
	})
}

func TestDeviceMeter(t *testing.T) {
	b := newDevice(t)
	if b.watcher == nil {
		t.Skip("no NVML: ", b.lacking["nvml"])
	}
	const window = time.Second // twice what the counter needs
	observe, m := b.Watch(bench.Place{}), b.Meter()
	time.Sleep(window)
	t.Logf("observed %+v", observe())
	e, ok := m.Stop()
	t.Logf("%+v", e)
	if watts := e.Joules / window.Seconds(); !ok || watts < 1 || watts > 3000 {
		t.Errorf("%g watts at rest, %t", watts, ok)
	}
}

// kernelTests compare kernels with the float64 reference. The emulation has a test of each.
var kernelTests = []struct {
	name   string
	verify func(t *testing.T, b *Backend)
}{
	{"streams", verifyStreams}, {"chase", verifyChase}, {"transfers", verifyTransfers}, {"empty", verifyEmpty},
	{"peaks", func(t *testing.T, b *Backend) { verifyPeaks(t, b) }},
	{"elementwise", verifyElementwise}, {"images", verifyImages}, {"moves", verifyMoves}, {"pools", verifyPool}, {"networks", verifyNetworks}, {"reduce", verifyReduce}, {"rows", verifyRows}, {"causal rows", verifyCausalRows},
	{"gemm", verifyGemm}, {"linear", verifyLinear}, {"layers", verifyLayers}, {"products again", verifyProductsAgain},
	{"wide", func(t *testing.T, b *Backend) {
		if b.capability != hopper {
			t.Skip("a Hopper has wide tiles, not a device of compute capability ", b.capability)
		}
		verifyWide(t, b)
	}},
	{"conv", verifyConv}, {"separable conv", verifySeparableConv},
	{"attention", func(t *testing.T, b *Backend) {
		for _, d := range floats {
			verifyAttention(t, b, d)
			verifyDividedAttention(t, b, d)
		}
	}},
	{"aligned", func(t *testing.T, b *Backend) { verifyAligned(t, b, schema.DTypes()...) }},
}

// Every chain agrees with the float64 reference in every type by each provider: by the best
// one of each, then, where it was used, without the first, until there are our kernels alone; and these as
// a device with a single SM divides the work, which gives small shapes the large tiles.
func TestDeviceKernels(t *testing.T) {
	b := newDevice(t)
	bound := recordBindings(t)
	sms, libraries := b.sms, b.libraries
	t.Cleanup(func() { b.sms, b.libraries = sms, libraries })
	used := map[string][]provider{} // by the test, its last time
	verify := func(name string, first provider) {
		t.Run(name, func(t *testing.T) {
			for _, k := range kernelTests {
				missing := func(p provider) bool { return p < first }
				if before := used[k.name]; before != nil && !slices.ContainsFunc(before, missing) {
					continue // nothing would change
				}
				t.Run(k.name, func(t *testing.T) {
					clear(bound.by)
					k.verify(t, b)
					used[k.name] = slices.AppendSeq([]provider{}, maps.Keys(bound.by))
				})
			}
		})
	}
	for first := cuDNN; first <= own; first++ {
		if b.libraries = libraries; b.has(first) {
			b.libraries = maps.Clone(libraries)
			maps.DeleteFunc(b.libraries, func(p provider, _ library) bool { return p < first })
			verify(first.String(), first)
		}
	}
	b.sms = 1
	clear(used)
	verify("1 SM", own)

	b.libraries = libraries
	for chain := range entries {
		for _, d := range schema.DTypes() {
			for _, e := range b.usable(chain, d) {
				if what := bindingName(chain, d, e); !bound.all[what] && e.provider == own {
					t.Errorf("%s was not verified", what)
				} else if !bound.all[what] {
					t.Logf("%s was not verified: no shape suits it", what)
				}
			}
		}
	}
}

func bindingName(chain string, d schema.DType, e entry) string {
	return fmt.Sprintf("%s in %s by %s %s", chain, d, e.provider, e.unit)
}

// bindings are the kernels that were bound, and who provided them.
type bindings struct {
	all map[string]bool
	by  map[provider]bool
}

// recordBindings notes which kernels are bound until the test ends.
func recordBindings(t *testing.T) bindings {
	bound := bindings{map[string]bool{}, map[provider]bool{}}
	for chain, es := range entries {
		plain := slices.Clone(es)
		for i, e := range plain {
			es[i].bind = func(ws *workspace, c bench.Chain) (*kernel, error) {
				k, err := e.bind(ws, c)
				if err == nil {
					bound.all[bindingName(chain, ws.dtype, e)], bound.by[e.provider] = true, true
				}
				return k, err
			}
		}
		t.Cleanup(func() { copy(es, plain) })
	}
	return bound
}

// entryName finds the kernels of PTX.
var entryName = regexp.MustCompile(`\.visible \.entry (\w+)\(`)

// The driver compiles PTX of the binary, and products in it are right. It takes minutes for all that there is: these are
// the units with most instructions of their own, in one type.
func TestDevicePrebuilt(t *testing.T) {
	b := newDevice(t)
	p := must[prebuilt](t)(newPrebuilt())
	libraries := b.libraries
	t.Cleanup(func() { b.libraries = libraries })
	b.compiler, b.modules, b.libraries = p, map[Unit]loaded{}, nil
	for _, u := range Units(t, b.capability) {
		if u.DType != schema.BF16 || !slices.Contains([]string{"gemm", "rows", "attention", "peak", "peak_wgmma"}, u.Source) {
			continue
		}
		ptx, err := p.Compile(u, b.capability)
		check(t, err)
		for _, name := range entryName.FindAllSubmatch(ptx, -1) {
			if _, err := b.function(u, string(name[1])); err != nil {
				t.Error(err)
			}
		}
	}
	verifyAligned(t, b, schema.BF16)
}
