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
