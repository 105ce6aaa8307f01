package cpu

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hwcal/bench"
	"hwcal/schema"
)

// leastWindow is the shortest time whose energy is told: the counters tick about every
// millisecond.
const leastWindow = 100 * time.Millisecond

// counter is one of energy: a file of microjoules that wraps at max; 0 if it does not.
type counter struct {
	name, file string
	max        uint64
}

// energyCounters are those of the meters whose sum is the energy of the machine.
func energyCounters(root string, p schema.Power) []counter {
	var all []counter
	for _, m := range p.Meters {
		if !m.Counted() {
			continue
		}
		file := filepath.Join(root, m.Source)
		if !strings.HasSuffix(file, "_input") { // a zone of powercap is a folder
			file = filepath.Join(file, "energy_uj")
		}
		all = append(all, counter{m.Name, file, m.MaxEnergyMicrojoule})
	}
	return all
}

// read gives microjoules.
func (c counter) read() (uint64, error) {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// mostWatts is more than any package or memory takes: a counter that is faster was set
// back, as by suspending the machine or loading its driver anew, and has not wrapped.
const mostWatts = 1e4

// since is the energy between two readings in microjoules. Of several wraps between them one
// is seen: readings follow each other within seconds, a wrap takes a minute at least.
func (c counter) since(before, now uint64, took time.Duration) (uint64, error) {
	sum := now - before
	if now < before {
		if c.max == 0 || before > c.max {
			return 0, fmt.Errorf("cpu: the energy counter of %s went back from %d to %d microjoules", c.name, before, now)
		}
		sum = c.max - before + now + 1
	}
	// A counter may be ahead of the clock by what it counts between its ticks.
	if most := mostWatts * (took + leastWindow).Seconds() * 1e6; float64(sum) > most {
		return 0, fmt.Errorf("cpu: the energy counter of %s went from %d to %d microjoules in %s", c.name, before, now, took)
	}
	return sum, nil
}

// Meter starts to count the energy of the machine, which is more than that of the workers.
func (b *Backend) Meter() bench.Meter {
	if len(b.counters) == 0 {
		return nil
	}
	return startMeter(b.counters, b.thermometer, time.Now)
}

func startMeter(counters []counter, thermometer string, now func() time.Time) bench.Meter {
	var names []string
	for _, c := range counters {
		names = append(names, c.name)
	}
	var last []uint64 // none before the first reading
	var at time.Time  // of the last reading
	sum := uint64(0)
	return bench.Counters{
		Names: names, Least: leastWindow, Now: now,
		Joules: func() (float64, error) {
			readings, before := make([]uint64, len(counters)), at
			at = now()
			for i, c := range counters {
				var err error
				if readings[i], err = c.read(); err != nil {
					return 0, err
				}
				if last == nil {
					continue
				}
				energy, err := c.since(last[i], readings[i], at.Sub(before))
				if err != nil {
					return 0, err
				}
				sum += energy
			}
			last = readings
			return float64(sum) / 1e6, nil
		},
		Celsius: func() float64 {
			text, err := os.ReadFile(thermometer)
			if err != nil {
				return 0
			}
			milli, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
			if err != nil {
				return 0
			}
			return milli / 1e3
		},
	}.Start()
}

// thermometers are the names of the drivers that serve the temperature of a CPU, under hwmon.
var thermometers = []string{"coretemp", "k10temp", "zenpower", "cpu_thermal"}

// findThermometer gives the file of the temperature of the first package. That of the die is preferred: some processors
// of AMD have the fan controlled by one that is up to 27 degrees above (Linux, k10temp).
func findThermometer(root string) string {
	names, _ := filepath.Glob(filepath.Join(root, "/sys/class/hwmon/hwmon*/name"))
	for _, name := range names {
		if driver, err := os.ReadFile(name); err != nil || !slices.Contains(thermometers, strings.TrimSpace(string(driver))) {
			continue
		}
		labels, _ := filepath.Glob(filepath.Join(filepath.Dir(name), "temp*_label"))
		for _, label := range labels {
			if text, err := os.ReadFile(label); err == nil && strings.TrimSpace(string(text)) == "Tdie" {
				return strings.TrimSuffix(label, "_label") + "_input"
			}
		}
		return filepath.Join(filepath.Dir(name), "temp1_input")
	}
	return ""
}
