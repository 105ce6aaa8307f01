//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"
)

// descriptor is a cudnnBackendDescriptor_t.
type descriptor uintptr

// descriptors are made together and destroyed together.
type descriptors struct {
	*cudnnLibrary
	made []descriptor
}

// number is that of a descriptor among those that are made together. It stands for the descriptor in
// attributes before there is one.
type number int

// attribute is a slice of values for a descriptor.
type attribute struct {
	name, kind int32
	values     any
}

func one[T any](name, kind int32, v T) attribute { return attribute{name, kind, []T{v}} }

func many[T any](name, kind int32, v []T) attribute { return attribute{name, kind, v} }

// make makes one with attributes.
func (d *descriptors) make(kind int32, attributes ...attribute) (descriptor, error) {
	of, err := d.empty(kind)
	if err != nil {
		return 0, err
	}
	for _, a := range attributes {
		if numbers, ok := a.values.([]number); ok {
			a.values = d.numbered(numbers)
		}
		v := reflect.ValueOf(a.values)
		if err := d.check("cudnnBackendSetAttribute", d.setOne(of, a.name, a.kind, int64(v.Len()), v.UnsafePointer())); err != nil {
			return 0, fmt.Errorf("attribute %d: %w", a.name, err)
		}
	}
	return of, d.check("cudnnBackendFinalize", d.finalizeOne(of))
}

func (d *descriptors) numbered(numbers []number) []descriptor {
	var all []descriptor
	for _, n := range numbers {
		all = append(all, d.made[n])
	}
	return all
}

// empty is one without attributes, for the library to fill.
func (d *descriptors) empty(kind int32) (descriptor, error) {
	var of descriptor
	if err := d.check("cudnnBackendCreateDescriptor", d.newOne(kind, &of)); err != nil {
		return 0, fmt.Errorf("descriptor %d: %w", kind, err)
	}
	d.made = append(d.made, of)
	return of, nil
}

// parts are descriptors that an attribute of another holds, at most so many.
func (d *descriptors) parts(of descriptor, name, kind int32, most int) ([]descriptor, error) {
	parts := make([]descriptor, most)
	for i := range parts {
		var err error
		if parts[i], err = d.empty(kind); err != nil {
			return nil, err
		}
	}
	n, err := d.read(of, name, typeDescriptor, most, unsafe.Pointer(&parts[0]))
	return parts[:n], err
}

// value reads an attribute of one value.
func value[T any](l *cudnnLibrary, of descriptor, name, kind int32) (v T, err error) {
	_, err = l.read(of, name, kind, 1, unsafe.Pointer(&v))
	return v, err
}

// read gives the number of values of an attribute that were read, at most so many.
func (l *cudnnLibrary) read(of descriptor, name, kind int32, most int, values unsafe.Pointer) (int, error) {
	var n int64
	err := l.check("cudnnBackendGetAttribute", l.getOne(of, name, kind, int64(most), &n, values))
	return min(int(n), most), err
}

func (d *descriptors) free() error {
	var errs []error
	for _, of := range d.made {
		errs = append(errs, d.check("cudnnBackendDestroyDescriptor", d.destroyOne(of)))
	}
	return errors.Join(errs...)
}
