package hwdetect

import (
	"fmt"
	"strconv"
	"strings"

	"hwcal/schema"
)

// preflight judges the state of the machine: pass where the figures will be
// steady, warn where they may not, unknown where the machine does not tell, be it
// even whether there is a hypervisor.
func preflight(t tree, h schema.Host, cpu schema.Device, top topology, l limits, hypervisorTold bool) []schema.Check {
	return []schema.Check{
		checkGovernor(h),
		checkTurbo(t),
		checkHugepages(h),
		checkHypervisor(h, hypervisorTold),
		checkQuota(h, top, l),
		checkLoad(t, h),
		checkSMT(cpu.CPU, top),
		checkMemory(h, cpu.CPU),
		checkPower(cpu.Power),
	}
}

func checkGovernor(h schema.Host) schema.Check {
	c := schema.Check{Name: "governor", CurrentValue: h.Governor, ExpectedValue: "performance"}
	switch h.Governor {
	case "performance":
		c.Status, c.Message = schema.Pass, "the clock goes up at once"
	case "":
		c.Status, c.Message = schema.Unknown, "no cpufreq driver: the clock is not in this system's hands, and is measured beside each case"
	default:
		c.Status, c.Message = schema.Warn, "the clock follows the load: short measurements may run below it"
	}
	return c
}

func checkTurbo(t tree) schema.Check {
	c := schema.Check{Name: "turbo", ExpectedValue: "off"}
	switch on, known := turbo(t); {
	case !known:
		c.Status, c.Message = schema.Unknown, "the system does not tell: the clock may depend on heat, load and instruction set"
	case on:
		c.CurrentValue = "on"
		c.Status, c.Message = schema.Warn, "the clock depends on heat, load and instruction set: peaks are those of this moment"
	default:
		c.CurrentValue = "off"
		c.Status, c.Message = schema.Pass, "the clock stays at or below the base: steady figures, below the capability with turbo"
	}
	return c
}

func checkHugepages(h schema.Host) schema.Check {
	c := schema.Check{Name: "transparent_hugepages", CurrentValue: h.TransparentHugepages, ExpectedValue: "madvise"}
	switch h.TransparentHugepages {
	case "always", "madvise":
		c.Status, c.Message = schema.Pass, "buffers get huge pages"
	case "":
		c.Status, c.Message = schema.Unknown, "the system does not tell whether buffers get huge pages"
	default:
		c.Status, c.Message = schema.Warn, "buffers get base pages: TLB misses lower bandwidth and raise latency"
	}
	return c
}

func checkHypervisor(h schema.Host, told bool) schema.Check {
	c := schema.Check{Name: "hypervisor", CurrentValue: h.Hypervisor, ExpectedValue: "none"}
	switch {
	case h.Hypervisor != "":
		c.Status = schema.Warn
		c.Message = "a virtual machine: neighbours share caches, bandwidth and power, and caches and cores are as claimed by the hypervisor"
	case told:
		c.CurrentValue = "none"
		c.Status, c.Message = schema.Pass, "no hypervisor was found"
	default:
		c.Status, c.Message = schema.Unknown, "neither the CPU nor firmware tables tell whether this is a virtual machine"
	}
	return c
}

func checkQuota(h schema.Host, top topology, l limits) schema.Check {
	allowed, online := len(h.AllowedCPUs), len(top.cpus)
	c := schema.Check{Name: "cpu_quota", CurrentValue: quotaText(h.CPUQuota), ExpectedValue: "none"}
	switch {
	case l.quotaUnknown != "" && h.OS == "linux": // others have no cgroups
		c.Status, c.CurrentValue, c.Message = schema.Unknown, "", l.quotaUnknown
	case h.CPUQuota > 0 && h.CPUQuota < 1:
		c.Status = schema.Warn
		c.Message = "the cgroup allows less than one CPU: even one thread is throttled, and its rates are below the machine's"
	case h.CPUQuota > 0 && h.CPUQuota < float64(allowed):
		c.Status = schema.Warn
		c.Message = fmt.Sprintf("the cgroup allows fewer CPUs than the affinity mask: %d of %d are used, so that none is throttled",
			Threads(allowed, h.CPUQuota), allowed)
	case allowed < online:
		c.Status = schema.Warn
		c.Message = fmt.Sprintf("the affinity mask allows %d of %d CPUs (%s): figures over all threads are of those", allowed, online, formatCPUList(h.AllowedCPUs))
	default:
		c.Status, c.Message = schema.Pass, "all CPUs of the machine may be used"
	}
	return c
}

// checkLoad compares the load of the last minute with the CPUs that may be used.
func checkLoad(t tree, h schema.Host) schema.Check {
	c := schema.Check{Name: "load", ExpectedValue: "below 0.5"}
	first, _, _ := strings.Cut(t.line("proc/loadavg"), " ")
	load, err := strconv.ParseFloat(first, 64)
	switch {
	case err != nil || !(load >= 0):
		c.Status, c.Message = schema.Unknown, "the system does not tell its load"
	case load < 0.5:
		c.Status, c.Message = schema.Pass, "the machine was idle for the last minute"
	default:
		c.Status = schema.Warn
		c.Message = fmt.Sprintf("about %.1f of %d CPUs were busy in the last minute: other processes take time, cache and bandwidth", load, len(h.AllowedCPUs))
	}
	if err == nil {
		c.CurrentValue = first
	}
	return c
}

func checkSMT(cpu *schema.CPUInfo, top topology) schema.Check {
	c := schema.Check{Name: "smt", CurrentValue: "off", ExpectedValue: "off"}
	if cpu.Threads == cpu.Cores {
		c.Status, c.Message = schema.Pass, "each logical CPU is a core, as far as the system tells"
		return c
	}
	c.CurrentValue = "on"
	shared := false
	for _, core := range top.siblings() {
		used := 0
		for _, cpuNumber := range core {
			for _, u := range cpu.UsedCPUs {
				if u == cpuNumber {
					used++
				}
			}
		}
		shared = shared || used > 1
	}
	if shared {
		c.Status, c.Message = schema.Warn, "some of the CPUs used are two threads of one core, which share its vector units and caches"
	} else {
		c.Status, c.Message = schema.Warn, "other processes may run on the second threads of the cores used"
	}
	return c
}

// checkMemory asks for the 256 MiB a thread that DRAM is measured on, twice:
// a calibration takes half of what is available at most.
func checkMemory(h schema.Host, cpu *schema.CPUInfo) schema.Check {
	const perThread = 256 << 20
	need := int64(len(cpu.UsedCPUs)) * perThread * 2
	c := schema.Check{Name: "memory", ExpectedValue: fmt.Sprintf("at least %d MiB", need>>20)}
	if h.MemoryAvailableBytes == 0 {
		c.Status, c.Message = schema.Unknown, "the system does not tell how much memory is available"
		return c
	}
	c.CurrentValue = fmt.Sprintf("%d MiB", h.MemoryAvailableBytes>>20)
	if h.MemoryAvailableBytes < need {
		c.Status, c.Message = schema.Warn, "too little memory for 256 MiB a thread: the DRAM figures may contain cache"
	} else {
		c.Status, c.Message = schema.Pass, "enough for working sets that lie in DRAM"
	}
	return c
}

func checkPower(p schema.Power) schema.Check {
	c := schema.Check{Name: "power_meter", ExpectedValue: "readable"}
	if p.Unavailable == "" {
		c.Status, c.CurrentValue, c.Message = schema.Pass, "readable", fmt.Sprintf("%d energy counters", len(p.Meters))
		return c
	}
	c.Status, c.CurrentValue, c.Message = schema.Unknown, "none", p.Unavailable
	if len(p.Meters) > 0 {
		c.Status, c.CurrentValue = schema.Warn, "not readable"
	}
	return c
}
