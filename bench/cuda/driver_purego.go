//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"unsafe"
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
	if err := lib.Bind(c); err != nil {
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
