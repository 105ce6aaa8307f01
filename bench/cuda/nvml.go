//go:build linux && cgo

package cuda

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"hwcal/bench"
	"hwcal/schema"
)

// nvmlWatcher watches a GPU through NVML. What the driver does not tell is not watched.
type nvmlWatcher struct {
	lib    nvml.Interface
	device nvml.Device
	// counts says that the device has a counter of energy, which counts it alone.
	counts bool
}

// newWatcher finds the device by its UUID.
func newWatcher(dev schema.Device) (Watcher, error) { return watch(nvml.New(), dev) }

// watch calls nothing of a library whose Init failed, not even Shutdown. Energy is counted only if a meter was
// detected: for a MIG device a driver may report the energy of the whole GPU.
func watch(lib nvml.Interface, dev schema.Device) (Watcher, error) {
	if ret := lib.Init(); ret != nvml.SUCCESS {
		return nil, fmt.Errorf("nvmlInit returned %d", ret)
	}
	w := &nvmlWatcher{lib: lib, counts: slices.ContainsFunc(dev.Power.Meters, schema.PowerMeter.Counted)}
	ret := nvml.ERROR_FUNCTION_NOT_FOUND
	if w.has("nvmlDeviceGetHandleByUUID") {
		w.device, ret = lib.DeviceGetHandleByUUID(dev.GPU.UUID)
	}
	if ret != nvml.SUCCESS {
		lib.Shutdown()
		return nil, fmt.Errorf("nvmlDeviceGetHandleByUUID(%s) returned %d", dev.GPU.UUID, ret)
	}
	return w, nil
}

func (w *nvmlWatcher) has(symbol string) bool { return w.lib.Extensions().LookupSymbol(symbol) == nil }

// told asks for what the library has and the device supports: an old one lacks symbols, and calling
// one of those ends the process.
func told[T any](w *nvmlWatcher, symbol string, f func() (T, nvml.Return)) (value T, ok bool) {
	if !w.has(symbol) {
		return value, false
	}
	v, ret := f()
	return v, ret == nvml.SUCCESS
}

// Reasons for which clocks are below what was asked for, of nvml.h.
const (
	reasonPowerCap = 0x4
	// hardware slowdown, software thermal slowdown, hardware thermal slowdown, power brake
	reasonsThrottled = 0x8 | 0x20 | 0x40 | 0x80
)

var reasonNames = []struct {
	bit  uint64
	name string
}{{0x8, "hardware slowdown"}, {0x20, "software thermal slowdown"}, {0x40, "hardware thermal slowdown"}, {0x80, "power brake"}}

// state is what is compared before and after a case.
type state struct {
	reasons     uint64
	others      []uint32 // processes that compute on the device, but this one
	uncorrected uint64   // memory errors since the driver was loaded
}

func (w *nvmlWatcher) state() state {
	var s state
	s.reasons, _ = told(w, "nvmlDeviceGetCurrentClocksThrottleReasons", w.device.GetCurrentClocksThrottleReasons)
	s.uncorrected, _ = told(w, "nvmlDeviceGetTotalEccErrors", func() (uint64, nvml.Return) {
		return w.device.GetTotalEccErrors(nvml.MEMORY_ERROR_TYPE_UNCORRECTED, nvml.VOLATILE_ECC)
	})
	processes, known := told(w, "nvmlDeviceGetComputeRunningProcesses_v3", w.device.GetComputeRunningProcesses)
	if !known { // CUDA 11.5 and older
		processes, _ = told(w, "nvmlDeviceGetComputeRunningProcesses_v2", w.device.GetComputeRunningProcesses)
	}
	for _, p := range processes {
		s.others = append(s.others, p.Pid)
	}
	s.others = withoutSelf(s.others, uint32(os.Getpid()))
	return s
}

// withoutSelf leaves this process out. In a container NVML reports the host's process numbers, none of which equals
// our own; as one of them still is this process, the last is dropped.
func withoutSelf(pids []uint32, self uint32) []uint32 {
	if i := slices.Index(pids, self); i >= 0 {
		return slices.Delete(slices.Clone(pids), i, i+1)
	}
	if len(pids) > 0 {
		return pids[:len(pids)-1]
	}
	return nil
}

// Watch compares the state of the device before and after.
func (w *nvmlWatcher) Watch() func() bench.Observation {
	before := w.state()
	return func() bench.Observation {
		after := w.state()
		var o bench.Observation
		add := func(code schema.Code, format string, args ...any) {
			o.Disturbances = append(o.Disturbances, bench.Disturbance{Code: code, Reason: fmt.Sprintf(format, args...)})
		}
		reasons := before.reasons | after.reasons
		if reasons&reasonsThrottled != 0 {
			var names []string
			for _, r := range reasonNames {
				if reasons&r.bit != 0 {
					names = append(names, r.name)
				}
			}
			add(schema.Throttled, "the driver holds the clock down: %s", strings.Join(names, ", "))
		}
		if reasons&reasonPowerCap != 0 {
			add(schema.PowerCapped, "the power limit holds the clock down")
		}
		if n := max(len(before.others), len(after.others)); n > 0 {
			add(schema.DeviceShared, "%d other processes compute on the device", n)
		}
		if after.uncorrected > before.uncorrected {
			add(schema.MemoryErrors, "%d uncorrected memory errors", after.uncorrected-before.uncorrected)
		}
		return o
	}
}

// leastWindow is the shortest time whose energy is told: the counter is updated a few times a
// second.
const leastWindow = 500 * time.Millisecond

// Meter counts the energy of the whole board.
func (w *nvmlWatcher) Meter() bench.Meter {
	if !w.counts {
		return nil
	}
	return bench.Counters{
		Names: []string{"GPU"}, Least: leastWindow, Now: time.Now,
		Joules: func() (float64, error) {
			mj, ret := w.device.GetTotalEnergyConsumption()
			if ret != nvml.SUCCESS {
				return 0, fmt.Errorf("nvmlDeviceGetTotalEnergyConsumption returned %d", ret)
			}
			return float64(mj) / 1e3, nil
		},
		Celsius: func() float64 {
			celsius, _ := told(w, "nvmlDeviceGetTemperature", func() (uint32, nvml.Return) { return w.device.GetTemperature(nvml.TEMPERATURE_GPU) })
			return float64(celsius)
		},
	}.Start()
}

// Close gives the library back.
func (w *nvmlWatcher) Close() error {
	if ret := w.lib.Shutdown(); ret != nvml.SUCCESS {
		return fmt.Errorf("cuda: nvmlShutdown returned %d", ret)
	}
	return nil
}
