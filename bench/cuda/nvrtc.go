//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// libnvrtc are the functions of NVRTC, 11.2 or newer. A program is a handle; a size counts the zero at
// the end of a text.
type libnvrtc struct {
	version     func(major, minor *int32) result                                                   `c:"nvrtcVersion"`
	archCount   func(n *int32) result                                                              `c:"nvrtcGetNumSupportedArchs"`
	archs       func(archs *int32) result                                                          `c:"nvrtcGetSupportedArchs"`
	create      func(program *uintptr, source, name string, n int32, headers, names **byte) result `c:"nvrtcCreateProgram"`
	compile     func(program uintptr, n int32, options **byte) result                              `c:"nvrtcCompileProgram"`
	destroy     func(program *uintptr) result                                                      `c:"nvrtcDestroyProgram"`
	logSize     func(program uintptr, bytes *uintptr) result                                       `c:"nvrtcGetProgramLogSize"`
	log         func(program uintptr, log *byte) result                                            `c:"nvrtcGetProgramLog"`
	cubinSize   func(program uintptr, bytes *uintptr) result                                       `c:"nvrtcGetCUBINSize"`
	cubin       func(program uintptr, image *byte) result                                          `c:"nvrtcGetCUBIN"`
	ptxSize     func(program uintptr, bytes *uintptr) result                                       `c:"nvrtcGetPTXSize"`
	ptx         func(program uintptr, image *byte) result                                          `c:"nvrtcGetPTX"`
	errorString func(code result) string                                                           `c:"nvrtcGetErrorString"`
}

// nvrtc is NVIDIA's compiler as a library.
type nvrtc struct {
	libnvrtc
	major, minor int32
	known        []int // capabilities, 90 for 9.0
}

// newNVRTC loads the newest NVRTC whose code a driver of that version takes and that compiles for the device: new
// versions drop old devices. Versions 11.2 to 11.8 have the same file name.
func newNVRTC(driver int, c Capability) (Compiler, error) {
	return loadNVRTC(c, forDriver(driver, "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2")...)
}

// loadNVRTC loads the first of the names that there is and that compiles for the device. If none does, the error is that
// of the first that there is.
func loadNVRTC(c Capability, names ...string) (*nvrtc, error) {
	n, err := openNVRTC(names...)
	if err != nil {
		return nil, err
	}
	if _, err = n.target(c); err == nil {
		return n, nil
	}
	if older, none := loadNVRTC(c, names[1:]...); none == nil {
		return older, nil
	}
	return nil, err
}

func openNVRTC(names ...string) (*nvrtc, error) {
	lib, err := openShared(names...)
	if err != nil {
		return nil, err
	}
	n := &nvrtc{}
	if err := lib.Bind(&n.libnvrtc); err != nil {
		return nil, fmt.Errorf("NVRTC is older than 11.2: %w", err)
	}
	if err := n.check("nvrtcVersion", n.version(&n.major, &n.minor)); err != nil {
		return nil, err
	}
	// It looks for this one by its name alone when it compiles, and finds it if it was loaded from a toolkit before.
	_, _ = openShared(fmt.Sprintf("libnvrtc-builtins.so.%d.%d", n.major, n.minor))
	var count int32
	if err := n.check("nvrtcGetNumSupportedArchs", n.archCount(&count)); err != nil {
		return nil, err
	}
	archs := make([]int32, count+1) // never empty
	if err := n.check("nvrtcGetSupportedArchs", n.archs(&archs[0])); err != nil {
		return nil, err
	}
	for _, a := range archs[:count] {
		if a < 90 || n.major >= 12 { // 11.8 has sm_90, but not sm_90a
			n.known = append(n.known, int(a))
		}
	}
	return n, nil
}

func (n *nvrtc) check(call string, code result) error {
	if code == 0 {
		return nil
	}
	return &Error{Call: call, Code: int(code), Name: n.errorString(code)}
}

func (n *nvrtc) Name() string { return fmt.Sprintf("nvrtc %d.%d", n.major, n.minor) }

func (n *nvrtc) Compile(u Unit, c Capability) ([]byte, error) {
	target, err := n.target(c)
	if err != nil {
		return nil, err
	}
	return n.build(u, target)
}

// target is what is compiled for a device: a cubin; if it is newer than the compiler, PTX of the newest capability that
// the compiler knows.
func (n *nvrtc) target(c Capability) (string, error) {
	if slices.Contains(n.known, 10*c.Major+c.Minor) {
		return c.Arch(), nil
	}
	older := slices.DeleteFunc(slices.Clone(n.known), func(known int) bool { return known > 10*c.Major+c.Minor })
	if len(older) == 0 {
		return "", fmt.Errorf("cuda: %s compiles for capabilities %v, not for %s", n.Name(), n.known, c)
	}
	return fmt.Sprintf("compute_%d", slices.Max(older)), nil
}

// build compiles for a target: "sm_90a" gives a cubin, "compute_90a" PTX.
func (n *nvrtc) build(u Unit, target string, options ...string) ([]byte, error) {
	source, err := u.Text()
	if err != nil {
		return nil, err
	}
	return n.compileText(u.Source+".cu", source, slices.Concat(u.Options(), []string{"--gpu-architecture=" + target}, options))
}

// compileText gives the cubin of a source if there is one with these options, else PTX.
func (n *nvrtc) compileText(name, source string, options []string) ([]byte, error) {
	headers := Headers()
	names := slices.Sorted(maps.Keys(headers))
	var texts []string
	for _, name := range names {
		texts = append(texts, headers[name])
	}
	var program uintptr
	if err := n.check("nvrtcCreateProgram", n.create(&program, source, name, int32(len(names)), cStrings(texts), cStrings(names))); err != nil {
		return nil, err
	}
	defer n.destroy(&program)
	if code := n.compile(program, int32(len(options)), cStrings(options)); code != 0 {
		log, _ := n.read("nvrtcGetProgramLog", program, n.logSize, n.log) // may be empty
		return nil, &Error{
			Call: "nvrtcCompileProgram", Code: int(code), Name: n.errorString(code),
			Log: strings.TrimRight(string(log), "\x00\n"),
		}
	}
	cubin, err := n.read("nvrtcGetCUBIN", program, n.cubinSize, n.cubin)
	if err != nil || len(cubin) > 0 {
		return cubin, err
	}
	return n.read("nvrtcGetPTX", program, n.ptxSize, n.ptx)
}

// read gets what a program has of a kind.
func (n *nvrtc) read(call string, program uintptr, size func(uintptr, *uintptr) result, get func(uintptr, *byte) result) ([]byte, error) {
	var bytes uintptr
	if err := n.check(call+"Size", size(program, &bytes)); err != nil {
		return nil, err
	}
	if bytes == 0 {
		return nil, nil
	}
	mem := make([]byte, bytes)
	return mem, n.check(call, get(program, &mem[0]))
}

// cStrings is an array of strings of C, in Go's memory: the pointers in it keep them alive.
func cStrings(all []string) **byte {
	array := make([]*byte, len(all)+1) // never empty
	for i, s := range all {
		array[i] = &append([]byte(s), 0)[0]
	}
	return &array[0]
}
