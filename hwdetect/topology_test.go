package hwdetect

import (
	"slices"
	"testing"
)

// Clusters of a device tree are no packages, whatever an old kernel says.
func TestSocketsOfDeviceTree(t *testing.T) {
	for _, c := range []struct {
		top  string // first entry of the map of CPUs
		want int
	}{{"cluster0", 1}, {"socket0", 2}, {"", 2}} {
		files := map[string]string{
			"sys/devices/system/cpu/online":                            "0-1",
			"sys/devices/system/cpu/cpu0/topology/physical_package_id": "0",
			"sys/devices/system/cpu/cpu1/topology/physical_package_id": "1",
			"proc/device-tree/cpus/cpu-map/" + c.top + "/core0/cpu":    "1",
		}
		if got := describe(t, System{Root: string(layout(t, files)), Arch: "arm64"}, Options{}).Devices[0].CPU.Sockets; got != c.want {
			t.Errorf("map of CPUs with %q: %d sockets, want %d", c.top, got, c.want)
		}
	}
}

// Where sysfs says nothing, /proc/cpuinfo tells the cores, or else CPUID how many there are.
func TestTopologyWithoutSysfs(t *testing.T) {
	root := layout(t, nil)
	twoSockets := cpuInfo{cpus: []cpuEntry{{cpu: 0, socket: 0, core: 0}, {cpu: 1, socket: 1, core: 0}, {cpu: 2, socket: 0, core: 0}, {cpu: 3, socket: 1, core: 0}}}
	unknown := cpuInfo{cpus: []cpuEntry{{cpu: 0, socket: -1, core: 0}, {cpu: 1, socket: -1, core: 1}}}
	for _, c := range []struct {
		name    string
		info    cpuInfo
		cores   int // that CPUID tells
		cpus    int
		want    [][]int
		sockets int
	}{
		{"two sockets of a core each", twoSockets, 4, 4, [][]int{{0, 2}, {1, 3}}, 2},
		{"sockets that are not told", unknown, 0, 2, [][]int{{0}, {1}}, 1},
		{"two threads a core", cpuInfo{}, 2, 4, [][]int{{0, 1}, {2, 3}}, 1},
		{"some of the CPUs of three cores", cpuInfo{}, 3, 4, [][]int{{0}, {1}, {2}, {3}}, 1},
		{"nothing", cpuInfo{}, 0, 2, [][]int{{0}, {1}}, 1},
	} {
		top := readTopology(root, c.info, CPUID{Cores: c.cores}, c.cpus)
		if got := top.siblings(); !slices.EqualFunc(got, c.want, slices.Equal) || top.sockets() != c.sockets {
			t.Errorf("%s: %v on %d sockets, want %v on %d", c.name, got, top.sockets(), c.want, c.sockets)
		}
	}
}
