package hwdetect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// clocks are claimed frequencies.
type clocks struct {
	base, max clock
	turboOff  bool // the system is told to stay at the base
}

// clock is a frequency in MHz, 0 if unknown, and who claims it.
type clock struct {
	mhz    float64
	source string
	of     map[int]float64 // by logical CPU, where they are told apart
}

// claim notes what is told of one CPU: the highest stands for the machine.
func (c *clock) claim(cpu int, mhz float64, source string) {
	if !plausibleMHz(mhz) {
		return
	}
	if c.of == nil {
		c.of = map[int]float64{}
	}
	c.of[cpu] = mhz
	if mhz > c.mhz {
		c.mhz, c.source = mhz, source
	}
}

// or takes what is told of the machine as a whole where nothing is of its CPUs.
func (c *clock) or(mhz float64, source string) {
	if c.mhz == 0 && plausibleMHz(mhz) {
		c.mhz, c.source = mhz, source
	}
}

// nameClock is the base clock in a CPU's name: "@ 2.50GHz".
var nameClock = regexp.MustCompile(`@\s*([0-9]+(?:\.[0-9]+)?)\s*([GM])Hz`)

func readClocks(t tree, online []int, id CPUID) clocks {
	var c clocks
	var table clock // the highest of the P-states
	on, known := turbo(t)
	c.turboOff = known && !on
	for _, cpu := range online {
		at := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
		if khz, ok := t.number(at + "cpufreq/cpuinfo_max_freq"); ok {
			mhz := float64(khz) / 1e3
			first, _, _ := strings.Cut(t.line(at+"cpufreq/scaling_available_frequencies"), " ")
			// With turbo the highest P-state of acpi-cpufreq, the base frequency or 1 MHz above, stands for any higher
			// one. Since Linux 5.12 cpuinfo_max_freq is the highest, if the driver knows it.
			switch acpi := on && t.line(at+"cpufreq/scaling_driver") == "acpi-cpufreq"; {
			case acpi && mhz < id.MaxMHz && plausibleMHz(id.MaxMHz):
				c.max.claim(cpu, id.MaxMHz, "CPUID leaf 0x16")
			case acpi && first == strconv.FormatInt(khz, 10):
				table.claim(cpu, mhz, "cpufreq scaling_available_frequencies")
			default:
				c.max.claim(cpu, mhz, "cpufreq cpuinfo_max_freq")
			}
		}
		if khz, ok := t.number(at + "cpufreq/base_frequency"); ok {
			c.base.claim(cpu, float64(khz)/1e3, "cpufreq base_frequency")
		} else if mhz, ok := t.number(at + "acpi_cppc/nominal_freq"); ok {
			c.base.claim(cpu, float64(mhz), "acpi_cppc nominal_freq")
		}
	}
	c.base.or(id.BaseMHz, "CPUID leaf 0x16")
	c.max.or(id.MaxMHz, "CPUID leaf 0x16")
	if m := nameClock.FindStringSubmatch(id.Name); m != nil {
		mhz, _ := strconv.ParseFloat(m[1], 64)
		if m[2] == "G" {
			mhz *= 1e3
		}
		c.base.or(mhz, "CPU name")
	}
	c.base.or(table.mhz, table.source)
	return c
}

// plausibleMHz drops the placeholders that virtual firmware leaves.
func plausibleMHz(mhz float64) bool { return mhz >= 100 && mhz <= 20000 }

// governor is the frequency governor of the CPUs, several joined by "+".
func governor(t tree, cpus []int) string {
	var found []string
	for _, cpu := range cpus {
		g := t.line(fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu))
		if g != "" && !slices.Contains(found, g) {
			found = append(found, g)
		}
	}
	return strings.Join(found, "+")
}

// turbo says whether clocks may rise above the base; unknown where no driver
// tells.
func turbo(t tree) (on, known bool) {
	const dir = "sys/devices/system/cpu/"
	if off, ok := t.number(dir + "intel_pstate/no_turbo"); ok {
		return off == 0, true
	}
	boost, ok := t.number(dir + "cpufreq/boost")
	return boost != 0, ok
}
