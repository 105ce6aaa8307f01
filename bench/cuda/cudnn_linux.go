//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"hwcal/bench"
)

// cudnnStatus is a cudnnStatus_t, 0 for success. Its thousands tell the kind.
type cudnnStatus int32

// Kinds of status, and those that older versions and memory have for themselves.
const (
	cudnnBadParam       = 2000
	cudnnNotSupported   = 3000
	cudnnInternalError  = 4000
	cudnnFailedCompile  = 4001
	cudnnNoHostMemory   = 4003
	cudnnNoDeviceMemory = 4004
)

// cudnnError is a call of the library that failed.
type cudnnError struct {
	call   string
	status cudnnStatus
	text   string // what the library says of it; may be empty
}

func (e *cudnnError) Error() string {
	text := fmt.Sprintf("%s: cuDNN status %d", e.call, e.status)
	if e.text != "" {
		text += ": " + e.text
	}
	return text
}

// Is lets errors.Is tell what the library cannot do from what went wrong. An engine that it offers but
// then cannot build, or whose parameters it refuses, counts as unsupported.
func (e *cudnnError) Is(target error) bool {
	switch target {
	case bench.ErrUnsupported:
		kind := e.status / 1000 * 1000
		return kind == cudnnBadParam || kind == cudnnNotSupported || e.status == cudnnInternalError || e.status == cudnnFailedCompile
	case bench.ErrMemory:
		return e.status == cudnnNoHostMemory || e.status == cudnnNoDeviceMemory
	}
	return false
}

// libcudnn are the functions of the library, all of its graph interface.
type libcudnn struct {
	getVersion  func() uintptr                                                                                `c:"cudnnGetVersion"`
	getCUDA     func() uintptr                                                                                `c:"cudnnGetCudartVersion"`
	lastError   func(text *byte, bytes uintptr)                                                               `c:"cudnnGetLastErrorString"`
	create      func(h *uintptr) cudnnStatus                                                                  `c:"cudnnCreate"`
	destroy     func(h uintptr) cudnnStatus                                                                   `c:"cudnnDestroy"`
	setStream   func(h, stream uintptr) cudnnStatus                                                           `c:"cudnnSetStream"`
	newOne      func(kind int32, d *descriptor) cudnnStatus                                                   `c:"cudnnBackendCreateDescriptor"`
	destroyOne  func(d descriptor) cudnnStatus                                                                `c:"cudnnBackendDestroyDescriptor"`
	finalizeOne func(d descriptor) cudnnStatus                                                                `c:"cudnnBackendFinalize"`
	setOne      func(d descriptor, name, kind int32, n int64, values unsafe.Pointer) cudnnStatus              `c:"cudnnBackendSetAttribute"`
	getOne      func(d descriptor, name, kind int32, room int64, n *int64, values unsafe.Pointer) cudnnStatus `c:"cudnnBackendGetAttribute"`
	execute     uintptr                                                                                       `c:"cudnnBackendExecute"` // called for every execution: without reflection
}

// cudnnLibrary is cuDNN with its handle on a context.
type cudnnLibrary struct {
	libcudnn
	context Context
	handle  uintptr
	version string
	number  uintptr // of the version: 90100 is 9.1.0
	// properties describe a device that is not there, for plans that are made without one; 0
	// for the device of the handle.
	properties descriptor
	// plans by the description of their graph: all that could be built, and once they were timed the
	// fastest alone.
	plans   map[string][]plan
	refused map[string]error // of graphs for which there are none
	built   []*descriptors   // of the plans and of what they were built from
}

// openCuDNN loads version 9, the first with all of what is used here.
func openCuDNN(c Context) (library, error) {
	return loadCuDNN(c, "libcudnn.so.9", "libcudnn_graph.so.9")
}

func loadCuDNN(c Context, names ...string) (library, error) {
	l, err := bindCuDNN(c, names...)
	if err != nil {
		return nil, err
	}
	// Where the library does not find it, it ends the process. What was loaded it finds by its name.
	if _, err := openShared(fmt.Sprintf("libcublasLt.so.%d", l.getCUDA()/1000)); err != nil {
		return nil, fmt.Errorf("cuDNN %s needs cuBLASLt: %w", l.version, err)
	}
	err = c.Do(func() error {
		if err := l.check("cudnnCreate", l.create(&l.handle)); err != nil {
			return err
		}
		return l.check("cudnnSetStream", l.setStream(l.handle, c.Stream()))
	})
	if err != nil {
		return nil, fmt.Errorf("cuDNN %s: %w", l.version, err)
	}
	return l, nil
}

// bindCuDNN finds the functions; there is no handle yet.
func bindCuDNN(c Context, names ...string) (*cudnnLibrary, error) {
	shared, err := openShared(names...)
	if err != nil {
		return nil, err
	}
	l := &cudnnLibrary{context: c, plans: map[string][]plan{}, refused: map[string]error{}}
	if err := shared.Bind(&l.libcudnn); err != nil {
		return nil, fmt.Errorf("cuDNN: %w", err)
	}
	v := l.getVersion()
	l.number = v
	l.version = fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100)
	return l, nil
}

func (l *cudnnLibrary) Version() string { return l.version }

func (l *cudnnLibrary) Close() error {
	return l.context.Do(func() error {
		var errs []error
		for _, d := range l.built {
			errs = append(errs, d.free())
		}
		return errors.Join(append(errs, l.check("cudnnDestroy", l.destroy(l.handle)))...)
	})
}

func (l *cudnnLibrary) check(call string, s cudnnStatus) error {
	if s == 0 {
		return nil
	}
	why := make([]byte, 1024)
	l.lastError(&why[0], uintptr(len(why)))
	why, _, _ = bytes.Cut(why, []byte{0})
	return &cudnnError{call, s, string(why)}
}
