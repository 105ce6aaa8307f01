package hwdetect

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs/sysfs"

	"hwcal/schema"
)

// rapl lists the energy counters of the powercap framework
// (Documentation/power/powercap/powercap.rst of Linux). Two paths may lead to
// one counter: symbolic links, and the MMIO copy of a package's MSR zone. Each
// counter is listed once, or its energy would be summed twice.
func rapl(t tree, arch, hypervisor string) schema.Power {
	sys, err := sysfs.NewFS(t.path("sys"))
	if err != nil {
		return schema.Power{Unavailable: noRAPL(arch, hypervisor, "no /sys")}
	}
	zones, err := sysfs.GetRaplZones(sys)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return schema.Power{Unavailable: fmt.Sprintf("RAPL zones cannot be listed: %v", err)}
	}
	if amd := amdEnergy(t); len(zones) == 0 && len(amd.Meters) > 0 {
		return amd
	}
	if len(zones) == 0 {
		return schema.Power{Unavailable: noRAPL(arch, hypervisor, "no zone under /sys/class/powercap")}
	}
	var p schema.Power
	var seen []string
	readable := 0
	isCopy := func(z sysfs.RaplZone) bool { return strings.HasPrefix(filepath.Base(z.Path), "intel-rapl-mmio:") }
	copies := slices.DeleteFunc(slices.Clone(zones), func(z sysfs.RaplZone) bool { return !isCopy(z) })
	zones = append(slices.DeleteFunc(zones, isCopy), copies...) // so that the original is the one listed
	for _, z := range zones {
		entry := filepath.Base(z.Path)
		place, err := filepath.EvalSymlinks(z.Path)
		if err != nil {
			place = z.Path
		}
		counter := strings.Replace(entry, "intel-rapl-mmio:", "intel-rapl:", 1)
		if slices.Contains(seen, place) || slices.Contains(seen, counter) {
			continue
		}
		seen = append(seen, place, counter)
		name := tree(z.Path).line("name")
		if name == "" {
			continue
		}
		_, err = z.GetEnergyMicrojoules()
		if err == nil {
			readable++
		}
		p.Meters = append(p.Meters, schema.PowerMeter{
			Name: name, Source: "/sys/class/powercap/" + entry, Readable: err == nil, MaxEnergyMicrojoule: z.MaxMicrojoules,
		})
	}
	if readable == 0 {
		p.Unavailable = "RAPL zones found, but energy_uj is not readable: run as root, or grant read access to /sys/class/powercap/*/energy_uj"
	}
	return p
}
