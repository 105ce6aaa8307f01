package hwdetect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cpuInfo is what /proc/cpuinfo tells. x86 and arm64 write different keys.
type cpuInfo struct {
	vendor, name            string
	family, model, stepping int
	microcode               string
	flags                   []string
	cpus                    []cpuEntry
}

// cpuEntry is one logical CPU of /proc/cpuinfo.
type cpuEntry struct {
	cpu, socket, core int
	arm               armPart // of arm64, where cores of one machine may differ
}

func parseCPUInfo(b []byte) cpuInfo {
	var info cpuInfo
	var entry *cpuEntry
	for line := range strings.Lines(string(b)) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.TrimSpace(key), strings.Join(strings.Fields(value), " ")
		n := parseSmall(value)
		switch key {
		case "processor":
			if n >= 0 && n < maxCPUs && len(info.cpus) < maxCPUs {
				info.cpus = append(info.cpus, cpuEntry{cpu: n, core: n})
				entry = &info.cpus[len(info.cpus)-1]
			}
		case "vendor_id":
			info.vendor = vendors[value]
			if info.vendor == "" {
				info.vendor = value
			}
		case "model name", "Model Name":
			info.name = value
		case "cpu family":
			info.family = max(n, 0)
		case "model":
			info.model = max(n, 0)
		case "stepping":
			info.stepping = max(n, 0)
		case "microcode":
			info.microcode = value
		case "flags", "Features":
			if info.flags == nil {
				info.flags = strings.Fields(value)
			}
		}
		if entry == nil {
			continue
		}
		switch key {
		case "physical id":
			entry.socket = n
		case "core id":
			entry.core = n
		case "CPU implementer":
			entry.arm.implementer = n
		case "CPU part":
			entry.arm.part = n
		}
	}
	if len(info.cpus) > 0 && info.cpus[0].arm != (armPart{}) {
		info.vendor = armVendors[info.cpus[0].arm.implementer]
		if info.name == "" {
			info.name = strings.TrimSpace(info.vendor + " " + info.designs())
		}
	}
	return info
}

// designs names the designs of the cores, each once: on many phones and boards the first core is a little one, which
// says nothing about the big ones.
func (info cpuInfo) designs() string {
	var names []string
	for _, c := range info.cpus {
		if name := c.arm.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " + ")
}

// parseSmall reads a decimal or 0x number; -1 if there is none.
func parseSmall(s string) int {
	n, err := strconv.ParseInt(s, 0, 32)
	if err != nil {
		return -1
	}
	return int(n)
}

var vendors = map[string]string{
	"GenuineIntel": "Intel",
	"AuthenticAMD": "AMD",
	"HygonGenuine": "Hygon",
}

// armPart are the fields of MIDR_EL1 that name the design of a core.
type armPart struct{ implementer, part int }

var armVendors = map[int]string{
	0x41: "ARM", 0x42: "Broadcom", 0x43: "Cavium", 0x46: "Fujitsu", 0x48: "HiSilicon",
	0x4e: "NVIDIA", 0x50: "APM", 0x51: "Qualcomm", 0x61: "Apple", 0xc0: "Ampere",
}

func (p armPart) String() string {
	if u, ok := armCores[p]; ok {
		return u.name
	}
	return fmt.Sprintf("core, implementer %#x part %#x", p.implementer, p.part)
}

// microcode is the revision that the first CPU runs.
func microcode(t tree, info cpuInfo) string {
	if v := t.line("sys/devices/system/cpu/cpu0/microcode/version"); v != "" {
		return v
	}
	return info.microcode
}
