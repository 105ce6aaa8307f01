// Package hwdetect describes what a machine is and what this process may use
// of it. It measures nothing.
//
// Whatever Linux tells in files is read below System.Root, so that tests run on
// recorded machines; what only instructions and system calls tell stands in the
// other fields of System. A fact that the machine does not tell is absent, with
// its reason under Unavailable: detection never fails on a poor machine.
package hwdetect

import (
	"fmt"
	"runtime"

	"hwcal/schema"
)

// System is where the facts come from. This returns the machine that runs the
// process; a test fills in a recorded one.
type System struct {
	Root   string // folder that holds proc and sys
	OS     string // GOOS of the machine
	Arch   string // GOARCH of the machine
	CPUID  CPUID  // what the instructions tell
	NumCPU int    // logical CPUs, where no file tells; at least 1

	// Affinity lists the logical CPUs on which the process may run. If nil, or
	// if it fails, proc/self/status tells, and else all CPUs count as allowed.
	Affinity func() ([]int, error)

	// GPUs lists the devices of the NVIDIA driver, or says why there are none.
	// If nil, none are looked for.
	GPUs func() ([]schema.Device, error)
}

// This is the machine that runs the process.
func This() System {
	return System{
		Root:     "/",
		OS:       runtime.GOOS,
		Arch:     runtime.GOARCH,
		CPUID:    ReadCPUID(),
		NumCPU:   runtime.NumCPU(),
		Affinity: affinity,
		GPUs:     nvidiaGPUs,
	}
}

// Options are what the user knows better than the machine.
type Options struct {
	PeakGFLOPS    float64 // theoretical fp32 peak of the CPU in GFLOPS; 0: computed
	PeakBandwidth float64 // theoretical memory bandwidth of the CPU in GB/s; 0: computed
	Threads       int     // logical CPUs to use; 0: as many as affinity and quota allow
}

// Machine is what Detect finds: a Host and its devices, the CPU first.
type Machine struct {
	Host    schema.Host
	Devices []schema.Device

	// Unavailable tells which kinds of device were not found, and why.
	Unavailable []schema.Unavailable
}

// Detect describes the machine. The only errors are options that the machine
// cannot meet.
func (s System) Detect(o Options) (Machine, error) {
	t := tree(s.Root)
	info := parseCPUInfo(t.bytes("proc/cpuinfo"))
	top := readTopology(t, info, s.CPUID, s.NumCPU)
	limits := readLimits(t)
	allowed, affinityNote := allowedCPUs(t, s.Affinity, top.online())
	top = top.unlessRenumbered(t, info, allowed)
	threads := Threads(len(allowed), limits.quota)
	if o.Threads < 0 || o.Threads > threads {
		return Machine{}, fmt.Errorf("hwdetect: %d threads: want 1 to %d, the limit of affinity (%s) and cpu quota (%s)",
			o.Threads, threads, formatCPUList(allowed), quotaText(limits.quota))
	}
	if o.Threads > 0 {
		threads = o.Threads
	}

	below, told := hypervisor(t, info, s.CPUID)
	host := schema.Host{
		OS:                   s.OS,
		Kernel:               t.line("proc/sys/kernel/osrelease"),
		Arch:                 s.Arch,
		Hypervisor:           below,
		Container:            container(t),
		AllowedCPUs:          allowed,
		CPUQuota:             limits.quota,
		MemoryLimitBytes:     limits.memory,
		TransparentHugepages: hugepages(t),
		Governor:             governor(t, allowed),
	}
	host.MemoryBytes, host.MemoryAvailableBytes = memory(t, limits)

	cpu := s.cpu(t, info, top, host, o)
	cpu.CPU.UsedCPUs = Spread(allowed, top.siblings(), cpu.CPU.CoreClasses, threads)
	if affinityNote != "" {
		cpu.Unavailable = append(cpu.Unavailable, schema.Unavailable{What: "affinity", Reason: affinityNote})
	}
	m := Machine{Devices: []schema.Device{cpu}, Unavailable: []schema.Unavailable{}}
	if s.GPUs != nil {
		gpus, err := s.GPUs()
		for i := range gpus {
			m.Devices = append(m.Devices, complete(gpus[i]))
		}
		if err != nil {
			m.Unavailable = append(m.Unavailable, schema.Unavailable{What: "cuda", Reason: err.Error()})
		}
	}
	host.Preflight = preflight(t, host, cpu, top, limits, told)
	m.Host = host
	return m, nil
}

// cpu describes the CPUs of the machine as its one CPU device.
func (s System) cpu(t tree, info cpuInfo, top topology, host schema.Host, o Options) schema.Device {
	id := s.CPUID.or(info)
	clocks := readClocks(t, top.online(), id)
	isa, refused := verifiedISA(id, info)
	c := schema.CPUInfo{
		Family: id.Family, Model: id.Model, Stepping: id.Stepping,
		Microcode:   microcode(t, info),
		Sockets:     top.sockets(),
		Cores:       len(top.siblings()),
		Threads:     len(top.cpus),
		UsedCPUs:    []int{},
		CoreClasses: coreClasses(t, top.online(), clocks),
		NUMANodes:   numaNodes(t),
		ISA:         isa,
		Caches:      readCaches(t, top, id),
		BaseMHz:     clocks.base.mhz,
		MaxMHz:      clocks.max.mhz,
	}
	d := schema.Device{
		ID: "cpu0", Kind: schema.CPU, Name: id.Name, Vendor: id.Vendor, CPU: &c,
		Unavailable: refused,
	}
	if d.Name == "" {
		d.Name = "unknown " + s.Arch + " CPU"
	}
	var missing []schema.Unavailable
	d.Power, missing = rapl(t, host)
	d.Unavailable = append(d.Unavailable, missing...)
	d.Theoretical.PeakGFLOPS, missing = cpuPeaks(id, info, c, clocks, top.siblings(), o.PeakGFLOPS)
	d.Unavailable = append(d.Unavailable, missing...)
	bandwidth, err := memoryPeak(t, host.Hypervisor, o.PeakBandwidth)
	if err != nil {
		d.Unavailable = append(d.Unavailable, schema.Unavailable{What: "theoretical.bandwidth_gbps", Reason: err.Error()})
	}
	d.Theoretical.BandwidthGBps = bandwidth
	return complete(d)
}

// complete gives the device the empty lists that a profile wants in place of null.
func complete(d schema.Device) schema.Device {
	d.Compute = []schema.Compute{}
	d.Bandwidth = []schema.Bandwidth{}
	d.Latency = []schema.Latency{}
	d.OperationProfiles = []schema.Compute{}
	d.FusionProfiles = []schema.Fusion{}
	if d.Unavailable == nil {
		d.Unavailable = []schema.Unavailable{}
	}
	return d
}
