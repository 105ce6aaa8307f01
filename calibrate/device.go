package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hwcal/bench"
	"hwcal/bench/cpu"
	"hwcal/bench/cpu/external"
	"hwcal/bench/cuda"
	"hwcal/hwdetect"
	"hwcal/schema"
)

// openBackend is a device ready to be measured.
type openBackend interface {
	bench.Backend
	// Lacking says of each library that is not there why.
	Lacking() map[string]string
	Close() error
}

// openDevice opens the backend of a device as detected, and adds to the device what only the
// backend can tell of it.
func openDevice(dev *schema.Device) (openBackend, error) {
	if dev.Kind == schema.CPU {
		return cpu.New(*dev, external.All(dev.CPU.UsedCPUs)...)
	}
	b, err := cuda.Open(*dev)
	if err != nil {
		return nil, fmt.Errorf("device %s: %w", dev.ID, err)
	}
	dev.GPU.L2Bytes, dev.GPU.Libraries = b.L2(), b.Libraries()
	lacking := b.Lacking()
	for _, name := range slices.Sorted(maps.Keys(lacking)) {
		dev.Unavailable = append(dev.Unavailable, schema.Unavailable{What: name, Reason: lacking[name]})
	}
	return b, nil
}

// memoryOf is what a run may plan with on a device.
func memoryOf(dev schema.Device, h schema.Host) int64 {
	switch {
	case dev.GPU != nil && dev.GPU.MemoryBytes > 0:
		return dev.GPU.MemoryBytes
	case dev.GPU == nil && h.MemoryAvailableBytes > 0:
		return h.MemoryAvailableBytes
	}
	return assumedMemory
}

// assumedMemory is what a run may plan with where the system does not tell.
const assumedMemory = 2 << 30

// selectDevices picks the devices that --device names.
func selectDevices(m hwdetect.Machine, word string) ([]schema.Device, error) {
	kind, index, numbered := strings.Cut(word, ":")
	var picked []schema.Device
	switch {
	case word == "all":
		picked = slices.Clone(m.Devices)
		picked[0].Unavailable = append(picked[0].Unavailable, m.Unavailable...)
	case word == "cpu":
		picked = m.Devices[:1]
	case kind == "cuda" && (!numbered || isNumber(index)):
		for _, d := range m.Devices {
			if d.Kind == schema.GPU && (!numbered || d.ID == "cuda"+index) {
				picked = append(picked, d)
			}
		}
		if len(picked) == 0 {
			reason := "there is no such device"
			for _, u := range m.Unavailable {
				reason = u.Reason
			}
			return nil, fmt.Errorf("device %s: %s", word, reason)
		}
	default:
		return nil, usagef("--device %q: want cpu, cuda, cuda:N or all", word)
	}
	return slices.Clone(picked), nil
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
