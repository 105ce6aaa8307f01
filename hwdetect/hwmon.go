package hwdetect

import (
	"path/filepath"
	"regexp"
	"strings"

	"hwcal/schema"
)

// socketLabel is how the driver amd_energy names the counter of a package; those of cores are parts
// of it (Documentation/hwmon/amd_energy.rst of Linux 5.8 to 5.12, and the module outside of it
// since).
var socketLabel = regexp.MustCompile(`^Esocket([0-9]+)$`)

// amdEnergy lists the energy counters that the driver amd_energy serves for processors of AMD,
// where powercap has no zone. They do not wrap.
func amdEnergy(t tree) schema.Power {
	var p schema.Power
	readable := false
	labels, _ := filepath.Glob(t.path("sys/class/hwmon/hwmon*/energy*_label"))
	for _, label := range labels {
		name, err := filepath.Rel(string(t), label)
		if err != nil || t.line(filepath.Dir(name)+"/name") != "amd_energy" {
			continue
		}
		if m := socketLabel.FindStringSubmatch(t.line(name)); m != nil {
			counter := strings.TrimSuffix(name, "_label") + "_input"
			_, ok := t.number(counter)
			readable = readable || ok
			p.Meters = append(p.Meters, schema.PowerMeter{Name: "socket-" + m[1], Source: "/" + counter, Readable: ok})
		}
	}
	if len(p.Meters) > 0 && !readable {
		p.Unavailable = "the driver amd_energy serves counters, but they are not readable: run as root, or grant read access to /sys/class/hwmon/*/energy*_input"
	}
	return p
}
