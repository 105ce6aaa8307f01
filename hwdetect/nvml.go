//go:build linux && cgo

package hwdetect

import (
	"errors"
	"fmt"
	"os"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"hwcal/schema"
)

// nvidiaGPUs lists the GPUs of the NVIDIA driver of this machine.
func nvidiaGPUs() ([]schema.Device, error) { return listGPUs(nvml.New(), "/") }

// listGPUs lists the devices of a driver. After an Init that failed nothing
// else may be called, not even Shutdown: symbols are bound lazily, and a
// missing one ends the process.
func listGPUs(lib nvml.Interface, root string) ([]schema.Device, error) {
	switch ret := lib.Init(); ret {
	case nvml.SUCCESS:
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		if _, err := os.Stat(string(tree(root).path("proc/driver/nvidia"))); err == nil {
			return nil, errors.New("the NVIDIA driver is loaded but libnvidia-ml.so.1 was not found: install it, or pass it into the container")
		}
		return nil, errors.New("no NVIDIA driver: libnvidia-ml.so.1 was not found")
	case nvml.ERROR_DRIVER_NOT_LOADED:
		return nil, errors.New("the NVIDIA kernel module is not loaded (nvmlInit: driver not loaded)")
	default:
		return nil, fmt.Errorf("NVML does not start: nvmlInit returned %d", ret)
	}
	defer lib.Shutdown()
	q := query{lib}
	n, ok := ask(q, "nvmlDeviceGetCount_v2", lib.DeviceGetCount)
	if !ok {
		return nil, errors.New("NVML does not count its devices: nvmlDeviceGetCount failed")
	}
	if n == 0 {
		return nil, errors.New("the NVIDIA driver lists no GPU")
	}
	driver, _ := ask(q, "nvmlSystemGetDriverVersion", lib.SystemGetDriverVersion)
	var devices []schema.Device
	var failed error
	for i := range n {
		dev, ok := ask(q, "nvmlDeviceGetHandleByIndex_v2", func() (nvml.Device, nvml.Return) { return lib.DeviceGetHandleByIndex(i) })
		if !ok {
			failed = fmt.Errorf("the GPU with index %d of NVML cannot be opened: nvmlDeviceGetHandleByIndex failed", i)
			continue
		}
		whole := q.describe(i, dev, driver)
		if slices := q.slices(dev, whole); len(slices) > 0 {
			devices = append(devices, slices...)
		} else {
			devices = append(devices, whole)
		}
	}
	for i := range devices {
		devices[i].ID = fmt.Sprintf("cuda%d", i)
	}
	return devices, failed
}

// query asks a driver only what it can answer: an old library lacks symbols.
type query struct{ lib nvml.Interface }

func ask[T any](q query, symbol string, f func() (T, nvml.Return)) (value T, ok bool) {
	if q.lib.Extensions().LookupSymbol(symbol) != nil {
		return value, false
	}
	v, ret := f()
	if ret != nvml.SUCCESS {
		return value, false
	}
	return v, true
}

func (q query) describe(i int, dev nvml.Device, driver string) schema.Device {
	g := &schema.GPUInfo{Driver: driver}
	d := schema.Device{ID: fmt.Sprintf("cuda%d", i), Kind: schema.GPU, Vendor: "NVIDIA", GPU: g}
	missing := func(what, symbol string) {
		d.Unavailable = append(d.Unavailable, schema.Unavailable{What: what, Reason: "the driver does not tell (" + symbol + ")"})
	}
	if d.Name, _ = ask(q, "nvmlDeviceGetName", dev.GetName); d.Name == "" {
		d.Name = "unknown NVIDIA GPU"
	}
	g.UUID, _ = ask(q, "nvmlDeviceGetUUID", dev.GetUUID)
	if m, ok := ask(q, "nvmlDeviceGetMemoryInfo", dev.GetMemoryInfo); ok {
		g.MemoryBytes = int64(m.Total)
	} else {
		missing("gpu.memory_bytes", "nvmlDeviceGetMemoryInfo")
	}
	cc, ok := ask(q, "nvmlDeviceGetCudaComputeCapability", func() (string, nvml.Return) {
		major, minor, ret := dev.GetCudaComputeCapability()
		return fmt.Sprintf("%d.%d", major, minor), ret
	})
	if g.ComputeCapability = cc; !ok {
		missing("gpu.compute_capability", "nvmlDeviceGetCudaComputeCapability")
	}
	if cores, ok := ask(q, "nvmlDeviceGetNumGpuCores", dev.GetNumGpuCores); ok && coresPerSM[cc] > 0 {
		g.SMs = cores / coresPerSM[cc]
	}
	for _, c := range []struct {
		kind nvml.ClockType
		mhz  *float64
	}{{nvml.CLOCK_GRAPHICS, &g.GraphicsMaxMHz}, {nvml.CLOCK_SM, &g.SMMaxMHz}, {nvml.CLOCK_MEM, &g.MemoryMaxMHz}} {
		mhz, _ := ask(q, "nvmlDeviceGetMaxClockInfo", func() (uint32, nvml.Return) { return dev.GetMaxClockInfo(c.kind) })
		*c.mhz = float64(mhz)
	}
	if g.SMMaxMHz == 0 {
		missing("gpu.sm_max_mhz", "nvmlDeviceGetMaxClockInfo")
	}
	if bits, ok := ask(q, "nvmlDeviceGetMemoryBusWidth", dev.GetMemoryBusWidth); ok {
		g.MemoryBusBits = int(bits)
	}
	if mw, ok := ask(q, "nvmlDeviceGetEnforcedPowerLimit", dev.GetEnforcedPowerLimit); ok {
		g.PowerLimitWatts = float64(mw) / 1e3
	}
	if on, ok := ask(q, "nvmlDeviceGetMigMode", func() (bool, nvml.Return) {
		current, _, ret := dev.GetMigMode()
		return current == nvml.DEVICE_MIG_ENABLE, ret
	}); ok {
		g.MIG = &on
	}
	if on, ok := ask(q, "nvmlDeviceGetEccMode", func() (bool, nvml.Return) {
		current, _, ret := dev.GetEccMode()
		return current == nvml.FEATURE_ENABLED, ret
	}); ok {
		g.ECC = &on
	}
	d.Power = q.power(dev)
	var peaksMissing []schema.Unavailable
	d.Theoretical, peaksMissing = gpuPeaks(d.Name, *g)
	d.Unavailable = append(d.Unavailable, peaksMissing...)
	return d
}

// power is that of the energy counter: what nvmlDeviceGetPowerUsage tells is averaged over a
// window of its own.
func (q query) power(dev nvml.Device) schema.Power {
	const counter = "nvmlDeviceGetTotalEnergyConsumption"
	if _, ok := ask(q, counter, dev.GetTotalEnergyConsumption); ok {
		return schema.Power{Meters: []schema.PowerMeter{{Name: "GPU", Source: counter, Readable: true}}}
	}
	return schema.Power{Unavailable: "the driver serves no energy counter for this device (" + counter + ")"}
}
