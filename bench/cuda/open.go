package cuda

import (
	"errors"
	"fmt"

	"hwcal/schema"
)

// Open finds the driver, opens the device as it was detected, and looks for the libraries, each of
// which is optional.
func Open(dev schema.Device) (*Backend, error) {
	driver, err := newDriver()
	if err != nil {
		return nil, err
	}
	version, err := driver.Version()
	if err != nil {
		return nil, err
	}
	context, err := driver.Open(dev.GPU.UUID)
	if err != nil {
		return nil, err
	}
	compiler, lacking, err := newCompiler(context, version)
	if err != nil {
		return nil, errors.Join(err, context.Close())
	}
	watcher, blind := newWatcher(dev)
	b, err := New(context, compiler, watcher)
	if err != nil {
		if watcher != nil {
			err = errors.Join(err, watcher.Close())
		}
		return nil, errors.Join(err, context.Close())
	}
	if blind != nil {
		b.lacking["nvml"] = blind.Error()
	}
	if lacking != nil {
		b.lacking["nvrtc"] = lacking.Error()
	}
	l, err := openCuBLASLt(context, version)
	b.add(cuBLASLt, l, err)
	l, err = openCuDNN(context)
	b.add(cuDNN, l, err)
	return b, nil
}

// newCompiler is NVRTC, or else the PTX of the binary, and why NVRTC is lacking.
func newCompiler(c Context, driver int) (compiler Compiler, lacking, err error) {
	capability, err := capabilityOf(c)
	if err != nil {
		return nil, nil, err
	}
	if compiler, lacking = newNVRTC(driver, capability); lacking == nil {
		return withCache(compiler), nil, nil
	}
	if !capability.AtLeast(8, 0) {
		return nil, nil, fmt.Errorf("cuda: a device of compute capability %s needs NVRTC, as the PTX of the binary is for 8.0 and newer: %w", capability, lacking)
	}
	compiler, err = newPrebuilt()
	return compiler, lacking, err
}
