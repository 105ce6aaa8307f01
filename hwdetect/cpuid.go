package hwdetect

import (
	"github.com/klauspost/cpuid/v2"

	"hwcal/schema"
)

// CPUID is what the processor tells through instructions. A recorded machine
// keeps it as cpuid.json.
type CPUID struct {
	Vendor     string  `json:"vendor,omitempty"`
	Name       string  `json:"name,omitempty"`
	Family     int     `json:"family,omitempty"`
	Model      int     `json:"model,omitempty"`
	Stepping   int     `json:"stepping,omitempty"`
	Hypervisor string  `json:"hypervisor,omitempty"` // leaf 0x40000000, e.g. KVMKVMKVM
	BaseMHz    float64 `json:"base_mhz,omitempty"`   // leaf 0x16
	MaxMHz     float64 `json:"max_mhz,omitempty"`    // leaf 0x16

	// Flags are the instruction sets that CPUID claims, whatever the system
	// allows, by their names in /proc/cpuinfo.
	Flags []string `json:"flags,omitempty"`
	// XCR0 are the register states that the system saves and so allows.
	XCR0 uint64 `json:"xcr0,omitempty"`
	// AMX is the answer to the request for permission to use tiles:
	// "granted", an error, or empty if there was nothing to ask.
	AMX string `json:"amx,omitempty"`

	Cores  int            `json:"cores,omitempty"`  // physical, 0 if unknown
	Caches []schema.Cache `json:"caches,omitempty"` // leaf 4 or 0x8000001D
}

// ReadCPUID asks the processor on which it runs. On amd64 with AMX it requests
// the permission to use tiles for the process, which is the only way to learn
// whether the kernel gives it.
func ReadCPUID() CPUID {
	c := cpuid.CPU
	id := CPUID{
		Vendor: vendorName(c),
		Name:   c.BrandName,
		Cores:  c.PhysicalCores,
		Caches: cpuidCaches(c),
	}
	if c.VM() { // else leaf 0x40000000 holds something else
		id.Hypervisor = c.HypervisorVendorString
	}
	id.addArch(c)
	return id
}

func vendorName(c cpuid.CPUInfo) string {
	if c.VendorID == cpuid.VendorUnknown {
		return c.VendorString
	}
	return c.VendorID.String()
}

// cpuidCaches lists the caches that cpuid/v2 extrapolates from the CPU on which
// it runs.
func cpuidCaches(c cpuid.CPUInfo) []schema.Cache {
	var list cacheList
	top := c.Topology()
	for _, p := range top.Packages {
		list.addCPUID(p.Caches)
		for _, g := range p.Groups {
			list.addCPUID(g.Caches)
			for _, core := range g.Cores {
				list.addCPUID(core.Caches)
			}
		}
	}
	return list.sorted()
}

// or fills what CPUID does not tell from /proc/cpuinfo.
func (id CPUID) or(info cpuInfo) CPUID {
	if id.Vendor == "" {
		id.Vendor = info.vendor
	}
	if id.Name == "" {
		id.Name = info.name
	}
	if id.Family == 0 {
		id.Family, id.Model, id.Stepping = info.family, info.model, info.stepping
	}
	return id
}
