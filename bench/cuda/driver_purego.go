//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// result is a CUresult, 0 for success.
type result int32

// libcuda are the functions of the driver. Names with _v2 are what cuda.h redefines the
// plain ones to; the plain ones are other functions, of older versions. cuDeviceGetUuid_v2 is the
// newest of all and came with CUDA 11.4.
type libcuda struct {
	initialize   func(flags uint32) result                                                                 `c:"cuInit"`
	version      func(version *int32) result                                                               `c:"cuDriverGetVersion"`
	errorName    func(code result, name **byte) result                                                     `c:"cuGetErrorName"`
	count        func(count *int32) result                                                                 `c:"cuDeviceGetCount"`
	device       func(device *int32, ordinal int32) result                                                 `c:"cuDeviceGet"`
	uuid         func(uuid *[16]byte, device int32) result                                                 `c:"cuDeviceGetUuid_v2"`
	attribute    func(value *int32, attribute, device int32) result                                        `c:"cuDeviceGetAttribute"`
	retain       func(context *uintptr, device int32) result                                               `c:"cuDevicePrimaryCtxRetain"`
	release      func(device int32) result                                                                 `c:"cuDevicePrimaryCtxRelease_v2"`
	setCurrent   func(context uintptr) result                                                              `c:"cuCtxSetCurrent"`
	memory       func(free, total *uintptr) result                                                         `c:"cuMemGetInfo_v2"`
	alloc        func(address *Address, bytes uintptr) result                                              `c:"cuMemAlloc_v2"`
	free         func(address Address) result                                                              `c:"cuMemFree_v2"`
	hostAlloc    func(host *unsafe.Pointer, bytes uintptr, flags uint32) result                            `c:"cuMemHostAlloc"`
	hostAddress  func(address *Address, host unsafe.Pointer, flags uint32) result                          `c:"cuMemHostGetDevicePointer_v2"`
	hostFree     func(host unsafe.Pointer) result                                                          `c:"cuMemFreeHost"`
	set          func(to Address, value uint8, bytes, stream uintptr) result                               `c:"cuMemsetD8Async"`
	copy         func(to, from Address, bytes, stream uintptr) result                                      `c:"cuMemcpyAsync"`
	upload       func(to Address, from *byte, bytes, stream uintptr) result                                `c:"cuMemcpyHtoDAsync_v2"`
	download     func(to *byte, from Address, bytes, stream uintptr) result                                `c:"cuMemcpyDtoHAsync_v2"`
	newStream    func(stream *uintptr, flags uint32) result                                                `c:"cuStreamCreate"`
	freeStream   func(stream uintptr) result                                                               `c:"cuStreamDestroy_v2"`
	synchronize  func(stream uintptr) result                                                               `c:"cuStreamSynchronize"`
	newEvent     func(event *Event, flags uint32) result                                                   `c:"cuEventCreate"`
	record       func(event Event, stream uintptr) result                                                  `c:"cuEventRecord"`
	elapsed      func(milliseconds *float32, from, to Event) result                                        `c:"cuEventElapsedTime"`
	freeEvent    func(event Event) result                                                                  `c:"cuEventDestroy_v2"`
	beginCapture func(stream uintptr, mode int32) result                                                   `c:"cuStreamBeginCapture_v2"`
	endCapture   func(stream uintptr, graph *uintptr) result                                               `c:"cuStreamEndCapture"`
	instantiate  func(executable *Graph, graph uintptr, flags uint64) result                               `c:"cuGraphInstantiateWithFlags"`
	freeCaptured func(graph uintptr) result                                                                `c:"cuGraphDestroy"`
	replay       func(executable Graph, stream uintptr) result                                             `c:"cuGraphLaunch"`
	freeGraph    func(executable Graph) result                                                             `c:"cuGraphExecDestroy"`
	load         func(module *Module, image *byte, n uint32, options *int32, values unsafe.Pointer) result `c:"cuModuleLoadDataEx"`
	function     func(function *Function, module Module, name string) result                               `c:"cuModuleGetFunction"`
	getFunction  func(value *int32, attribute int32, function Function) result                             `c:"cuFuncGetAttribute"`
	setFunction  func(function Function, attribute, value int32) result                                    `c:"cuFuncSetAttribute"`
	launch       uintptr                                                                                   `c:"cuLaunchKernel"` // called for every kernel: without reflection
}

// The flags and enums that are passed, from cuda.h.
const (
	streamNonBlocking   = 1 // CU_STREAM_NON_BLOCKING
	captureThreadLocal  = 1 // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
	hostPortable        = 1 // CU_MEMHOSTALLOC_PORTABLE
	hostDeviceMap       = 2 // CU_MEMHOSTALLOC_DEVICEMAP
	functionShared      = 1 // CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
	functionMostDynamic = 8 // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
	jitErrorLog         = 5 // CU_JIT_ERROR_LOG_BUFFER
	jitErrorLogBytes    = 6 // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
)

// newDriver loads the driver. Its errors are ErrNoDriver.
func newDriver() (Driver, error) { return openDriver("libcuda.so.1") }

func loadDriver(name string) (*libcuda, error) {
	lib, err := openShared(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDriver, err)
	}
	c := &libcuda{}
	if err := lib.bind(c); err != nil {
		return nil, fmt.Errorf("%w that is new enough: %s: %w; CUDA 11.4 or newer is needed", ErrNoDriver, name, err)
	}
	if err := c.check("cuInit", c.initialize(0)); err != nil {
		return nil, fmt.Errorf("%w that works: %w (%s)", ErrNoDriver, err, visible())
	}
	return c, nil
}

// check makes the error of a call.
func (c *libcuda) check(call string, code result) error {
	if code == 0 {
		return nil
	}
	e := &Error{Call: call, Code: int(code)}
	var name *byte
	if c.errorName(code, &name) == 0 && name != nil {
		e.Name = text(name)
	}
	return e
}

// text copies a string of C.
func text(s *byte) string {
	var b strings.Builder
	for ; *s != 0; s = (*byte)(unsafe.Add(unsafe.Pointer(s), 1)) {
		b.WriteByte(*s)
	}
	return b.String()
}

func (c *libcuda) Version() (int, error) {
	var v int32
	err := c.check("cuDriverGetVersion", c.version(&v))
	return int(v), err
}

func (c *libcuda) Open(uuid string) (Context, error) { return c.open(uuid) }

func (c *libcuda) open(uuid string) (*context, error) {
	device, err := c.find(uuid)
	if err != nil {
		return nil, err
	}
	ctx := &context{libcuda: c, device: device, hosts: map[Address]unsafe.Pointer{}}
	for i := range ctx.arguments {
		ctx.pointers[i] = unsafe.Pointer(&ctx.arguments[i])
	}
	if err := c.check("cuDevicePrimaryCtxRetain", c.retain(&ctx.handle, device)); err != nil {
		return nil, err
	}
	err = ctx.Do(func() error {
		return c.check("cuStreamCreate", c.newStream(&ctx.stream, streamNonBlocking))
	})
	if err != nil {
		c.release(device)
		return nil, err
	}
	return ctx, nil
}

// Devices are those that CUDA_VISIBLE_DEVICES leaves. A MIG slice has the UUID of the slice; only the
// first, or the one in that variable, is shown.
func (c *libcuda) Devices() ([]string, error) {
	var n int32
	if err := c.check("cuDeviceGetCount", c.count(&n)); err != nil {
		return nil, err
	}
	uuids := make([]string, n)
	for i := range uuids {
		var device int32
		var id [16]byte
		if err := c.check("cuDeviceGet", c.device(&device, int32(i))); err != nil {
			return nil, err
		}
		if err := c.check("cuDeviceGetUuid", c.uuid(&id, device)); err != nil {
			return nil, err
		}
		h := hex.EncodeToString(id[:])
		uuids[i] = strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
	}
	return uuids, nil
}

// find looks for a device among those that the driver shows.
func (c *libcuda) find(uuid string) (device int32, err error) {
	shown, err := c.Devices()
	if err != nil {
		return 0, err
	}
	_, want, _ := strings.Cut(uuid, "-")
	i := slices.IndexFunc(shown, func(have string) bool { return strings.EqualFold(have, want) })
	if i < 0 {
		return 0, fmt.Errorf("cuda: %s is none of the devices that the driver shows: %s (%s)", uuid, strings.Join(shown, ", "), visible())
	}
	err = c.check("cuDeviceGet", c.device(&device, int32(i)))
	return device, err
}

// visible tells what hides devices from the driver.
func visible() string {
	const name = "CUDA_VISIBLE_DEVICES"
	if v, set := os.LookupEnv(name); set {
		return fmt.Sprintf("%s=%q", name, v)
	}
	return name + " is not set"
}

// mostArguments of a kernel.
const mostArguments = 64

// context is the primary context of a device, which libraries share.
type context struct {
	*libcuda
	device int32
	handle uintptr
	stream uintptr
	// inside is true while Do runs, so that the context is current.
	inside bool
	// hosts are the host's pointers to page-locked memory.
	hosts map[Address]unsafe.Pointer
	// The driver copies the arguments of a launch from where pointers point before it returns.
	arguments [mostArguments]Arg
	pointers  [mostArguments]unsafe.Pointer
}

// Do keeps the goroutine on its thread while f runs, and makes the context current there. What
// f calls needs neither again.
func (c *context) Do(f func() error) error {
	if c.inside {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.check("cuCtxSetCurrent", c.setCurrent(c.handle)); err != nil {
		return err
	}
	c.inside = true
	defer func() { c.inside = false }()
	return f()
}

// do is one call of the driver.
func (c *context) do(call string, f func() result) error {
	return c.Do(func() error { return c.check(call, f()) })
}

func (c *context) Stream() uintptr { return c.stream }

func (c *context) Attribute(a Attribute) (int, error) {
	var v int32
	err := c.do("cuDeviceGetAttribute", func() result { return c.attribute(&v, int32(a), c.device) })
	return int(v), err
}

func (c *context) Memory() (int64, error) {
	var free, total uintptr
	err := c.do("cuMemGetInfo", func() result { return c.memory(&free, &total) })
	return int64(free), err
}

func (c *context) Alloc(bytes int64) (a Address, err error) {
	err = c.do("cuMemAlloc", func() result { return c.alloc(&a, uintptr(bytes)) })
	return a, err
}

func (c *context) Free(a Address) error {
	return c.do("cuMemFree", func() result { return c.free(a) })
}

func (c *context) AllocHost(bytes int64) ([]byte, Address, error) {
	var host unsafe.Pointer
	var a Address
	if err := c.do("cuMemHostAlloc", func() result {
		return c.hostAlloc(&host, uintptr(bytes), hostPortable|hostDeviceMap)
	}); err != nil {
		return nil, 0, err
	}
	if err := c.do("cuMemHostGetDevicePointer", func() result { return c.hostAddress(&a, host, 0) }); err != nil {
		c.do("cuMemFreeHost", func() result { return c.hostFree(host) })
		return nil, 0, err
	}
	c.hosts[a] = host
	return unsafe.Slice((*byte)(host), bytes), a, nil
}

func (c *context) FreeHost(a Address) error {
	host, ok := c.hosts[a]
	if !ok {
		return fmt.Errorf("cuda: no page-locked memory at %#x", uint64(a))
	}
	delete(c.hosts, a)
	return c.do("cuMemFreeHost", func() result { return c.hostFree(host) })
}

// Upload and Download copy in the order of the stream. Go's memory is pinned until the stream has
// done so.
func (c *context) Upload(to Address, from []byte) error {
	return c.transfer("cuMemcpyHtoDAsync", from, func(host *byte) result {
		return c.upload(to, host, uintptr(len(from)), c.stream)
	})
}

func (c *context) Download(to []byte, from Address) error {
	return c.transfer("cuMemcpyDtoHAsync", to, func(host *byte) result {
		return c.download(host, from, uintptr(len(to)), c.stream)
	})
}

func (c *context) transfer(call string, host []byte, f func(*byte) result) error {
	if len(host) == 0 {
		return nil
	}
	var pinner runtime.Pinner
	pinner.Pin(unsafe.SliceData(host))
	defer pinner.Unpin()
	return c.Do(func() error {
		if err := c.check(call, f(unsafe.SliceData(host))); err != nil {
			return err
		}
		return c.Synchronize()
	})
}

func (c *context) Set(to Address, value byte, bytes int64) error {
	return c.do("cuMemsetD8Async", func() result { return c.set(to, value, uintptr(bytes), c.stream) })
}

func (c *context) Copy(to, from Address, bytes int64) error {
	return c.do("cuMemcpyAsync", func() result { return c.copy(to, from, uintptr(bytes), c.stream) })
}

func bound(args []Arg) error {
	if len(args) > mostArguments {
		return fmt.Errorf("cuda: %d arguments for a kernel, of %d at most", len(args), mostArguments)
	}
	return nil
}

func (c *context) Launch(f Function, g Grid, args ...Arg) error {
	if err := bound(args); err != nil {
		return err
	}
	size := func(n int) uintptr { return uintptr(uint32(max(n, 1))) }
	copy(c.arguments[:], args)
	return c.do("cuLaunchKernel", func() result {
		code, _, _ := purego.SyscallN(c.launch, uintptr(f),
			size(g.Blocks[0]), size(g.Blocks[1]), size(g.Blocks[2]),
			size(g.Threads[0]), size(g.Threads[1]), size(g.Threads[2]),
			uintptr(g.Shared), c.stream, uintptr(unsafe.Pointer(&c.pointers)), 0)
		return result(code)
	})
}

func (c *context) Record(e Event) error {
	return c.do("cuEventRecord", func() result { return c.record(e, c.stream) })
}

func (c *context) Synchronize() error {
	return c.do("cuStreamSynchronize", func() result { return c.synchronize(c.stream) })
}

func (c *context) NewEvent() (e Event, err error) {
	err = c.do("cuEventCreate", func() result { return c.newEvent(&e, 0) })
	return e, err
}

func (c *context) FreeEvent(e Event) error {
	return c.do("cuEventDestroy", func() result { return c.freeEvent(e) })
}

func (c *context) Elapsed(from, to Event) (time.Duration, error) {
	var ms float32
	err := c.do("cuEventElapsedTime", func() result { return c.elapsed(&ms, from, to) })
	return milliseconds(float64(ms)), err
}

func milliseconds(ms float64) time.Duration { return time.Duration(math.Round(ms * 1e6)) }

// Capture stays on one thread, as the capture is of what that thread does.
func (c *context) Capture(f func() error) (g Graph, err error) {
	err = c.Do(func() error {
		if err := c.check("cuStreamBeginCapture", c.beginCapture(c.stream, captureThreadLocal)); err != nil {
			return err
		}
		failed := f()
		var captured uintptr
		err := c.check("cuStreamEndCapture", c.endCapture(c.stream, &captured))
		if captured != 0 {
			defer c.freeCaptured(captured)
		}
		if failed != nil {
			return failed // the error of the end of the capture would only repeat it
		}
		if err != nil {
			return err
		}
		return c.check("cuGraphInstantiate", c.instantiate(&g, captured, 0))
	})
	return g, err
}

func (c *context) Replay(g Graph) error {
	return c.do("cuGraphLaunch", func() result { return c.replay(g, c.stream) })
}

func (c *context) FreeGraph(g Graph) error {
	return c.do("cuGraphExecDestroy", func() result { return c.freeGraph(g) })
}

// logBytes is how much of the log of a compilation is kept.
const logBytes = 16 << 10

func (c *context) Load(image []byte) (m Module, err error) {
	image = append(image[:len(image):len(image)], 0) // PTX ends with a zero
	log := make([]byte, logBytes)
	options := [...]int32{jitErrorLog, jitErrorLogBytes}
	// An array of void *, of which the second is the size itself.
	values := struct {
		log   *byte
		bytes uintptr
	}{&log[0], uintptr(len(log))}
	err = c.do("cuModuleLoadDataEx", func() result {
		return c.load(&m, &image[0], uint32(len(options)), &options[0], unsafe.Pointer(&values))
	})
	if e, ok := err.(*Error); ok {
		e.Log = text(&log[0])
	}
	return m, err
}

func (c *context) Function(m Module, name string) (f Function, err error) {
	err = c.Do(func() error {
		if err := c.check("cuModuleGetFunction "+name, c.function(&f, m, name)); err != nil {
			return err
		}
		var static, most int32
		if err := c.check("cuFuncGetAttribute "+name, c.getFunction(&static, functionShared, f)); err != nil {
			return err
		}
		if err := c.check("cuDeviceGetAttribute", c.attribute(&most, int32(SharedBytesPerBlock), c.device)); err != nil {
			return err
		}
		return c.check("cuFuncSetAttribute "+name, c.setFunction(f, functionMostDynamic, most-static))
	})
	return f, err
}

func (c *context) Close() error {
	err := c.do("cuStreamDestroy", func() result { return c.freeStream(c.stream) })
	if released := c.check("cuDevicePrimaryCtxRelease", c.release(c.device)); err == nil {
		err = released
	}
	return err
}
