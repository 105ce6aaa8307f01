//go:build linux && (amd64 || arm64)

package sharedlib

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/ebitengine/purego"
)

// Library was loaded. It is never unloaded: many keep threads of their own.
type Library uintptr

// Open loads the first of the names that there is, each a path or one that the loader looks for.
func Open(names ...string) (Library, error) {
	var failures []string
	for _, name := range names {
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return Library(handle), nil
		}
		failures = append(failures, err.Error())
	}
	return 0, errors.New(strings.Join(failures, "; "))
}

// Bind fills the fields of a struct, to which `functions` points, with the functions that their
// tag `c` names: a field that is a func can be called, a uintptr holds the address. In
// the type of a func stands what C passes: int32 for int and enums, uintptr for size_t
// and handles, a pointer for a pointer. Memory that such a function keeps after it returned must not
// be Go's.
func (l Library) Bind(functions any) error {
	fields := reflect.ValueOf(functions).Elem()
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Tag.Get("c")
		symbol, err := purego.Dlsym(uintptr(l), name)
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
