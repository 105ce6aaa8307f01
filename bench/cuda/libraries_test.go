//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hwcal/bench"
	"hwcal/schema"
)

// libraryStub is a library of testdata on a device whose memory is the host's.
type libraryStub struct {
	*Backend
	path string
	libraryControls
}

type libraryControls struct {
	log  func() string                 `c:"stub_log"`
	fail func(call string, code int32) `c:"stub_fail"`
	held func() int                    `c:"stub_held"`
}

// slowLaunches is a device on which our own kernels take 100 ms each. If only those of so many threads a block do, whatever
// others do takes a millisecond.
type slowLaunches struct {
	Context
	threads  int // 0 for all
	launches int
	before   map[Event]int // launches, by the event behind them
}

func (s *slowLaunches) Launch(f Function, g Grid, args ...Arg) error {
	if s.threads == 0 || s.threads == g.Threads[0] {
		s.launches++
	}
	return s.Context.Launch(f, g, args...)
}

func (s *slowLaunches) Record(e Event) error {
	s.before[e] = s.launches
	return s.Context.Record(e)
}

func (s *slowLaunches) Elapsed(from, to Event) (time.Duration, error) {
	switch slow := s.before[to] - s.before[from]; {
	case slow > 0:
		return time.Duration(slow) * 100 * time.Millisecond, nil
	case s.threads > 0:
		return time.Millisecond, nil
	}
	return s.Context.Elapsed(from, to)
}

// newLibraryStub is a backend that has the library of testdata/NAME.c. When the test ends, all that was
// described was given back, and nothing was described that the library could not use.
func newLibraryStub(t *testing.T, name string, p provider, load func(Context, ...string) (library, error), c Capability, flags ...string) libraryStub {
	t.Helper()
	s := libraryStub{path: buildStub(t, name, flags...)}
	lib, err := openShared(s.path)
	check(t, err)
	check(t, lib.Bind(&s.libraryControls))
	t.Cleanup(func() { // behind that of the backend, which closes the library
		if n := s.held(); n != 0 {
			t.Errorf("%d descriptions were not given back", n)
		}
		if strings.Contains(s.log(), "  bad") {
			t.Errorf("calls were wrong:\n%s", s.log())
		}
	})
	s.Backend = newEmulated(t, c)
	s.context = &slowLaunches{Context: s.context, before: map[Event]int{}}
	l, err := load(s.context, s.path)
	check(t, err)
	s.add(p, l, nil)
	return s
}

// verify compares the kernels of a chain, fused and one by one, with the float64 reference, and names
// the one of the whole chain.
func (s libraryStub) verify(t *testing.T, c bench.Chain, d schema.DType) (string, error) {
	t.Helper()
	if _, err := bench.Verify(s.Backend, bench.Case{Chain: c, DType: d, Seed: 7}); err != nil {
		return "", err
	}
	ws := must[bench.Workspace](t)(s.Open(bench.Case{Chain: c, DType: d}))
	defer func() { check(t, ws.Close()) }()
	return must[bench.Kernel](t)(ws.Bind(c)).Implementation(), nil
}

// refuses is the error with which a provider's binder refuses a chain.
func (s libraryStub) refuses(t *testing.T, p provider, c bench.Chain, d schema.DType) error {
	t.Helper()
	ws := must[bench.Workspace](t)(s.Open(bench.Case{Chain: c, DType: d}))
	defer func() { check(t, ws.Close()) }()
	for _, e := range s.usable(c.String(), d) {
		if e.provider == p {
			_, err := e.bind(ws.(*workspace), c)
			return err
		}
	}
	t.Fatalf("%s has no entry for %s in %s", p, c, d)
	return nil
}

// A library that is not there says where was looked; one of another kind, what it lacks.
func TestLibraryErrors(t *testing.T) {
	for what, load := range map[string]func(Context, ...string) (library, error){"libcublaslt": loadCuBLASLt, "libcudnn": loadCuDNN} {
		if _, err := load(&emulated{}, "libnothing.so.1"); err == nil || !strings.Contains(err.Error(), "libnothing.so.1 not found") {
			t.Errorf("%s, absent: %v", what, err)
		}
		if _, err := load(&emulated{}, buildStub(t, what, "-DOLD")); err == nil || !strings.Contains(err.Error(), "it has no ") {
			t.Errorf("%s, old: %v", what, err)
		}
	}
	b := newEmulated(t, Capability{8, 9})
	b.add(cuBLASLt, nil, errors.New("libcublasLt.so.13 not found"))
	if why := b.Unsupported(schema.FP8); !strings.Contains(why, "libcublasLt.so.13 not found") {
		t.Errorf("no fp8 since %s", why)
	}
}

// A driver takes the libraries of its own major version of CUDA and of older ones.
func TestLibrariesForDriver(t *testing.T) {
	for driver, want := range map[int]string{14000: "13 12 11", 13020: "13 12 11", 12090: "12 11", 11040: "11", 10020: ""} {
		if got := strings.Join(forDriver(driver, "13", "12", "11"), " "); got != want {
			t.Errorf("driver %d: %q, want %q", driver, got, want)
		}
	}
}

// A single copy is the driver's own where that is faster, and ours where the case asks for that; several are always ours.
func TestStreamCopy(t *testing.T) {
	b := newEmulated(t, Capability{8, 0})
	b.context = &slowLaunches{Context: b.context, before: map[Event]int{}}
	copies := bench.Streams[slices.IndexFunc(bench.Streams, func(s bench.Stream) bool { return s.Name == "copy" })]
	for _, test := range []struct {
		n    int64
		unit string
		want string
	}{{1 << 19, "", "cuMemcpyAsync"}, {1 << 19, own.String(), "hwcal_stream_copy"}, {1 << 10, "", "hwcal_stream_copy"}} {
		c := bench.Chain{copies.Op(bench.NewStreamArrays(test.n, 2))}
		cs := bench.Case{Chain: c, DType: schema.FP64, Unit: test.unit, Seed: 7}
		if _, err := bench.Verify(b, cs); err != nil {
			t.Errorf("%d elements: %v", test.n, err)
		}
		ws := must[bench.Workspace](t)(b.Open(cs))
		if name := must[bench.Kernel](t)(ws.Bind(c)).Implementation(); name != test.want {
			t.Errorf("%d elements by %q: %s, want %s", test.n, test.unit, name, test.want)
		}
		check(t, ws.Close())
	}
}
