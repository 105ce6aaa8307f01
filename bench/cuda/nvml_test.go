//go:build linux && cgo

package cuda

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

// gpu1 is the device of the library, as it is detected.
var gpu1 = schema.Device{
	GPU:   &schema.GPUInfo{UUID: "GPU-1"},
	Power: schema.Power{Meters: []schema.PowerMeter{{Name: "GPU", Source: "nvmlDeviceGetTotalEnergyConsumption", Readable: true}}},
}

// mockGPU is a device whose state a test sets.
type mockGPU struct {
	reasons, errors, millijoules uint64
	pids                         []uint32
}

func (g *mockGPU) library(missing ...string) *mock.Interface {
	device := &mock.Device{
		GetCurrentClocksThrottleReasonsFunc: func() (uint64, nvml.Return) { return g.reasons, nvml.SUCCESS },
		GetTotalEccErrorsFunc: func(kind nvml.MemoryErrorType, counter nvml.EccCounterType) (uint64, nvml.Return) {
			return g.errors, nvml.SUCCESS
		},
		GetComputeRunningProcessesFunc: func() ([]nvml.ProcessInfo, nvml.Return) {
			var all []nvml.ProcessInfo
			for _, pid := range g.pids {
				all = append(all, nvml.ProcessInfo{Pid: pid})
			}
			return all, nvml.SUCCESS
		},
		GetTotalEnergyConsumptionFunc: func() (uint64, nvml.Return) { return g.millijoules, nvml.SUCCESS },
		GetTemperatureFunc:            func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 61, nvml.SUCCESS },
	}
	return &mock.Interface{
		InitFunc:     func() nvml.Return { return nvml.SUCCESS },
		ShutdownFunc: func() nvml.Return { return nvml.SUCCESS },
		ExtensionsFunc: func() nvml.ExtendedInterface {
			return &mock.ExtendedInterface{LookupSymbolFunc: func(symbol string) error {
				for _, m := range missing {
					if m == symbol {
						return errors.New("undefined symbol")
					}
				}
				return nil
			}}
		},
		DeviceGetHandleByUUIDFunc: func(uuid string) (nvml.Device, nvml.Return) {
			if uuid != gpu1.GPU.UUID {
				return nil, nvml.ERROR_NOT_FOUND
			}
			return device, nvml.SUCCESS
		},
	}
}

// codes that a case meets in which the state of a quiet device becomes that one.
func codes(t *testing.T, w Watcher, change func()) []schema.Code {
	t.Helper()
	since := w.Watch()
	change()
	var got []schema.Code
	for _, d := range since().Disturbances {
		if d.Reason == "" {
			t.Errorf("%s has no reason", d.Code)
		}
		got = append(got, d.Code)
	}
	return got
}

func TestWatch(t *testing.T) {
	self := uint32(os.Getpid())
	for name, c := range map[string]struct {
		change func(*mockGPU)
		want   []schema.Code
	}{
		"quiet":                  {func(g *mockGPU) { g.reasons = 0x1 }, nil},
		"capped":                 {func(g *mockGPU) { g.reasons = 0x4 }, []schema.Code{schema.PowerCapped}},
		"hot":                    {func(g *mockGPU) { g.reasons = 0x60 }, []schema.Code{schema.Throttled}},
		"another process":        {func(g *mockGPU) { g.pids = append(g.pids, self+1) }, []schema.Code{schema.DeviceShared}},
		"alone in a container":   {func(g *mockGPU) { g.pids = []uint32{self + 7} }, nil},
		"a memory error":         {func(g *mockGPU) { g.errors++ }, []schema.Code{schema.MemoryErrors}},
		"all that goes together": {func(g *mockGPU) { g.reasons, g.errors = 0x84, 9 }, []schema.Code{schema.Throttled, schema.PowerCapped, schema.MemoryErrors}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &mockGPU{pids: []uint32{self}, errors: 3}
			w, err := watch(g.library(), gpu1)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, codes(t, w, func() { c.change(g) })); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A library without the symbols tells nothing, and nothing that it lacks is called.
func TestWatchOldLibrary(t *testing.T) {
	g := &mockGPU{reasons: 0xff, pids: []uint32{1, 2, 3}}
	older := []string{"nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetTotalEccErrors"}
	for _, lib := range []struct {
		missing []string
		want    []schema.Code
	}{{older, []schema.Code{schema.DeviceShared}}, {append(older, "nvmlDeviceGetComputeRunningProcesses_v2"), nil}} {
		w, err := watch(g.library(lib.missing...), gpu1)
		if err != nil {
			t.Fatal(err)
		}
		if got := codes(t, w, func() { g.errors++ }); !slices.Equal(got, lib.want) {
			t.Errorf("without %v: told %v, want %v", lib.missing, got, lib.want)
		}
	}
	if _, err := watch(g.library(), schema.Device{GPU: &schema.GPUInfo{UUID: "GPU-2"}}); err == nil {
		t.Error("another device is watched")
	}
	failed := &mock.Interface{InitFunc: func() nvml.Return { return nvml.ERROR_DRIVER_NOT_LOADED }}
	if _, err := watch(failed, gpu1); err == nil || len(failed.ShutdownCalls()) > 0 {
		t.Errorf("after a failed Init: %v", err)
	}
}

func TestMeter(t *testing.T) {
	g := &mockGPU{millijoules: 5000}
	w, err := watch(g.library(), gpu1)
	if err != nil {
		t.Fatal(err)
	}
	m := w.Meter()
	g.millijoules = 9000
	if e, ok := m.Stop(); ok || e.Joules != 4 || e.Celsius != 61 {
		t.Errorf("%+v, %t: want 4 J at 61 degrees in a window that is too short", e, ok)
	}
}

// A counter that was not detected as one of the device is not read: that of a GPU counts all of its MIG devices.
func TestMeterOfMIGDevice(t *testing.T) {
	g := &mockGPU{millijoules: 5000}
	slice := schema.Device{
		GPU:   &schema.GPUInfo{UUID: gpu1.GPU.UUID, ParentUUID: "GPU-0"},
		Power: schema.Power{Unavailable: "the meters of a GPU count all of its MIG devices together"},
	}
	w, err := watch(g.library(), slice)
	if err != nil {
		t.Fatal(err)
	}
	if w.Meter() != nil {
		t.Error("a MIG device is said to take what the whole GPU takes")
	}
}
