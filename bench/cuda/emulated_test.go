//go:build linux

package cuda

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// newEmulated is a backend without libraries on a device of that capability that is emulated on
// the host, one block of a kernel after the other: see testdata/emulated/emulated.h. The
// C++ compiler of the host compiles the kernels. What the test leaves wrong in its memory
// fails it at its end.
func newEmulated(t *testing.T, c Capability) *Backend {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("kernels were not run: no g++ to compile them for the host")
	}
	// One kernel at a time runs, while others are compiled, and references computed.
	if _, again := parallel.LoadOrStore(t, true); !again {
		t.Parallel()
	}
	compiler, err := newEmulatedCompiler()
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(&emulated{capability: c, memory: map[Address]*emulatedBlock{}}, compiler, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// parallel are the tests that run beside others: they may say so once.
var parallel sync.Map

// emulatedCompiler keeps what it has compiled, by the preprocessed source, in the user's cache.
type emulatedCompiler struct{ folder, include string }

func newEmulatedCompiler() (*emulatedCompiler, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	folder := filepath.Join(cache, "hwcal-emulated")
	include, err := filepath.Abs(filepath.Join("testdata", "emulated"))
	return &emulatedCompiler{folder, include}, errors.Join(err, os.MkdirAll(folder, 0o700))
}

func (*emulatedCompiler) Name() string { return "g++" }

// emulatedKernel finds what KERNEL has declared.
var emulatedKernel = regexp.MustCompile(`\[\[gnu::used\]\] void\s+(\w+)\s*\(`)

// Compile gives the path of a library with a function emulated_launch_NAME for each kernel.
func (e *emulatedCompiler) Compile(u Unit, c Capability) ([]byte, error) {
	options := append([]string{"-x", "c++", "-I", e.include, "-I", "kernels", "-DHWCAL_EMULATED",
		fmt.Sprintf("-D__CUDA_ARCH__=%d", 100*c.Major+10*c.Minor)}, u.Options()...)
	source, err := gxx(append(options, "-E", "-P", filepath.Join("kernels", u.Source+".cu"))...)
	if err != nil {
		return nil, err
	}
	kernels := emulatedKernel.FindAllSubmatch(source, -1)
	// Kernels may have the names of functions of libc.
	source = emulatedKernel.ReplaceAll(source, []byte("[[gnu::used]] void kernel_$1("))
	for _, k := range kernels {
		source = fmt.Appendf(source, `
extern "C" __attribute__((visibility("default"))) const char *emulated_launch_%[1]s(
    const unsigned long long *args, int given, const int *grid, long shared, unsigned long long seed) {
  return emulated_launch(emulated_kernel<kernel_%[1]s>::call, emulated_kernel<kernel_%[1]s>::parameters, args, given, grid, shared, seed);
}
`, k[1])
	}
	path := filepath.Join(e.folder, fmt.Sprintf("%x", sha256.Sum256(source)))
	if _, err := os.Stat(path + ".so"); err == nil {
		return []byte(path + ".so"), nil
	}
	work, err := os.MkdirTemp(e.folder, "compile")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	text, library := filepath.Join(work, "unit.ii"), filepath.Join(work, "unit.so")
	if err := os.WriteFile(text, source, 0o600); err != nil {
		return nil, err
	}
	if _, err := gxx("-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-gnu-unique", "-o", library, text); err != nil {
		return nil, err
	}
	return []byte(path + ".so"), os.Rename(library, path+".so")
}

func gxx(args ...string) ([]byte, error) {
	cmd := exec.Command("g++", args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("g++: %w:\n%s", err, log.String())
	}
	return out, nil
}

// emulatedLibraries are those loaded, by path. Each has one state, for one launch at a time.
var emulatedLibraries struct {
	sync.Mutex
	loaded map[string]uintptr
}

// openEmulated loads a library, and tells it where its __shared__ variables are: the variables that
// are local to functions.
func openEmulated(path string) (uintptr, error) {
	emulatedLibraries.Lock()
	defer emulatedLibraries.Unlock()
	if h, have := emulatedLibraries.loaded[path]; have {
		return h, nil
	}
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, err
	}
	origin, err := purego.Dlsym(h, "emulated_origin")
	if err != nil {
		return 0, err
	}
	var add func(at uintptr, bytes int)
	purego.RegisterLibFunc(&add, h, "emulated_add_variable")
	file, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		return 0, err
	}
	for _, s := range symbols {
		if s.Name == "emulated_origin" {
			origin -= uintptr(s.Value)
		}
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_OBJECT && strings.HasPrefix(s.Name, "_ZZ") && file.Sections[s.Section].Flags&elf.SHF_WRITE != 0 {
			add(origin+uintptr(s.Value), int(s.Size))
		}
	}
	if emulatedLibraries.loaded == nil {
		emulatedLibraries.loaded = map[string]uintptr{}
	}
	emulatedLibraries.loaded[path] = h
	return h, nil
}

// emulated is the context of a device whose memory is the host's. Its stream does at once what it
// is given.
type emulated struct {
	capability Capability
	memory     map[Address]*emulatedBlock
	functions  []emulatedFunction
	events     []time.Time
	graphs     [][]func() error
	recording  bool
	launches   uint64
}

type emulatedFunction struct {
	name   string
	launch func(args *Arg, given int32, grid *int32, shared int, seed uint64) string
}

// emulatedBlock is an allocation. It begins and ends as close to a page without access as its
// alignment to 16 bytes allows; the bytes between are emulatedGuard.
type emulatedBlock struct {
	pages   []byte // all of them
	at, len int    // of the allocation
}

const emulatedGuard = 0xff // makes a NaN of any floating type

// check says whether something was written beside the allocation.
func (b *emulatedBlock) check() error {
	page := syscall.Getpagesize()
	for i := page; i < len(b.pages)-page; i++ {
		if i == b.at {
			i += b.len
		}
		if i < len(b.pages)-page && b.pages[i] != emulatedGuard {
			return fmt.Errorf("emulated: byte %d of %d was written", i-b.at, b.len)
		}
	}
	return nil
}

func (e *emulated) Alloc(bytes int64) (Address, error) {
	page := syscall.Getpagesize()
	aligned := (int(bytes) + 15) &^ 15
	inner := (aligned + page - 1) &^ (page - 1)
	pages, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return 0, &Error{Call: "cuMemAlloc", Code: codeOutOfMemory}
	}
	for i := page; i < page+inner; i++ {
		pages[i] = emulatedGuard
	}
	if err := errors.Join(syscall.Mprotect(pages[:page], syscall.PROT_NONE), syscall.Mprotect(pages[page+inner:], syscall.PROT_NONE)); err != nil {
		return 0, err
	}
	b := &emulatedBlock{pages: pages, at: page + inner - aligned, len: int(bytes)}
	a := Address(uintptr(unsafe.Pointer(&pages[b.at])))
	e.memory[a] = b
	return a, nil
}

func (e *emulated) Free(a Address) error {
	b, have := e.memory[a]
	if !have {
		return &Error{Call: "cuMemFree", Code: 1}
	}
	delete(e.memory, a)
	return errors.Join(b.check(), syscall.Munmap(b.pages))
}

func (e *emulated) AllocHost(bytes int64) ([]byte, Address, error) {
	a, err := e.Alloc(bytes)
	if err != nil {
		return nil, 0, err
	}
	mem, err := e.view(a, bytes)
	return mem, a, err
}

func (e *emulated) FreeHost(a Address) error { return e.Free(a) }

// view is the memory from an address within an allocation.
func (e *emulated) view(a Address, bytes int64) ([]byte, error) {
	for start, b := range e.memory {
		if a >= start && int64(a-start)+bytes <= int64(b.len) {
			at := b.at + int(a-start)
			return b.pages[at : at+int(bytes) : at+int(bytes)], nil
		}
	}
	return nil, fmt.Errorf("emulated: %d bytes at %#x are in no allocation", bytes, a)
}

func (e *emulated) Upload(to Address, from []byte) error {
	mem, err := e.view(to, int64(len(from)))
	copy(mem, from)
	return err
}

func (e *emulated) Download(to []byte, from Address) error {
	mem, err := e.view(from, int64(len(to)))
	copy(to, mem)
	return err
}

// add does what is added to the stream, or keeps it for a graph.
func (e *emulated) add(f func() error) error {
	if e.recording {
		e.graphs[len(e.graphs)-1] = append(e.graphs[len(e.graphs)-1], f)
		return nil
	}
	return f()
}

func (e *emulated) Set(to Address, value byte, bytes int64) error {
	return e.add(func() error {
		mem, err := e.view(to, bytes)
		for i := range mem {
			mem[i] = value
		}
		return err
	})
}

func (e *emulated) Copy(to, from Address, bytes int64) error {
	return e.add(func() error {
		target, err := e.view(to, bytes)
		if err != nil {
			return err
		}
		source, err := e.view(from, bytes)
		copy(target, source)
		return err
	})
}

func (e *emulated) Launch(f Function, g Grid, args ...Arg) error {
	grid := [6]int32{}
	for i, n := range append(g.Blocks[:], g.Threads[:]...) {
		grid[i] = int32(max(n, 1))
	}
	most, err := e.Attribute(SharedBytesPerBlock)
	if threads := grid[3] * grid[4] * grid[5]; err != nil || threads > 1024 || grid[1] > 65535 || grid[2] > 65535 || g.Shared > most {
		return errors.Join(err, &Error{Call: "cuLaunchKernel", Code: 1, Log: fmt.Sprintf("%+v", g)})
	}
	args = append([]Arg{}, args...)
	return e.add(func() error {
		e.launches++
		function := e.functions[f]
		emulatedLibraries.Lock()
		failed := function.launch(unsafe.SliceData(args), int32(len(args)), &grid[0], g.Shared, e.launches)
		emulatedLibraries.Unlock()
		if failed != "" {
			return fmt.Errorf("emulated: kernel %s, grid %+v: %s", function.name, g, failed)
		}
		return nil
	})
}

func (e *emulated) Load(image []byte) (Module, error) {
	h, err := openEmulated(string(image))
	return Module(h), err
}

func (e *emulated) Function(m Module, name string) (Function, error) {
	symbol, err := purego.Dlsym(uintptr(m), "emulated_launch_"+name)
	if err != nil {
		return 0, &Error{Call: "cuModuleGetFunction", Code: 500, Log: name}
	}
	f := emulatedFunction{name: name}
	purego.RegisterFunc(&f.launch, symbol)
	e.functions = append(e.functions, f)
	return Function(len(e.functions) - 1), nil
}

func (e *emulated) Capture(f func() error) (Graph, error) {
	e.graphs = append(e.graphs, nil)
	e.recording = true
	err := f()
	e.recording = false
	return Graph(len(e.graphs) - 1), err
}

func (e *emulated) Replay(g Graph) error {
	for _, f := range e.graphs[g] {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (e *emulated) NewEvent() (Event, error) {
	e.events = append(e.events, time.Time{})
	return Event(len(e.events) - 1), nil
}

func (e *emulated) Record(event Event) error {
	return e.add(func() error {
		e.events[event] = time.Now()
		return nil
	})
}

func (e *emulated) Elapsed(from, to Event) (time.Duration, error) {
	return e.events[to].Sub(e.events[from]), nil
}

func (e *emulated) Attribute(a Attribute) (int, error) {
	shared := map[Capability]int{{8, 0}: 163, {8, 6}: 99, {8, 7}: 163, {8, 9}: 99, {9, 0}: 227, {10, 0}: 227, {12, 0}: 99}
	switch a {
	case CapabilityMajor:
		return e.capability.Major, nil
	case CapabilityMinor:
		return e.capability.Minor, nil
	case SMCount:
		return 3, nil // few and odd
	case L2Bytes:
		return 64 << 10, nil
	case ClockRateKHz:
		return 2_000_000, nil
	case SharedBytesPerBlock:
		return shared[e.capability] << 10, nil
	}
	return 0, &Error{Call: "cuDeviceGetAttribute", Code: 1}
}

func (e *emulated) Memory() (int64, error)  { return 1 << 30, nil }
func (e *emulated) Do(f func() error) error { return f() }
func (e *emulated) Stream() uintptr         { return 0 }
func (e *emulated) Synchronize() error      { return nil }
func (e *emulated) FreeEvent(Event) error   { return nil }
func (e *emulated) FreeGraph(g Graph) error { e.graphs[g] = nil; return nil }

func (e *emulated) Close() error {
	var errs []error
	for a := range e.memory {
		errs = append(errs, e.Free(a))
	}
	return errors.Join(errs...)
}
