package hwdetect

import "testing"

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
