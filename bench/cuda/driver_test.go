//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"hwcal/bench"
)

// The device of testdata/libcuda.c.
const stubUUID = "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff"

// newStub loads a driver of testdata into the process, a fresh one for each test.
func newStub(t *testing.T, flags ...string) stub {
	t.Helper()
	s := stub{path: buildStub(t, "libcuda", flags...)}
	lib, err := openShared(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := lib.Bind(&s.controls); err != nil {
		t.Fatal(err)
	}
	s.clear()
	return s
}

// open gives a context. When the test ends, the driver has everything back.
func (s stub) open(t *testing.T) Context {
	t.Helper()
	d, err := openDriver(s.path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Open(stubUUID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if n := s.held(); n != 0 {
			t.Errorf("%d things were not given back", n)
		}
		if strings.Contains(s.log(), "  bad") || strings.Contains(s.log(), "no context") {
			t.Errorf("calls were wrong:\n%s", s.log())
		}
	})
	return c
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDriverMemory(t *testing.T) {
	s := newStub(t)
	c := s.open(t)
	if free := must[int64](t)(c.Memory()); free != 79<<30 {
		t.Errorf("free = %d", free)
	}
	if sms := must[int](t)(c.Attribute(SMCount)); sms != 132 {
		t.Errorf("SMs = %d", sms)
	}
	want := []byte("eleven char")
	a := must[Address](t)(c.Alloc(64))
	check(t, c.Set(a, 0xff, 64))
	check(t, c.Upload(a+8, want))
	host, h, err := c.AllocHost(64)
	check(t, err)
	check(t, c.Copy(h, a, 64))
	check(t, c.Synchronize())
	if host[7] != 0xff || !bytes.Equal(host[8:8+len(want)], want) || host[8+len(want)] != 0xff {
		t.Errorf("page-locked memory has % x", host)
	}
	got := make([]byte, len(want))
	check(t, c.Download(got, a+8))
	if !bytes.Equal(got, want) {
		t.Errorf("downloaded %q, want %q", got, want)
	}
	check(t, c.Upload(a, nil))
	check(t, c.FreeHost(h))
	check(t, c.Free(a))
	if err := c.FreeHost(h); err == nil {
		t.Error("freed page-locked memory twice")
	}
	// Copies are over when the call returns.
	if !strings.Contains(s.log(), "cuMemcpyDtoHAsync\ncuStreamSynchronize\n") {
		t.Errorf("a download does not wait:\n%s", s.log())
	}
}

func TestDriverLaunch(t *testing.T) {
	s := newStub(t)
	c := s.open(t)
	m := must[Module](t)(c.Load([]byte("image")))
	f := must[Function](t)(c.Function(m, "probe"))
	a := must[Address](t)(c.Alloc(1))
	defer c.Free(a)
	s.clear()
	check(t, c.Launch(f, Grid{Blocks: [3]int{70000, 2}, Threads: [3]int{128}, Shared: 4096},
		Pointer(a), Int(-3), Long(-5<<40), Float(0.5), Double(-0.25)))
	if want := "  <<<(70000 2 1), (128 1 1), 4096>>>(device, -3, -5497558138880, 0.5, -0.25)\n"; !strings.Contains(s.log(), want) {
		t.Errorf("launched\n%s, want\n%s", s.log(), want)
	}
	got := make([]byte, 1)
	check(t, c.Download(got, a))
	if got[0] != 42 {
		t.Errorf("the kernel wrote %d", got[0])
	}
	if err := c.Launch(f, Grid{}, make([]Arg, mostArguments+1)...); err == nil {
		t.Error("too many arguments were taken")
	}
}

func TestDriverEventsAndGraphs(t *testing.T) {
	s := newStub(t)
	c := s.open(t)
	from, to := must[Event](t)(c.NewEvent()), must[Event](t)(c.NewEvent())
	check(t, c.Record(from))
	check(t, c.Record(to))
	if d := must[time.Duration](t)(c.Elapsed(from, to)); d != 1500*time.Microsecond {
		t.Errorf("elapsed %v", d)
	}
	g := must[Graph](t)(c.Capture(func() error { return c.Record(from) }))
	check(t, c.Replay(g))
	check(t, c.FreeGraph(g))
	// What fails inside ends the capture, too.
	failure := errors.New("inside")
	if _, err := c.Capture(func() error { return failure }); !errors.Is(err, failure) {
		t.Errorf("capture: %v", err)
	}
	check(t, c.Synchronize())
	check(t, c.FreeEvent(from))
	check(t, c.FreeEvent(to))
}

// A context is made current on whatever thread runs, and once for all that runs inside Do.
func TestDriverContext(t *testing.T) {
	s := newStub(t)
	c := s.open(t)
	done := make(chan error)
	for range 8 {
		go func() { done <- c.Synchronize() }()
		check(t, <-done)
	}
	check(t, c.Do(func() error {
		s.forget()
		if err := c.Synchronize(); err == nil {
			t.Error("the context was set again inside Do")
		}
		s.clear()
		return nil
	}))
	check(t, c.Synchronize())
}

func TestDriverErrors(t *testing.T) {
	s := newStub(t)
	c := s.open(t)

	_, err := c.Alloc(1 << 50)
	if !errors.Is(err, bench.ErrMemory) || err.Error() != "cuda: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)" {
		t.Errorf("out of memory: %v", err)
	}
	_, err = c.Load([]byte("bad source"))
	if e := (*Error)(nil); !errors.As(err, &e) || e.Log != "ptxas error: line 1 of bad source" {
		t.Errorf("compilation: %v", err)
	}
	m := must[Module](t)(c.Load([]byte("image")))
	if _, err = c.Function(m, "nothing"); err == nil || err.Error() != "cuda: cuModuleGetFunction nothing: error 500" {
		t.Errorf("no function: %v", err)
	}
	s.fail("cuMemHostGetDevicePointer", 1)
	if _, _, err := c.AllocHost(10); err == nil {
		t.Error("page-locked memory without an address")
	}
	s.fail("cuGraphInstantiate", 2)
	if _, err := c.Capture(func() error { return nil }); !errors.Is(err, bench.ErrMemory) {
		t.Errorf("graph: %v", err)
	}
	s.fail("cuStreamSynchronize", 719)
	if err := c.Synchronize(); !errors.Is(err, bench.ErrLost) || !strings.Contains(err.Error(), "CUDA_ERROR_LAUNCH_FAILED") {
		t.Errorf("lost: %v", err)
	}
}

func TestDriverDevices(t *testing.T) {
	s := newStub(t)
	d, err := openDriver(s.path)
	check(t, err)
	if v := must[int](t)(d.Version()); v != 12080 {
		t.Errorf("version %d", v)
	}
	if all := must[[]string](t)(d.Devices()); len(all) != 2 || "GPU-"+all[1] != stubUUID {
		t.Errorf("devices %v", all)
	}
	// The slice of a GPU has a UUID of its own, which the driver gives as that of the device.
	c := must[Context](t)(d.Open("MIG-" + strings.TrimPrefix(strings.ToUpper(stubUUID), "GPU-")))
	check(t, c.Close())

	t.Setenv("CUDA_VISIBLE_DEVICES", "1,0")
	_, err = d.Open("GPU-no")
	for _, want := range []string{"GPU-no", "00010203-0405-0607-0809-0a0b0c0d0e0f, f0f1f2f3-", `CUDA_VISIBLE_DEVICES="1,0"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in: %v", want, err)
		}
	}
	// A stream that cannot be made leaves no context behind.
	s.fail("cuStreamCreate", 2)
	if _, err := d.Open(stubUUID); !errors.Is(err, bench.ErrMemory) {
		t.Errorf("stream: %v", err)
	}
	if n := s.held(); n != 0 {
		t.Errorf("%d things were not given back", n)
	}
}

func TestNoDriver(t *testing.T) {
	none := newStub(t)
	none.fail("cuInit", 100)
	tests := map[string]struct {
		path string
		want []string
	}{
		"absent":    {"libnothing.so.1", []string{"libnothing.so.1", "/usr/local/cuda/lib64"}},
		"old":       {newStub(t, "-DOLD").path, []string{"new enough", "cuDeviceGetUuid_v2", "11.4"}},
		"no device": {none.path, []string{"CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES is not set"}},
	}
	for name, test := range tests {
		_, err := openDriver(test.path)
		if !errors.Is(err, ErrNoDriver) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: no %q in: %v", name, want, err)
			}
		}
	}
}
