//go:build linux

package main

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// shared is a shared library that was found.
type shared uintptr

// dlopen loads the first of the names that there is.
func dlopen(names ...string) (shared, error) {
	var err error
	for _, name := range names {
		var handle uintptr
		if handle, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL); err == nil {
			return shared(handle), nil
		}
	}
	return 0, fmt.Errorf("not found")
}

// bind makes Go functions of symbols; f are pointers to function variables. A C int
// is declared as int: arguments travel in whole registers, and 64-bit builds of the
// libraries read all of it.
func (s shared) bind(functions map[string]any) error {
	for name, f := range functions {
		symbol, err := s.symbol(name)
		if err != nil {
			return err
		}
		purego.RegisterFunc(f, symbol)
	}
	return nil
}

// symbol is the address of a function.
func (s shared) symbol(name string) (uintptr, error) {
	address, err := purego.Dlsym(uintptr(s), name)
	if err != nil {
		return 0, fmt.Errorf("it has no %s", name)
	}
	return address, nil
}

// setenv sets a variable where C libraries see it, which Go's does not without cgo.
func setenv(name, value string) error {
	libc, err := dlopen("libc.so.6")
	if err != nil {
		return err
	}
	var set func(name, value string, overwrite int) int32
	if err := libc.bind(map[string]any{"setenv": &set}); err != nil {
		return err
	}
	if set(name, value, 1) != 0 {
		return fmt.Errorf("%s cannot be set", name)
	}
	return nil
}
