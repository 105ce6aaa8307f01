package bench

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"hwcal/bench/ref"
	"hwcal/schema"
)

// fake is a backend whose clock is scripted: a kernel takes the time that a
// roofline of round numbers gives it, with noise from a seeded generator. Its
// results are those of the reference, unless it is told to be wrong.
type fake struct {
	now        time.Time
	rng        *rand.Rand
	noise      float64             // relative, one-sided
	taken      float64             // share of the samples during which the host takes a core
	clock      func(n int) float64 // reading n of the effective clock, MHz; 0 if it does not settle
	reads      int
	reasons    []string // of noise
	calm       int      // cases after which there is none; 0 for never
	moves      int      // cases, the next ones, during which the workers move
	apart      int      // cases, the next ones, of workers that are apart
	away       int      // looks at the workers, the next ones, that find them apart
	wrong      string   // chain whose results are wrong
	lazy       string   // chain whose kernel writes nothing
	none       string   // chain that has no kernel
	crashes    string   // chain at which the backend panics
	slower     map[string]float64
	unfair     float64 // factor by which a kernel that is bound again is slower; 0 for none
	kernels    []KernelInfo
	watts      float64       // that its meter counts; 0 for no meter
	stuck      bool          // its meter counts nothing
	window     time.Duration // the least that the meter wants
	last       int           // cases until the device is lost; 0 for never
	opened     int           // workspaces so far
	closed     int
	smallPages bool // whatever is asked for
	fails      int  // the one that cannot be opened; 0 for none

	executions int                               // of the last run
	calls      int                               // of Samples
	held       map[int]time.Duration             // that the first run of a call takes at least
	tick       time.Duration                     // of a coarse clock that tells how long runs took; 0 for none
	pages      func(opened int, c Chain) float64 // factor by which where a workspace lies changes the time; nil for none
}

func newFake() *fake {
	return &fake{
		now:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		rng:   rand.New(rand.NewPCG(1, 1)),
		noise: 0.002,
		clock: func(int) float64 { return 3000 },
	}
}

// The fake machine: 100 GFLOPS in fp64 and 200 in fp32 a thread; caches of 32 KiB,
// 1 MiB and 16 MiB.
func (f *fake) flops(d schema.DType) float64 { return 800e9 / float64(d.Bytes()) }

func (f *fake) bandwidth(bytes, threads float64) float64 {
	switch each := bytes / threads; {
	case each <= 32<<10:
		return 400e9 * threads
	case each <= 1<<20:
		return 100e9 * threads
	case bytes <= 16<<20:
		return 30e9 * threads
	}
	return 12e9 * threads
}

func (f *fake) Now() time.Time { return f.now }

func (f *fake) Clock(_ Place, settled bool) (float64, error) {
	f.now = f.now.Add(200 * time.Microsecond)
	reading := 0
	if settled {
		f.reads++
		reading = f.reads
	}
	mhz := f.clock(reading)
	if mhz == 0 {
		return 0, ErrUnsettled
	}
	return mhz, nil
}

func (f *fake) Watch(Place) func() Observation {
	return func() Observation {
		if f.calm--; f.calm == 0 {
			f.reasons = nil
		}
		o := Noise(f.reasons)
		f.moves, o.Moved = f.moves-1, f.moves > 0
		if f.apart--; f.apart >= 0 {
			o.Disturbances = append(o.Disturbances, Disturbance{schema.WorkersApart, "far away"})
		}
		return o
	}
}

func (f *fake) Apart(Place) bool {
	f.away--
	return f.away >= 0
}

func (f *fake) Meter() Meter {
	if f.watts == 0 {
		return nil
	}
	return &fakeMeter{f, f.now}
}

// fakeMeter counts a constant power.
type fakeMeter struct {
	*fake
	begin time.Time
}

func (m *fakeMeter) Tick() {}

func (m *fakeMeter) LeastWindow() time.Duration { return m.window }

func (m *fakeMeter) Stop() (Energy, bool) {
	window := m.now.Sub(m.begin)
	e := Energy{Window: window, Joules: m.watts * window.Seconds(), Meters: []string{"package-0"}, Celsius: 50}
	if m.stuck {
		e.Joules = 0
	}
	return e, window > 0 && window >= m.window
}

func (f *fake) Limit(d schema.DType, p Place) Limit {
	return Limit{FLOPPerCycle: 512 / float64(d.Bytes()) * float64(p.Threads), BytesPerCycle: 192 * float64(p.Threads)}
}

func (f *fake) Kernels() []KernelInfo { return f.kernels }

func (f *fake) Implementations(string, schema.DType) []string { return []string{"fake"} }

func (f *fake) Unsupported(schema.DType) string { return "" }

func (f *fake) Open(c Case) (Workspace, error) {
	if f.last--; f.last == 0 {
		f.last = 1
		return nil, fmt.Errorf("fake: fell off the bus: %w", ErrLost)
	}
	if f.opened++; f.opened == f.fails {
		return nil, errors.New("fake: no")
	}
	return &fakeWorkspace{f, c, f.opened, map[*Tensor]ref.Field{}, map[string]bool{}}, nil
}

type fakeWorkspace struct {
	*fake
	Case
	at     int // of those opened
	fields map[*Tensor]ref.Field
	bound  map[string]bool
}

type fakeKernel struct {
	chain  Chain
	name   string
	factor float64 // of its time
}

func (k fakeKernel) Implementation() string { return k.name }

func (w *fakeWorkspace) Bind(c Chain) (Kernel, error) {
	if c.String() == w.none {
		return nil, fmt.Errorf("fake: no kernel for %s: %w", c, ErrUnsupported)
	}
	if c.String() == w.crashes {
		panic("fake: no way")
	}
	k := fakeKernel{c, "fake" + w.Unit, 1}
	if w.bound[c.String()] && w.unfair > 0 {
		k.factor = w.unfair
	}
	if w.pages != nil {
		k.factor *= w.pages(w.at, c)
	}
	w.bound[c.String()] = true
	return k, nil
}

func (w *fakeWorkspace) Samples(runs []Run) ([]time.Duration, error) {
	times := make([]time.Duration, len(runs))
	w.calls++
	for i, r := range runs {
		seconds := 0.0
		for _, k := range r.Kernels {
			chain := k.(fakeKernel).chain
			for _, op := range chain {
				if chain.String() != w.lazy {
					w.write(op)
				}
			}
			seconds += k.(fakeKernel).factor * w.seconds(chain)
		}
		seconds *= float64(r.N) * (1 + w.rng.ExpFloat64()*w.fake.noise)
		if w.taken > 0 && w.rng.Float64() < w.taken {
			seconds *= 1.25
		}
		times[i] = time.Duration(math.Ceil(seconds*1e9)) * time.Nanosecond
		if i == 0 {
			times[i] = max(times[i], w.held[w.calls])
		}
		w.now, w.executions = w.now.Add(times[i]), r.N
		if w.tick > 0 {
			times[i] = times[i].Truncate(w.tick)
		}
	}
	return times, nil
}

// seconds of one execution: compute and traffic do not overlap.
func (w *fakeWorkspace) seconds(c Chain) float64 {
	if w.Place.Threads == 0 {
		return w.deviceSeconds(c)
	}
	threads := float64(w.Place.Threads)
	far := 1.0
	if n := w.Place.NUMA; n.Bound && n.Node != n.Memory {
		far = 2
	}
	if p, is := c[0].Params.(ChaseParams); is {
		return far * float64(p.Loads) * 5e-9
	}
	t := float64(c.FLOP()) / w.flops(w.DType) / threads
	bytes := float64(c.FusedBytes(w.DType))
	passes := 1.0
	if p, is := c[0].Params.(StreamParams); is {
		passes = float64(p.Passes)
	}
	if c[0].Name != "peak_fma" {
		t += far * passes * bytes / w.bandwidth(bytes, threads)
	}
	if factor, ok := w.slower[c.String()+w.Unit]; ok {
		t *= factor
	}
	return t
}

// deviceSeconds is that on the fake GPU: 50 TFLOPS in fp32, 40 MiB of L2 at 6 TB/s before 3 TB/s of
// memory, a link of 50 GB/s, 2 us for a launch and 1 us from a graph.
func (w *fakeWorkspace) deviceSeconds(c Chain) float64 {
	t := 2e-6
	if w.Graph {
		t = 1e-6
	}
	if p, is := c[0].Params.(ChaseParams); is {
		return t + float64(p.Loads)*200e-9
	}
	bytes, passes, rate := float64(c.FusedBytes(w.DType)), 1.0, 3e12
	switch {
	case c[0].Name == "host_to_device" || c[0].Name == "device_to_host":
		rate, bytes = 50e9, bytes/2 // what crosses the link is counted once
	case bytes <= 40<<20:
		rate = 6e12
	}
	if p, is := c[0].Params.(StreamParams); is {
		passes = float64(p.Passes)
	}
	if c[0].Name != "peak_fma" {
		t += passes * bytes / rate
	}
	return t + float64(c.FLOP())*float64(w.DType.Bytes())/200e12
}

func (w *fakeWorkspace) Read(t *Tensor, at int64, dst []float64) error {
	f := w.field(t)
	for i := range dst {
		dst[i] = f(at + int64(i)).V
		if w.wrong != "" && w.Chain.String() == w.wrong && t == w.Chain.Output() {
			dst[i] += 1
		}
	}
	return nil
}

// field is a tensor as the reference has it.
func (w *fakeWorkspace) field(t *Tensor) ref.Field {
	if f, ok := w.fields[t]; ok {
		return f
	}
	for i, in := range w.Chain.Inputs() {
		if in == t {
			block := t.Fill.Block(w.Seed, i, t.Elems())
			w.fields[t] = ref.Exact(func(i int64) float64 { return block[i%int64(len(block))] })
			return w.fields[t]
		}
	}
	panic("fake: nothing has written " + t.Name)
}

// write gives a tensor the values that the operation computes.
func (w *fakeWorkspace) write(op Op) {
	if op.Ref == nil {
		return
	}
	in := make([]ref.Field, len(op.In))
	for i, t := range op.In {
		in[i] = w.field(t)
	}
	f, known := op.Ref(in, precisionOf(w.DType, w.Place)), map[int64]ref.Num{}
	w.fields[op.Out] = func(i int64) ref.Num {
		v, ok := known[i]
		if !ok {
			v = f(i)
			known[i] = v
		}
		return v
	}
}

func (w *fakeWorkspace) PageBytes(*Tensor) int64 {
	switch {
	case w.Place.Threads == 0:
		return 0
	case w.SmallPages || w.smallPages:
		return 4 << 10
	}
	return 2 << 20
}

// Poison leaves nothing of a tensor: who asks for some elements reads no others.
func (w *fakeWorkspace) Poison(t *Tensor, _ []int64) error {
	w.fields[t] = ref.Exact(func(int64) float64 { return math.NaN() })
	return nil
}

func (w *fakeWorkspace) Close() error {
	w.closed++
	return nil
}
