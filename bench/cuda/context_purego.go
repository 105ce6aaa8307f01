//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"math"
	"runtime"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

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
