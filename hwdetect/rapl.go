package hwdetect

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hwcal/schema"
)

const powercap = "sys/class/powercap"

// raplZone is how the powercap framework names the zones of RAPL, those of AMD too
// (Documentation/power/powercap/powercap.rst of Linux). Others, as dtpm:0, limit
// power and count no energy.
var raplZone = regexp.MustCompile(`^intel-rapl(-mmio)?:[0-9]+(:[0-9]+)?$`)

// rapl lists the energy counters of the powercap framework, and the zones that have
// none, each with its reason. Two paths may lead to one counter: symbolic links, and
// the MMIO copy of a package's MSR zone. Each counter is listed once, or its energy
// would be summed twice.
func rapl(t tree, h schema.Host) (p schema.Power, broken []schema.Unavailable) {
	zones := raplZones(t)
	if amd := amdEnergy(t); len(zones) == 0 && len(amd.Meters) > 0 {
		return amd, nil
	}
	var seen []string
	dangling := 0
	for _, zone := range zones {
		at := powercap + "/" + zone
		place, err := filepath.EvalSymlinks(t.path(at))
		if os.IsNotExist(err) {
			dangling++
			continue
		}
		if err != nil {
			place = zone
		}
		name := t.line(at + "/name")
		counter := counterOf(t, zone, name)
		if slices.Contains(seen, place) || strings.HasPrefix(zone, "intel-rapl-mmio:") && slices.Contains(seen, counter) {
			continue
		}
		most, err := strconv.ParseUint(t.line(at+"/max_energy_range_uj"), 10, 64)
		if name == "" || err != nil || most == 0 {
			broken = append(broken, schema.Unavailable{What: "power." + zone, Reason: "the RAPL zone does not tell its name or at which energy it wraps (/" + at + ")"})
			continue
		}
		seen = append(seen, place, counter)
		_, readable := t.number(at + "/energy_uj")
		p.Meters = append(p.Meters, schema.PowerMeter{Name: name, Source: "/" + at, Readable: readable, MaxEnergyMicrojoule: most})
	}
	readable := func(m schema.PowerMeter) bool { return m.Readable }
	switch {
	case slices.ContainsFunc(p.Meters, schema.PowerMeter.Counted):
	case slices.ContainsFunc(p.Meters, readable):
		p.Unavailable = "of the RAPL zones neither a package nor memory can be read: those that can are parts of a package, or count more than the processors"
	case len(p.Meters) > 0:
		p.Unavailable = "RAPL zones found, but energy_uj is not readable: run as root, or grant read access to /" + powercap + "/*/energy_uj"
	case dangling > 0:
		p.Unavailable = "the RAPL zones under /" + powercap + " lead nowhere: a container masks /sys/devices/virtual/powercap, as Docker does by default; unmask it (--security-opt systempaths=unconfined), or run on the host"
	case len(broken) > 0:
		p.Unavailable = "no RAPL zone tells its name and at which energy it wraps"
	default:
		p.Unavailable = noRAPL(h)
	}
	return p, broken
}

// raplZones lists the zones, and after them the MMIO copies, so that the original is
// the one listed.
func raplZones(t tree) []string {
	entries, err := os.ReadDir(t.path(powercap))
	if err != nil {
		return nil
	}
	var zones, copies []string
	for _, e := range entries {
		switch m := raplZone.FindStringSubmatch(e.Name()); {
		case m == nil:
		case m[1] == "":
			zones = append(zones, e.Name())
		default:
			copies = append(copies, e.Name())
		}
	}
	return append(zones, copies...)
}

// counterOf identifies the counter of a zone by its name, preceded by that of the zone it is part of, if any.
// Numbers do not: MSR and MMIO count parts differently, as by MMIO a package has no part but dram.
func counterOf(t tree, zone, name string) string {
	if at := strings.LastIndexByte(zone, ':'); strings.Count(zone, ":") > 1 {
		return t.line(powercap+"/"+zone[:at]+"/name") + "/" + name
	}
	return name
}

// noRAPL is the reason why a machine has no zones, and the remedy.
func noRAPL(h schema.Host) string {
	const found = "no zone under /" + powercap
	switch {
	case h.OS != "linux":
		return "energy counters are read on Linux only, not on " + h.OS
	case h.Arch != "amd64":
		return fmt.Sprintf("%s: RAPL is of Intel and AMD processors, this is %s", found, h.Arch)
	case h.Hypervisor != "":
		return fmt.Sprintf("%s: the hypervisor (%s) passes no RAPL counters through; run on the host", found, h.Hypervisor)
	}
	return found + ": load the kernel module intel_rapl_msr, which serves Intel and AMD, if the CPU has RAPL"
}
