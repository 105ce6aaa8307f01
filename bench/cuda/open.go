package cuda

import (
	"errors"

	"hwcal/schema"
)

// Open finds the driver, opens the device as it was detected, and looks for the libraries. What
// compiles the kernels has to be there; the rest is optional.
func Open(dev schema.Device) (*Backend, error) {
	driver, err := newDriver()
	if err != nil {
		return nil, err
	}
	version, err := driver.Version()
	if err != nil {
		return nil, err
	}
	compiler, err := newNVRTC(version)
	if err != nil {
		return nil, err
	}
	context, err := driver.Open(dev.GPU.UUID)
	if err != nil {
		return nil, err
	}
	b, err := New(context, compiler, nil)
	if err != nil {
		return nil, errors.Join(err, context.Close())
	}
	l, err := openCuBLASLt(context)
	b.add(cuBLASLt, l, err)
	return b, nil
}
