//go:build linux && (amd64 || arm64) && cu

package cuda

import (
	"reflect"
	"runtime"
	"time"
	"unsafe"

	"gorgonia.org/cu"
)

// linked is the driver as gorgonia.org/cu calls it, which is linked to libcuda: to build it needs
// cuda.h and libcuda.so (make cu has the flags), and without a driver it ends the process before
// main. What cu lacks stays with the functions found at run time, in the same context:
// UUIDs of MIG slices, page-locked memory, the capture and replay of graphs, and attributes of
// functions.
type linked struct{ *libcuda }

// openDriver is for the library that was linked, by its name.
func openDriver(name string) (Driver, error) {
	l, err := loadDriver(name)
	if err != nil {
		return nil, err
	}
	return linked{l}, nil
}

func (l linked) Version() (int, error) { return cu.Version(), nil }

func (l linked) Open(uuid string) (Context, error) {
	c, err := l.libcuda.open(uuid)
	if err != nil {
		return nil, err
	}
	return &linkedContext{c, as[cu.Stream](c.stream)}, nil
}

// as turns handles of the driver into those of cu, each a struct of the one pointer, and back.
func as[To, From any](h From) To { return *(*To)(unsafe.Pointer(&h)) }

type linkedContext struct {
	*context
	queue cu.Stream
}

// do is one call of cu, in the context. Its errors are numbers of a type that is not exported.
func (c *linkedContext) do(call string, f func() error) error {
	return c.Do(func() error {
		if err := f(); err != nil {
			return c.check(call, result(reflect.ValueOf(err).Int()))
		}
		return nil
	})
}

func (c *linkedContext) Memory() (free int64, err error) {
	err = c.do("cuMemGetInfo", func() (err error) { free, _, err = cu.MemInfo(); return err })
	return free, err
}

func (c *linkedContext) Alloc(bytes int64) (Address, error) {
	var a cu.DevicePtr
	err := c.do("cuMemAlloc", func() (err error) { a, err = cu.MemAlloc(bytes); return err })
	return Address(a), err
}

func (c *linkedContext) Free(a Address) error {
	return c.do("cuMemFree", func() error { return cu.MemFree(cu.DevicePtr(a)) })
}

func (c *linkedContext) Upload(to Address, from []byte) error {
	return c.transfer("cuMemcpyHtoDAsync", from, func(host unsafe.Pointer) error {
		return cu.MemcpyHtoDAsync(cu.DevicePtr(to), host, int64(len(from)), c.queue)
	})
}

func (c *linkedContext) Download(to []byte, from Address) error {
	return c.transfer("cuMemcpyDtoHAsync", to, func(host unsafe.Pointer) error {
		return cu.MemcpyDtoHAsync(host, cu.DevicePtr(from), int64(len(to)), c.queue)
	})
}

func (c *linkedContext) transfer(call string, mem []byte, f func(unsafe.Pointer) error) error {
	if len(mem) == 0 {
		return nil
	}
	var pinner runtime.Pinner
	pinner.Pin(unsafe.SliceData(mem))
	defer pinner.Unpin()
	if err := c.do(call, func() error { return f(unsafe.Pointer(unsafe.SliceData(mem))) }); err != nil {
		return err
	}
	return c.Synchronize()
}

func (c *linkedContext) Set(to Address, value byte, bytes int64) error {
	return c.do("cuMemsetD8Async", func() error { return cu.MemsetD8Async(cu.DevicePtr(to), value, bytes, c.queue) })
}

func (c *linkedContext) Copy(to, from Address, bytes int64) error {
	return c.do("cuMemcpyAsync", func() error {
		return cu.MemcpyAsync(cu.DevicePtr(to), cu.DevicePtr(from), bytes, c.queue)
	})
}

func (c *linkedContext) Launch(f Function, g Grid, args ...Arg) error {
	if err := bound(args); err != nil {
		return err
	}
	pointers := make([]unsafe.Pointer, len(args))
	for i := range args {
		pointers[i] = unsafe.Pointer(&args[i])
	}
	b, t := g.Blocks, g.Threads
	return c.do("cuLaunchKernel", func() error {
		return as[cu.Function](f).Launch(max(b[0], 1), max(b[1], 1), max(b[2], 1), max(t[0], 1), max(t[1], 1), max(t[2], 1), g.Shared, c.queue, pointers)
	})
}

func (c *linkedContext) Record(e Event) error {
	return c.do("cuEventRecord", func() error { return as[cu.Event](e).Record(c.queue) })
}

func (c *linkedContext) Synchronize() error {
	return c.do("cuStreamSynchronize", func() error { return c.queue.Synchronize() })
}

func (c *linkedContext) NewEvent() (Event, error) {
	var e cu.Event
	err := c.do("cuEventCreate", func() (err error) { e, err = cu.MakeEvent(cu.DefaultEvent); return err })
	return as[Event](e), err
}

func (c *linkedContext) FreeEvent(e Event) error {
	event := as[cu.Event](e)
	return c.do("cuEventDestroy", func() error { return cu.DestroyEvent(&event) })
}

func (c *linkedContext) Elapsed(from, to Event) (time.Duration, error) {
	var ms float64
	err := c.do("cuEventElapsedTime", func() (err error) {
		ms, err = as[cu.Event](from).Elapsed(as[cu.Event](to))
		return err
	})
	return milliseconds(ms), err
}

func (c *linkedContext) Load(image []byte) (Module, error) {
	log := &cu.JITErrorLogBuffer{Buffer: make([]byte, logBytes)}
	var m cu.Module
	err := c.do("cuModuleLoadDataEx", func() (err error) { m, err = cu.LoadDataEx(string(image), log); return err })
	if e, ok := err.(*Error); ok {
		e.Log = text(&log.Buffer[0])
	}
	return as[Module](m), err
}
