package cuda

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"hwcal/bench"
	"hwcal/schema"
)

// Backend runs chains of operations on one GPU.
type Backend struct {
	context    Context
	compiler   Compiler
	capability Capability
	sms        int
	l2         int64 // bytes
	watcher    Watcher

	libraries map[provider]library
	lacking   map[string]string // why a library is not there
	modules   map[Unit]loaded
	events    []Event
	ratedMHz  float64 // the highest clock of the device
	workedMHz float64 // the clock during the case that is watched; 0 before it was asked for
	patience  int     // nanoseconds that a reading of the clock may take to settle
	flushed   Address // buffer of twice the L2 to read before cold runs, then its checksums; 0 until the first
	spinner   Address // result of the kernel that reads the clock; 0 until the first
	laps      Address // cycles and time that each SM counts while samples run; 0 until the first
	lapped    bool    // samples were counted since the settled clock was last asked for
}

// library is an external one that was found.
type library interface {
	// Version of the library, "12.9.1".
	Version() string
	Close() error
}

// loaded is a unit that was compiled and loaded, or why it could not be.
type loaded struct {
	module Module
	err    error
}

// Watcher observes a GPU from outside, through NVML.
type Watcher interface {
	// Watch starts to observe; the returned function says what happened since.
	Watch() func() bench.Observation
	// Meter starts to count energy; nil if the device does not tell it.
	Meter() bench.Meter
	Close() error
}

// New returns the backend of the device of a context. The watcher may be nil.
func New(c Context, compiler Compiler, watcher Watcher) (*Backend, error) {
	b := &Backend{
		context: c, compiler: compiler, watcher: watcher,
		libraries: map[provider]library{}, lacking: map[string]string{}, modules: map[Unit]loaded{},
	}
	var err error
	if b.capability, err = capabilityOf(c); err != nil {
		return nil, err
	}
	var l2, kilohertz int
	for _, a := range []struct {
		attribute Attribute
		value     *int
	}{{SMCount, &b.sms}, {L2Bytes, &l2}, {ClockRateKHz, &kilohertz}} {
		if *a.value, err = c.Attribute(a.attribute); err != nil {
			return nil, err
		}
	}
	b.l2, b.ratedMHz, b.patience = int64(l2), float64(kilohertz)/1e3, settleNanoseconds
	return b, nil
}

func capabilityOf(c Context) (is Capability, err error) {
	if is.Major, err = c.Attribute(CapabilityMajor); err != nil {
		return is, err
	}
	is.Minor, err = c.Attribute(CapabilityMinor)
	return is, err
}

// L2 is the size of the L2 cache in bytes, as the driver tells it.
func (b *Backend) L2() int64 { return b.l2 }

// Libraries are the versions of what was found and is used, by name.
func (b *Backend) Libraries() map[string]string {
	versions := map[string]string{"compiler": b.compiler.Name()}
	for p, l := range b.libraries {
		versions[p.String()] = l.Version()
	}
	return versions
}

// Lacking says of each library that is not there why.
func (b *Backend) Lacking() map[string]string {
	return maps.Clone(b.lacking)
}

// add keeps a library, or why it was not found.
func (b *Backend) add(p provider, l library, err error) {
	if err != nil {
		b.lacking[p.String()] = err.Error()
		return
	}
	b.libraries[p] = l
}

func (b *Backend) has(p provider) bool { return p == own || b.libraries[p] != nil }

// Close gives everything back.
func (b *Backend) Close() error {
	var errs []error
	for _, l := range b.libraries {
		errs = append(errs, l.Close())
	}
	if b.watcher != nil {
		errs = append(errs, b.watcher.Close())
	}
	return errors.Join(append(errs, b.context.Close())...)
}

// Watch observes throttling, other processes and memory errors. The driver may report a reason for a low clock several
// cases late: it does not count for a case that ran at heldShare of the rated clock or above.
func (b *Backend) Watch(bench.Place) func() bench.Observation {
	if b.watcher == nil {
		return func() bench.Observation { return bench.Observation{} }
	}
	b.workedMHz = 0
	observe := b.watcher.Watch()
	return func() bench.Observation {
		o := observe()
		if b.workedMHz >= heldShare*b.ratedMHz {
			o.Disturbances = slices.DeleteFunc(o.Disturbances, func(d bench.Disturbance) bool {
				return d.Code == schema.Throttled || d.Code == schema.PowerCapped
			})
		}
		return o
	}
}

// Apart is about workers, of which a device has none.
func (b *Backend) Apart(bench.Place) bool { return false }

// Meter starts to count the energy of the device.
func (b *Backend) Meter() bench.Meter {
	if b.watcher == nil {
		return nil
	}
	return b.watcher.Meter()
}

// Limit knows none: the rate of an SM in a type depends on the chip, and its own peak is measured
// before all else.
func (b *Backend) Limit(schema.DType, bench.Place) bench.Limit { return bench.Limit{} }

// function finds a kernel of a unit, which is compiled when the first kernel of it is asked for, unless it was before.
func (b *Backend) function(u Unit, name string) (Function, error) {
	l, have := b.modules[u]
	if !have {
		l = b.load(u, b.compile(u))
	}
	if l.err != nil {
		return 0, l.err
	}
	return b.context.Function(l.module, name)
}

// image is the code of a unit, or why there is none.
type image struct {
	code []byte
	err  error
}

func (b *Backend) compile(u Unit) (i image) {
	i.code, i.err = b.compiler.Compile(u, b.capability)
	return i
}

// load keeps the module of a unit. What does not compile, or cannot be loaded, is so for all.
func (b *Backend) load(u Unit, i image) (l loaded) {
	err := i.err
	if err == nil {
		l.module, err = b.context.Load(i.code)
	}
	if err != nil {
		l.err = fmt.Errorf("cuda: unit %s with %s: %w", u, b.compiler.Name(), err)
	}
	b.modules[u] = l
	return l
}

// eventsFor gives n events, which are reused.
func (b *Backend) eventsFor(n int) ([]Event, error) {
	for len(b.events) < n {
		e, err := b.context.NewEvent()
		if err != nil {
			return nil, err
		}
		b.events = append(b.events, e)
	}
	return b.events[:n], nil
}

// flush reads twice the size of L2, so that L2 holds nothing of a case, nor modified lines of anything: the case would
// have to wait until these are written back.
func (b *Backend) flush() error {
	parts, bytes := bench.Place{}.Parts(), 2*b.l2
	f, err := b.function(Unit{Source: "stream"}, "stream_read")
	if err != nil {
		return err
	}
	if b.flushed == 0 {
		if b.flushed, err = b.context.Alloc(bytes + 8*int64(parts)); err != nil {
			return err
		}
	}
	return b.context.Launch(f, Grid{Blocks: [3]int{parts}, Threads: [3]int{streamThreads}},
		Pointer(b.flushed+Address(bytes)), Pointer(b.flushed), Pointer(0), Long(bytes/8), Long(1), Double(0))
}
