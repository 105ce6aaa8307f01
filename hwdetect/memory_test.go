package hwdetect

import (
	"maps"
	"testing"
)

// A memory limit holds whatever else is told.
func TestMemoryLimit(t *testing.T) {
	const (
		meminfo = "MemTotal: 33554432 kB\nMemAvailable: 30000000 kB\n"
		old     = "MemTotal: 33554432 kB\nMemFree: 30000000 kB\n"
	)
	for _, c := range []struct {
		name, meminfo, limit, usage string
		want                        int64 // available, bytes
	}{
		{"no limit", meminfo, "max", "100000000", 30000000 << 10},
		{"no limit, and nothing told", "", "max", "100000000", 0},
		{"no limit, and the kernel does not tell what is available", old, "max", "100000000", 0},
		{"room", meminfo, "268435456", "100000000", 168435456},
		{"nothing left", meminfo, "268435456", "268435456", 1},
		{"usage not told", meminfo, "268435456", "", 268435456},
		{"memory not told", "", "268435456", "100000000", 168435456},
		{"the kernel does not tell what is available", old, "268435456", "100000000", 168435456},
		{"a limit above the machine", old, "68719476736", "100000000", 33554432 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{
				"proc/self/cgroup":         "0::/\n",
				"proc/self/mountinfo":      "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
				"proc/meminfo":             c.meminfo,
				"sys/fs/cgroup/memory.max": c.limit, "sys/fs/cgroup/memory.current": c.usage,
			}
			maps.DeleteFunc(files, func(_, text string) bool { return text == "" })
			got := describe(t, System{Root: string(layout(t, files)), Arch: "amd64"}, Options{})
			if got.Host.MemoryAvailableBytes != c.want {
				t.Errorf("%d bytes available, want %d", got.Host.MemoryAvailableBytes, c.want)
			}
		})
	}
}

// A process that is confined to some NUMA nodes can take what is left on these.
func TestMemoryOfAllowedNodes(t *testing.T) {
	for _, c := range []struct {
		name, mems string
		want       int64 // available, bytes
	}{
		{"all nodes with memory", "0-1", 30000000 << 10},
		{"one of two", "0", 14000000 << 10},
		{"not told", "", 30000000 << 10},
		{"none that is shown", "5", 30000000 << 10},
	} {
		status := "Name:\thwcal\n"
		if c.mems != "" {
			status += "Mems_allowed_list:\t" + c.mems + "\n"
		}
		root := layout(t, map[string]string{
			"proc/meminfo":                          "MemTotal: 33554432 kB\nMemAvailable: 30000000 kB\n",
			"proc/self/status":                      status,
			"sys/devices/system/node/node0/meminfo": "Node 0 MemTotal: 16777216 kB\nNode 0 MemFree: 13000000 kB\nNode 0 Inactive(file): 1000000 kB\n",
			"sys/devices/system/node/node1/meminfo": "Node 1 MemTotal: 16777216 kB\nNode 1 MemFree: 15000000 kB\n",
			"sys/devices/system/node/node2/meminfo": "Node 2 MemTotal: 0 kB\nNode 2 MemFree: 0 kB\n",
		})
		got := describe(t, System{Root: string(root), Arch: "amd64"}, Options{})
		if got.Host.MemoryAvailableBytes != c.want {
			t.Errorf("%s: %d bytes available, want %d", c.name, got.Host.MemoryAvailableBytes, c.want)
		}
	}
}
