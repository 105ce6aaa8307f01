package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hwcal/bench"
	"hwcal/schema"
)

// unmeasured is why a device cannot be measured: it cannot be opened, or multiplies in none of the types.
type unmeasured struct{ error }

func (u unmeasured) Unwrap() error { return u.error }

// measureAll measures the devices of a profile one after the other, and says whether a full run was interrupted.
// A device that cannot be measured is recorded as such, and the others are measured all the same; only if none can be
// is that an error. A device that cannot be resumed stays interrupted as it was, if others were measured before it.
func measureAll(p *schema.Profile, measure func(i int, dev *schema.Device) ([]schema.Warning, error)) (interrupted bool, err error) {
	var without []error
	var refused error
	for i := range p.Devices {
		dev := &p.Devices[i]
		warnings, err := measure(i, dev)
		var no unmeasured
		switch {
		case errors.As(err, &no):
			without = append(without, err)
			dev.Unavailable = append(dev.Unavailable, schema.Unavailable{What: schema.Measurements, Reason: err.Error()})
			warnings = []schema.Warning{{Code: schema.Failed, Message: err.Error()}}
		case p.Metadata.Mode == schema.Full && errors.Is(err, context.Canceled):
			interrupted = true
		case errors.Is(err, bench.ErrResume) && i > 0:
			interrupted, refused = true, errors.Join(refused, err)
		case err != nil:
			return false, err
		}
		for _, w := range warnings {
			w.Path = fmt.Sprintf("/devices/%d%s", i, w.Path)
			p.Warnings = append(p.Warnings, w)
		}
	}
	if len(without) == len(p.Devices) {
		return false, errors.Join(without...)
	}
	return interrupted, refused
}

// measure calibrates one device. After an interruption the device has what was measured by
// then. A device that the resumed run had completed is not measured again.
func measure(ctx context.Context, dev *schema.Device, o bench.Options) ([]schema.Warning, error) {
	if whole := o.Resume; whole != nil && whole.Device.Resume == nil {
		*dev = whole.Device
		return whole.Warnings, nil
	}
	backend, err := openDevice(dev)
	if err != nil {
		return nil, unmeasured{err}
	}
	defer backend.Close()
	if o.DTypes, err = supported(dev, backend, o.DTypes); err != nil {
		return nil, unmeasured{err}
	}
	if p, is := backend.(preparer); is {
		if err := p.Prepare(ctx.Done(), o.DTypes); err != nil {
			return nil, err
		}
	}
	o.Threads = dev.AllThreads()
	calibrator := bench.Calibrator{
		Runner:  bench.Runner{Backend: backend, Settings: bench.SettingsOf(o.Mode), Now: time.Now, Memory: max(1, o.MemoryBytes/2)},
		Device:  *dev,
		Options: o,
	}
	measured, warnings, err := calibrator.Run(ctx)
	if errors.Is(err, bench.ErrResume) {
		measured, warnings = o.Resume.Device, o.Resume.Warnings
	}
	*dev = measured
	return warnings, err
}

// preparer is a backend that has something to do before its budget begins, and may leave the rest of it out once done
// is closed.
type preparer interface {
	Prepare(done <-chan struct{}, dtypes []schema.DType) error
}

// supported keeps the dtypes in which the backend multiplies matrices and records
// the others.
func supported(dev *schema.Device, b bench.Backend, wanted []schema.DType) ([]schema.DType, error) {
	var have []schema.DType
	var reasons []string
	for _, d := range wanted {
		if slices.ContainsFunc(b.Kernels(), func(k bench.KernelInfo) bool { return k.Chain == "gemm" && k.DType == d }) {
			have = append(have, d)
			continue
		}
		dev.Unavailable = append(dev.Unavailable, schema.Unavailable{
			What: string(d), Reason: "unsupported: " + b.Unsupported(d),
		})
		reasons = append(reasons, fmt.Sprintf("%s: %s", d, b.Unsupported(d)))
	}
	if len(have) == 0 {
		return nil, fmt.Errorf("device %s: unsupported: %s", dev.ID, strings.Join(reasons, "; "))
	}
	return have, nil
}
