//go:build linux && cgo

package hwdetect

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"hwcal/schema"
)

// slices lists the MIG devices of a GPU that is divided into such, none if it is not: CUDA opens
// them in its place. Each has a share of the processors and of the memory; the clocks, the width of the
// bus and the power limit that are listed are those of the whole GPU.
func (q query) slices(dev nvml.Device, whole schema.Device) []schema.Device {
	if whole.GPU.MIG == nil || !*whole.GPU.MIG {
		return nil
	}
	most, _ := ask(q, "nvmlDeviceGetMaxMigDeviceCount", dev.GetMaxMigDeviceCount)
	var all []schema.Device
	for i := range most {
		slice, ok := ask(q, "nvmlDeviceGetMigDeviceHandleByIndex", func() (nvml.Device, nvml.Return) { return dev.GetMigDeviceHandleByIndex(i) })
		if !ok {
			continue // a place that no slice takes
		}
		all = append(all, q.slice(slice, whole))
	}
	return all
}

func (q query) slice(dev nvml.Device, whole schema.Device) schema.Device {
	g := *whole.GPU
	d := whole
	d.GPU, d.Theoretical, d.Unavailable = &g, schema.Theoretical{}, nil
	g.ParentUUID, g.SMs, g.MemoryBytes = whole.GPU.UUID, 0, 0
	g.UUID, _ = ask(q, "nvmlDeviceGetUUID", dev.GetUUID)
	if name, ok := ask(q, "nvmlDeviceGetName", dev.GetName); ok && name != "" {
		d.Name = name
	}
	if a, ok := ask(q, "nvmlDeviceGetAttributes_v2", dev.GetAttributes); ok {
		g.SMs, g.MemoryBytes = int(a.MultiprocessorCount), int64(a.MemorySizeMB)<<20
	} else {
		d.Unavailable = append(d.Unavailable, schema.Unavailable{What: "gpu.sms", Reason: "the driver does not tell (nvmlDeviceGetAttributes_v2)"})
	}
	d.Power = schema.Power{Unavailable: "the meters of a GPU count all of its MIG devices together"}
	for _, what := range []string{"theoretical.peak_gflops", "theoretical.bandwidth_gbps"} {
		d.Unavailable = append(d.Unavailable, schema.Unavailable{What: what, Reason: "a MIG device has a share of the GPU that no data sheet tells"})
	}
	return d
}
