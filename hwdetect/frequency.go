package hwdetect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// clocks are claimed frequencies in MHz, 0 if unknown, and who claims them.
type clocks struct {
	base, max             float64
	baseSource, maxSource string
	maxOf                 map[int]float64 // by logical CPU, from cpufreq
	turboOff              bool            // the system is told to stay at the base
}

// nameClock is the base clock in a CPU's name: "@ 2.50GHz".
var nameClock = regexp.MustCompile(`@\s*([0-9]+(?:\.[0-9]+)?)\s*([GM])Hz`)

func readClocks(t tree, online []int, id CPUID) clocks {
	c := clocks{maxOf: map[int]float64{}}
	for _, cpu := range online {
		at := fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/", cpu)
		if khz, ok := t.number(at + "cpuinfo_max_freq"); ok && plausibleMHz(float64(khz)/1e3) {
			c.maxOf[cpu] = float64(khz) / 1e3
			if c.maxOf[cpu] > c.max {
				c.max, c.maxSource = c.maxOf[cpu], "cpufreq cpuinfo_max_freq"
			}
		}
		// On hybrid machines the P cores come first and have the higher base.
		if khz, ok := t.number(at + "base_frequency"); ok && plausibleMHz(float64(khz)/1e3) && float64(khz)/1e3 > c.base {
			c.base, c.baseSource = float64(khz)/1e3, "cpufreq base_frequency"
		}
	}
	if mhz, ok := t.number("sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq"); c.base == 0 && ok && plausibleMHz(float64(mhz)) {
		c.base, c.baseSource = float64(mhz), "acpi_cppc nominal_freq"
	}
	if c.base == 0 && plausibleMHz(id.BaseMHz) {
		c.base, c.baseSource = id.BaseMHz, "CPUID leaf 0x16"
	}
	if c.max == 0 && plausibleMHz(id.MaxMHz) {
		c.max, c.maxSource = id.MaxMHz, "CPUID leaf 0x16"
	}
	if m := nameClock.FindStringSubmatch(id.Name); c.base == 0 && m != nil {
		mhz, _ := strconv.ParseFloat(m[1], 64)
		if m[2] == "G" {
			mhz *= 1e3
		}
		if plausibleMHz(mhz) {
			c.base, c.baseSource = mhz, "CPU name"
		}
	}
	on, known := turbo(t)
	c.turboOff = known && !on
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
