package bench

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"hwcal/schema"
)

// ErrUnsupported: the device has no kernel for the chain in the dtype. It is
// recorded under "unavailable" and never a failure.
var ErrUnsupported = errors.New("unsupported")

// ErrMismatch: a kernel disagrees with the float64 reference. It is not timed.
var ErrMismatch = errors.New("mismatch")

// ErrUnsettled: the effective clock could not be read, as two ways to measure it
// disagree. The case is measured all the same and flagged.
var ErrUnsettled = errors.New("clock unsettled")

// ErrMemory: the device or the host has not the memory that a case needs. The error says how
// much that is.
var ErrMemory = errors.New("out of memory")

// ErrLost: the device answers no more. What is still to be measured on it cannot be.
var ErrLost = errors.New("device lost")

// Backend is a device that can run chains of operations.
type Backend interface {
	// Open prepares the tensors of a case on the device and fills its inputs.
	Open(c Case) (Workspace, error)
	// Clock measures the effective clock in MHz on the cores of the place: settled,
	// the clock of scalar code, to compare two readings by; else at once, the
	// clock of the instructions that have just run, as wide vectors lower it.
	Clock(p Place, settled bool) (float64, error)
	// Watch starts to observe the place; the returned function says what happened since.
	Watch(p Place) func() Observation
	// Apart tells whether the workers of the place are further from each other than they were before.
	Apart(p Place) bool
	// Meter starts to count the energy of the device; nil if it has no meter that can be
	// read.
	Meter() Meter
	// Limit is what the hardware cannot exceed, in the instruction set of the
	// kernels.
	Limit(d schema.DType, p Place) Limit
	// Kernels lists the chains that the device can run. Several units for one
	// chain and type follow each other, the best first.
	Kernels() []KernelInfo
	// Implementations are the names by which a case may ask for one of those of a chain, as
	// its Unit, best first.
	Implementations(chain string, d schema.DType) []string
	// Unsupported says why there are no kernels in a type; nothing if there are.
	Unsupported(d schema.DType) string
}

// Workspace holds the tensors of one case on the device.
type Workspace interface {
	// Bind returns the kernel of a chain over tensors of the case: of a single
	// operation, or of several fused. What can be prepared from parameters alone
	// (packed or folded weights) is prepared here.
	Bind(c Chain) (Kernel, error)
	// Samples executes the runs in turn, without a pause between, and returns the time
	// that each took by the host's clock or by device events.
	Samples(runs []Run) ([]time.Duration, error)
	// Read copies elements of a tensor, from index `at` on, into dst.
	Read(t *Tensor, at int64, dst []float64) error
	// Poison writes NaN, or an integer that cannot be right, to elements of a tensor,
	// so that a result that a kernel does not write shows.
	Poison(t *Tensor, at []int64) error
	// PageBytes is the size of the pages behind a tensor, of nearly all; 0 for a mix, and where nothing tells.
	PageBytes(t *Tensor) int64
	// Close gives the memory back.
	Close() error
}

// Run is one sample: kernels in order, N times.
type Run struct {
	Kernels []Kernel
	N       int
	// Cold runs begin when nothing of the case is in a cache.
	Cold bool
}

// Sample takes a single sample.
func Sample(ws Workspace, ks []Kernel, n int) (time.Duration, error) {
	ts, err := ws.Samples([]Run{{Kernels: ks, N: n}})
	if err != nil {
		return 0, err
	}
	return ts[0], nil
}

// Kernel is a chain bound to the tensors of a workspace.
type Kernel interface {
	// Implementation names what runs: library or instruction set, and tile.
	Implementation() string
}

// KernelInfo is one line of `calibrate list kernels`.
type KernelInfo struct {
	Chain          string       `json:"chain"`
	DType          schema.DType `json:"dtype"`
	Implementation string       `json:"implementation"`
}

// Case says what to run, in which type, where.
type Case struct {
	Chain      Chain
	DType      schema.DType
	Unit       string // of the Implementations of the chain; empty for the best
	Place      Place
	Seed       uint64
	SmallPages bool  // ask for base pages instead of huge ones
	Cold       bool  // each execution of a pair begins with its tensors in memory, not in caches
	Parts      Parts // of a network, the chain cut into what one kernel each computes; nil for all others
	Metered    bool  // it lasts as long as the meter of the device wants, if there is one
	Graph      bool  // runs are replayed from a graph of the device instead of launched one by one
}

// Place is a part of the device. The zero value is all of a device that is not
// divided into threads.
type Place struct {
	Threads int
	Class   string // core class; empty for any
	NUMA    NUMA
}

// deviceParts is the number of equal parts of a whole device: so many that each of its
// processors has several, and one more or less makes no difference.
const deviceParts = 1024

// Parts is the number of parts in which operations cut their work that have to know: one a
// thread, or on a device that is not divided into threads a fixed number.
func (p Place) Parts() int {
	if p.Threads == 0 {
		return deviceParts
	}
	return p.Threads
}

// String reads "1 thread", "4 E threads", "whole device".
func (p Place) String() string {
	if p.Threads == 0 {
		return "whole device"
	}
	words := fmt.Sprint(p.Threads)
	if p.Class != "" {
		words += " " + p.Class
	}
	words += " thread"
	if p.Threads != 1 {
		words += "s"
	}
	if p.NUMA.Bound {
		words += fmt.Sprintf(" of node %d on memory of node %d", p.NUMA.Node, p.NUMA.Memory)
	}
	return words
}

// NUMA binds the threads of a place to the cores of one node and its memory to
// another, or the same. The zero value binds nothing.
type NUMA struct {
	Bound        bool
	Node, Memory int
}

// Limit is a rate per second that no kernel can exceed at a clock of 1 Hz.
type Limit struct {
	FLOPPerCycle  float64 // of all threads together
	BytesPerCycle float64 // between registers and L1, of all threads together
}

// Meter counts energy from when it was started on.
type Meter interface {
	// Tick reads the counters, if enough time has passed since they were read to tell the
	// power of that time. It is called between samples.
	Tick()
	// LeastWindow is the shortest one whose energy the counters tell.
	LeastWindow() time.Duration
	// Stop ends the window. There is no Energy if it was too short for the counters.
	Stop() (Energy, bool)
}

// Energy is what meters counted in a window.
type Energy struct {
	Window   time.Duration
	Joules   float64
	MaxWatts float64  // over a part of the window between ticks; 0 if there was only one
	Meters   []string // whose sum it is
	Celsius  float64  // at the end; 0 where it cannot be read
}

// Observation is what happened on a place during a case.
type Observation struct {
	Disturbances []Disturbance // none on a quiet host
	// Moved: one half of the case was on other cores than the other.
	Moved bool
}

// Disturbance is one thing that bears on the figures, with its own.
type Disturbance struct {
	Code   schema.Code
	Reason string
}

// Noise observes what disturbed the workers, each reason with its figures; none on a quiet
// host.
func Noise(reasons []string) Observation {
	if len(reasons) == 0 {
		return Observation{}
	}
	return Observation{Disturbances: []Disturbance{{schema.NoisyHost, strings.Join(reasons, "; ")}}}
}
