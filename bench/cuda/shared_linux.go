//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/ebitengine/purego"
)

// shared is a shared library that was loaded. It is never unloaded: those of CUDA keep
// threads of their own.
type shared uintptr

// openShared loads the first of the names that there is: where the loader looks, else in a
// CUDA toolkit. The error says where was looked.
func openShared(names ...string) (shared, error) {
	var failures []string
	for _, dir := range append([]string{""}, toolkitDirs()...) {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if dir != "" {
				if _, err := os.Stat(path); err != nil {
					continue
				}
			}
			handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
			if err == nil {
				return shared(handle), nil
			}
			failures = append(failures, err.Error())
		}
	}
	return 0, fmt.Errorf("%s not found, neither by the loader nor in %s: %s",
		strings.Join(names, ", "), strings.Join(toolkitDirs(), ", "), strings.Join(failures, "; "))
}

// toolkitDirs are where the libraries of a CUDA toolkit lie.
func toolkitDirs() []string {
	var dirs []string
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := os.Getenv(variable); home != "" {
			dirs = append(dirs, filepath.Join(home, "lib64"))
		}
	}
	return append(dirs, "/usr/local/cuda/lib64")
}

// bind fills the fields of a struct, to which `functions` points, with the functions that their
// tag `c` names: a field that is a func can be called, a uintptr holds the address. In
// the type of a func stands what C passes: int32 for int and enums, uintptr for size_t
// and handles, a pointer for a pointer. Memory that such a function keeps after it returned must not
// be Go's.
func (s shared) bind(functions any) error {
	fields := reflect.ValueOf(functions).Elem()
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Tag.Get("c")
		symbol, err := purego.Dlsym(uintptr(s), name)
		if err != nil {
			return fmt.Errorf("it has no %s", name)
		}
		// By address, since the fields are not exported.
		field := reflect.NewAt(fields.Field(i).Type(), fields.Field(i).Addr().UnsafePointer()).Interface()
		if address, ok := field.(*uintptr); ok {
			*address = symbol
		} else {
			purego.RegisterFunc(field, symbol)
		}
	}
	return nil
}
