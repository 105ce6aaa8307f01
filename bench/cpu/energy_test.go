package cpu

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

// meterFiles is a recorded sysfs whose counters a test sets.
type meterFiles struct {
	t    *testing.T
	root string
}

func (f meterFiles) write(file string, value any) {
	f.t.Helper()
	path := filepath.Join(f.root, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, fmt.Appendln(nil, value), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

const zones = "/sys/class/powercap/intel-rapl:"

// Two packages with memory: parts of a package and the platform are not counted twice, and a
// counter that wraps goes on.
func TestEnergy(t *testing.T) {
	files := meterFiles{t, t.TempDir()}
	power := schema.Power{Meters: []schema.PowerMeter{
		{Name: "package-0", Source: zones + "0", Readable: true, MaxEnergyMicrojoule: 262143328850},
		{Name: "core", Source: zones + "0:0", Readable: true, MaxEnergyMicrojoule: 262143328850},
		{Name: "dram", Source: zones + "0:1", Readable: true, MaxEnergyMicrojoule: 65712999613},
		{Name: "package-1", Source: zones + "1", Readable: true, MaxEnergyMicrojoule: 262143328850},
		{Name: "psys", Source: zones + "2", Readable: true, MaxEnergyMicrojoule: 262143328850},
		{Name: "package-2", Source: zones + "3", Readable: false},
	}}
	set := func(package0, dram, package1 uint64) {
		files.write(zones+"0/energy_uj", package0)
		files.write(zones+"0:1/energy_uj", dram)
		files.write(zones+"1/energy_uj", package1)
	}
	files.write("/sys/class/hwmon/hwmon0/name", "nvme")
	files.write("/sys/class/hwmon/hwmon1/name", "coretemp")
	files.write("/sys/class/hwmon/hwmon1/temp1_input", 61500)
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }

	set(262143000000, 65712999600, 1000)
	m := startMeter(energyCounters(files.root, power), findThermometer(files.root), clock)
	now = now.Add(50 * time.Millisecond)
	m.Tick() // too early
	now = now.Add(50 * time.Millisecond)
	set(1671149, 1999986, 5001000) // +2 J with a wrap, +2 J with a wrap, +5 J
	m.Tick()
	now = now.Add(400 * time.Millisecond)
	set(9671149, 2999986, 6001000) // +8 J, +1 J, +1 J
	e, ok := m.Stop()
	want := []string{"package-0", "dram", "package-1"}
	if diff := cmp.Diff(want, e.Meters); diff != "" {
		t.Errorf("meters: -want +got:\n%s", diff)
	}
	if !ok || math.Abs(e.Joules-19) > 1e-9 || e.Window != 500*time.Millisecond || math.Abs(e.MaxWatts-90) > 1e-9 || e.Celsius != 61.5 {
		t.Errorf("got %+v, %t, want 19 J in 500 ms, at most 90 W, at 61.5 degrees", e, ok)
	}
}

// A window that is too short for the counters tells nothing, nor does one of a counter that
// cannot be read any more.
func TestEnergyOfShortWindow(t *testing.T) {
	files := meterFiles{t, t.TempDir()}
	power := schema.Power{Meters: []schema.PowerMeter{{Name: "socket-0", Source: "/sys/class/hwmon/hwmon3/energy17_input", Readable: true}}}
	files.write("/sys/class/hwmon/hwmon3/energy17_input", uint64(1<<40))
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	counters := energyCounters(files.root, power)

	m := startMeter(counters, "", clock)
	now = now.Add(99 * time.Millisecond)
	if e, ok := m.Stop(); ok {
		t.Errorf("99 ms are told as %+v", e)
	}
	m = startMeter(counters, "", clock)
	now = now.Add(time.Second)
	files.write("/sys/class/hwmon/hwmon3/energy17_input", uint64(1<<40+30e6))
	if e, ok := m.Stop(); !ok || e.Joules != 30 || e.MaxWatts != 0 || e.Celsius != 0 {
		t.Errorf("a second of 30 J: %+v, %t", e, ok)
	}
	m = startMeter(counters, "", clock)
	now = now.Add(time.Second)
	if err := os.Remove(counters[0].file); err != nil {
		t.Fatal(err)
	}
	if e, ok := m.Stop(); ok {
		t.Errorf("a counter that is gone is told as %+v", e)
	}
	if got := energyCounters(files.root, schema.Power{Unavailable: "none"}); got != nil {
		t.Errorf("counters of a machine without: %v", got)
	}
}

// A counter that was set back is no counter that wrapped: the window tells nothing.
func TestEnergyOfCounterSetBack(t *testing.T) {
	const file = "/sys/class/hwmon/hwmon3/energy17_input"
	for _, c := range []struct {
		name        string
		max         uint64
		before, now uint64
		joules      float64 // 0: none told
	}{
		{"wraps", 262143328850, 262143000000, 4671149, 5},
		{"set back, though it could wrap", 262143328850, 200000000000, 5000000, 0},
		{"set back, and it never wraps", 0, 200000000000, 5000000, 0},
		{"above where it wraps", 1000, 2000, 5, 0},
		{"at 10 kW", 0, 0, 10000e6, 10000},
		{"at 20 kW", 0, 0, 20000e6, 0},
	} {
		files := meterFiles{t, t.TempDir()}
		power := schema.Power{Meters: []schema.PowerMeter{{Name: "package-0", Source: file, Readable: true, MaxEnergyMicrojoule: c.max}}}
		files.write(file, c.before)
		now := time.Unix(0, 0)
		m := startMeter(energyCounters(files.root, power), "", func() time.Time { return now })
		now = now.Add(time.Second)
		files.write(file, c.now)
		if e, ok := m.Stop(); ok != (c.joules > 0) || ok && e.Joules != c.joules {
			t.Errorf("%s: %v J, %t, want %v", c.name, e.Joules, ok, c.joules)
		}
	}
}

// A Threadripper of 2017 has the fan controlled by a temperature that is not that of the die.
func TestThermometer(t *testing.T) {
	const dir = "/sys/class/hwmon/hwmon2/"
	files := meterFiles{t, t.TempDir()}
	files.write("/sys/class/hwmon/hwmon1/name", "nvme")
	files.write(dir+"name", "k10temp")
	files.write(dir+"temp1_label", "Tctl")
	if got, want := findThermometer(files.root), filepath.Join(files.root, dir, "temp1_input"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	files.write(dir+"temp2_label", "Tdie")
	if got, want := findThermometer(files.root), filepath.Join(files.root, dir, "temp2_input"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
