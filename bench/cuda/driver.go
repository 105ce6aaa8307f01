// Package cuda is the NVIDIA backend. Everything that it needs is found at run time:
// the driver, and each optional, the compiler NVRTC and the libraries cuBLASLt and
// cuDNN. Kernels of our own are CUDA C, embedded in the binary.
package cuda

import (
	"errors"
	"fmt"
	"math"
	"time"

	"hwcal/bench"
)

// Driver is the CUDA driver, as far as this backend needs it.
type Driver interface {
	// Version is that of CUDA which the driver supports, 1000 x major + 10 x minor.
	Version() (int, error)
	// Devices are the UUIDs of those that the driver shows, in its order, without what stands before
	// the first dash of NVML's.
	Devices() ([]string, error)
	// Open makes a context, with a stream, on the device of that UUID as NVML gives it
	// ("GPU-..." or "MIG-...").
	Open(uuid string) (Context, error)
}

// Context is a device, its memory, and one stream in which work runs in order. Its
// methods are called by one goroutine at a time.
type Context interface {
	// Do runs f on the thread on which the context is current, which libraries need that
	// call the driver themselves.
	Do(f func() error) error
	// Stream is the handle of the stream, for libraries.
	Stream() uintptr

	Attribute(a Attribute) (int, error)
	// Memory tells the free bytes of the device.
	Memory() (free int64, err error)

	Alloc(bytes int64) (Address, error)
	Free(a Address) error
	// AllocHost gives page-locked memory of the host, which the device reaches at the address.
	AllocHost(bytes int64) ([]byte, Address, error)
	FreeHost(a Address) error

	// Upload and Download wait for the stream before they copy.
	Upload(to Address, from []byte) error
	Download(to []byte, from Address) error

	// Set, Copy, Launch and Record add to the stream. Copy goes between the device and
	// itself or page-locked memory of the host.
	Set(to Address, value byte, bytes int64) error
	Copy(to, from Address, bytes int64) error
	Launch(f Function, g Grid, args ...Arg) error
	Record(e Event) error
	// Synchronize waits for the stream.
	Synchronize() error

	NewEvent() (Event, error)
	FreeEvent(e Event) error
	// Elapsed is the time between two events that have happened.
	Elapsed(from, to Event) (time.Duration, error)

	// Capture makes a graph of what f adds to the stream, which is not executed;
	// Replay adds an execution of it to the stream.
	Capture(f func() error) (Graph, error)
	Replay(g Graph) error
	FreeGraph(g Graph) error

	// Load loads a cubin, or PTX, which the driver compiles: the error of a failed
	// compilation has its log.
	Load(image []byte) (Module, error)
	// Function finds a kernel of a module and allows it the most dynamic shared memory
	// that the device has for a block.
	Function(m Module, name string) (Function, error)

	Close() error
}

type (
	// Address is one in the memory of the device, or one at which the device reaches the host's.
	Address uint64
	// Module, Function, Event and Graph are handles of the driver.
	Module   uintptr
	Function uintptr
	Event    uintptr
	Graph    uintptr
)

// Grid is the geometry of a launch.
type Grid struct {
	Blocks  [3]int // of the grid; 0 stands for 1
	Threads [3]int // of a block; 0 stands for 1
	Shared  int    // bytes of dynamic shared memory of a block
}

// Arg is the value of one parameter of a kernel, in its lowest bytes.
type Arg uint64

// Pointer, Int, Long, Float and Double are arguments of the C types void *, int, long long, float and
// double.
func Pointer(a Address) Arg { return Arg(a) }
func Int(v int) Arg         { return Arg(uint32(int32(v))) }
func Long(v int64) Arg      { return Arg(v) }
func Float(v float64) Arg   { return Arg(math.Float32bits(float32(v))) }
func Double(v float64) Arg  { return Arg(math.Float64bits(v)) }

// Attribute is a CUdevice_attribute.
type Attribute int

// The attributes that are asked for, by their numbers in cuda.h.
const (
	ClockRateKHz        Attribute = 13
	SMCount             Attribute = 16
	L2Bytes             Attribute = 38
	CapabilityMajor     Attribute = 75
	CapabilityMinor     Attribute = 76
	SharedBytesPerSM    Attribute = 81
	SharedBytesPerBlock Attribute = 97 // with opt-in
)

// Error is a call that failed.
type Error struct {
	Call string // "cuMemAlloc"
	Code int    // CUresult
	Name string // "CUDA_ERROR_OUT_OF_MEMORY"; may be empty
	Log  string // of a compilation; may be empty
}

func (e *Error) Error() string {
	text := fmt.Sprintf("cuda: %s: error %d", e.Call, e.Code)
	if e.Name != "" {
		text = fmt.Sprintf("cuda: %s: %s (%d)", e.Call, e.Name, e.Code)
	}
	if e.Log != "" {
		text += ":\n" + e.Log
	}
	return text
}

// CUresult codes with a meaning here.
const (
	codeOutOfMemory = 2
	codeNoDevice    = 100
)

// lostCodes end the context: no call succeeds after them. ECC error, NVLink error, illegal
// address, timeout, illegal instruction and others of the kind, launch failure, and a device
// that the system took away.
var lostCodes = map[int]bool{46: true, 101: true, 214: true, 220: true, 226: true, 700: true, 702: true, 710: true, 714: true, 715: true, 716: true, 717: true, 718: true, 719: true, 999: true}

// Is lets errors.Is tell what a calibration has to know: that memory ran out, or that the
// device is lost.
func (e *Error) Is(target error) bool {
	switch target {
	case bench.ErrMemory:
		return e.Code == codeOutOfMemory
	case bench.ErrLost:
		return lostCodes[e.Code]
	}
	return false
}

// ErrNoDriver: there is no driver, or none that can be used; the text says what was looked for.
var ErrNoDriver = errors.New("no CUDA driver")
