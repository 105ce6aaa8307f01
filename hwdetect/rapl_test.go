package hwdetect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

var linux = schema.Host{OS: "linux", Arch: "amd64"}

// zone is the folder of a RAPL zone with its files.
type zone struct{ folder, name, most, energy string }

func powercapOf(t *testing.T, zones ...zone) tree {
	root := layout(t, nil)
	for _, z := range zones {
		for file, text := range map[string]string{"name": z.name, "max_energy_range_uj": z.most, "energy_uj": z.energy} {
			if text != "" {
				add(t, root, filepath.Join(powercap, z.folder, file), text)
			}
		}
	}
	return root
}

func TestRAPL(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("zones have colons in their names")
	}
	const most = "262143328850"
	for _, c := range []struct {
		name   string
		root   tree
		meters string // names, with * if they can be read
		broken string // What of those left out
		reason string
	}{
		{"package", powercapOf(t, zone{"intel-rapl:0", "package-0", most, "5"}), "package-0*", "", ""},
		{"another control type beside it", powercapOf(t, zone{"dtpm:0", "package", "", ""}, zone{"intel-rapl:0", "package-0", most, "5"}), "package-0*", "", ""},
		{"a bad zone beside it", powercapOf(t, zone{"intel-rapl:0", "package-0", most, "5"}, zone{"intel-rapl:1", "psys", "garbage", "5"}), "package-0*", "power.intel-rapl:1", ""},
		{"a bad zone alone", powercapOf(t, zone{"intel-rapl:0", "package-0", "", "5"}), "", "power.intel-rapl:0", "no RAPL zone tells"},
		{"a copy of a bad zone", powercapOf(t, zone{"intel-rapl:0", "package-0", "", "5"}, zone{"intel-rapl-mmio:0", "package-0", most, "5"}), "package-0*", "power.intel-rapl:0", ""},
		{"a copy", powercapOf(t, zone{"intel-rapl-mmio:0", "package-0", most, "5"}, zone{"intel-rapl:0", "package-0", most, "5"}), "package-0*", "", ""},
		{"a copy with other numbers", powercapOf(t, zone{"intel-rapl:0", "package-0", most, "5"}, zone{"intel-rapl:0:0", "core", most, "5"}, zone{"intel-rapl:0:1", "dram", most, "5"},
			zone{"intel-rapl-mmio:0", "package-0", most, "5"}, zone{"intel-rapl-mmio:0:0", "dram", most, "5"}), "package-0* core* dram*", "", ""},
		{"memory that the copy alone counts", powercapOf(t, zone{"intel-rapl:0", "package-0", most, "5"}, zone{"intel-rapl:0:0", "core", most, "5"},
			zone{"intel-rapl-mmio:0", "package-0", most, "5"}, zone{"intel-rapl-mmio:0:0", "dram", most, "5"}), "package-0* core* dram*", "", ""},
		{"not readable", powercapOf(t, zone{"intel-rapl:0", "package-0", most, ""}), "package-0", "", "run as root"},
		{"parts of a package alone", powercapOf(t, zone{"intel-rapl:0", "package-0", most, ""}, zone{"intel-rapl:0:0", "core", most, "5"}), "package-0 core*", "", "neither a package nor memory"},
		{"the platform alone", powercapOf(t, zone{"intel-rapl:0", "psys", most, "5"}), "psys*", "", "neither a package nor memory"},
		{"none", layout(t, nil), "", "", "load the kernel module"},
	} {
		p, broken := rapl(c.root, linux)
		var meters, out []string
		for _, m := range p.Meters {
			if m.Readable {
				m.Name += "*"
			}
			meters = append(meters, m.Name)
		}
		for _, b := range broken {
			out = append(out, b.What)
		}
		if got := strings.Join(meters, " "); got != c.meters || strings.Join(out, " ") != c.broken {
			t.Errorf("%s: meters %q and left out %v, want %q and %q", c.name, got, out, c.meters, c.broken)
		}
		if (p.Unavailable != "") != (c.reason != "") || !strings.Contains(p.Unavailable, c.reason) {
			t.Errorf("%s: reason %q, want %q", c.name, p.Unavailable, c.reason)
		}
	}
}

// Docker masks what the links of the zones lead to.
func TestRAPLMasked(t *testing.T) {
	root := layout(t, nil)
	if err := os.MkdirAll(root.path(powercap), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../devices/virtual/powercap/intel-rapl/intel-rapl:0", root.path(powercap+"/intel-rapl:0")); err != nil {
		t.Skip(err)
	}
	if p, broken := rapl(root, linux); !strings.Contains(p.Unavailable, "masks") || broken != nil {
		t.Errorf("got %+v, %v", p, broken)
	}
}

// A zone that two paths lead to is one counter, and where there are zones the sockets of
// amd_energy, which they count too, are not listed beside them.
func TestRAPLCountsOnce(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("zones have colons in their names")
	}
	root := powercapOf(t, zone{"intel-rapl:0", "package-0", "262143328850", "5"})
	if err := os.Symlink("intel-rapl:0", root.path(powercap+"/intel-rapl:1")); err != nil {
		t.Skip(err)
	}
	for file, text := range map[string]string{"name": "amd_energy", "energy1_label": "Esocket0", "energy1_input": "5"} {
		add(t, root, "sys/class/hwmon/hwmon0/"+file, text)
	}
	if p, _ := rapl(root, linux); len(p.Meters) != 1 || p.Meters[0].Name != "package-0" {
		t.Errorf("got %+v", p.Meters)
	}
}

// The driver amd_energy serves a counter of each socket, beside those of cores, which are parts
// of it.
func TestAMDEnergy(t *testing.T) {
	root := layout(t, map[string]string{
		"sys/class/hwmon/hwmon1/name":           "another",
		"sys/class/hwmon/hwmon1/energy1_label":  "Esocket1",
		"sys/class/hwmon/hwmon1/energy1_input":  "2222",
		"sys/class/hwmon/hwmon2/name":           "amd_energy",
		"sys/class/hwmon/hwmon2/energy1_label":  "Ecore000",
		"sys/class/hwmon/hwmon2/energy1_input":  "1111",
		"sys/class/hwmon/hwmon2/energy33_label": "Esocket0",
		"sys/class/hwmon/hwmon2/energy33_input": "123456789",
	})
	want := []schema.PowerMeter{{Name: "socket-0", Source: "/sys/class/hwmon/hwmon2/energy33_input", Readable: true}}
	if p, _ := rapl(root, linux); p.Unavailable != "" || cmp.Diff(want, p.Meters) != "" {
		t.Errorf("got %+v, want the meters %+v", p, want)
	}
	if err := os.Remove(root.path("sys/class/hwmon/hwmon2/energy33_input")); err != nil {
		t.Fatal(err)
	}
	if p, _ := rapl(root, linux); p.Unavailable == "" || len(p.Meters) != 1 || p.Meters[0].Readable {
		t.Errorf("a counter that cannot be read: %+v", p)
	}
}
