package hwdetect

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

func TestParseCPUMax(t *testing.T) {
	for _, c := range []struct {
		in   string
		cpus float64
		ok   bool
	}{
		{"150000 100000", 1.5, true},
		{"50000 100000", 0.5, true},
		{"max 100000", 0, false},
		{"-1 100000", 0, false},
		{"0 100000", 0, false},
		{"100000 0", 0, false},
		{"100000 -5", 0, false},
		{"100000", 0, false},
		{"", 0, false},
		{" ", 0, false},
		{"garbage in", 0, false},
		{"1e5 100000", 0, false},
		{"99999999999999999999 100000", 0, false},
	} {
		if cpus, ok := parseCPUMax(c.in); cpus != c.cpus || ok != c.ok {
			t.Errorf("%q: got %v, %v, want %v, %v", c.in, cpus, ok, c.cpus, c.ok)
		}
	}
}

// layout writes files below a new root.
func layout(t *testing.T, files map[string]string) tree {
	t.Helper()
	root := tree(t.TempDir())
	for name, text := range files {
		add(t, root, name, text)
	}
	return root
}

func add(t *testing.T, root tree, name, text string) {
	t.Helper()
	full := root.path(name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReadLimits(t *testing.T) {
	const (
		v2       = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		v1cpu    = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		v1docker = "32 31 0:29 /docker/ab /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		unified  = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		spaced   = `30 23 0:26 / /sys/fs/c\040group rw - cgroup2 cgroup2 rw` + "\n"
	)
	for _, c := range []struct {
		name   string
		files  map[string]string
		quota  float64
		memory int64
		room   int64
		unseen string // in the reason why a quota would not be seen
	}{
		{name: "nothing there", unseen: "/proc does not tell"},
		{name: "no cgroups", files: map[string]string{"proc/self/mountinfo": "22 1 0:20 / / rw - ext4 /dev/sda rw\n"}},
		{name: "v2 tightest ancestor counts", quota: 1.5, files: map[string]string{
			"proc/self/mountinfo": v2, "proc/self/cgroup": "0::/a/b/c\n",
			"sys/fs/cgroup/a/cpu.max": "150000 100000", "sys/fs/cgroup/a/b/cpu.max": "400000 100000", "sys/fs/cgroup/a/b/c/cpu.max": "max 100000",
		}},
		{name: "v2 sibling does not count", files: map[string]string{
			"proc/self/mountinfo": v2, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/b/cpu.max": "150000 100000",
		}},
		{name: "v1 docker without a namespace", quota: 0.5, files: map[string]string{
			"proc/self/mountinfo": v1docker, "proc/self/cgroup": "3:cpu:/docker/ab\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
		}},
		{name: "v1 path outside of the mount", quota: 2, files: map[string]string{
			"proc/self/mountinfo": v1docker, "proc/self/cgroup": "3:cpu:/other\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
		}},
		{name: "hybrid takes the tighter", quota: 1, files: map[string]string{
			"proc/self/mountinfo": v1cpu + unified, "proc/self/cgroup": "1:cpu:/\n0::/x\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
			"sys/fs/cgroup/unified/x/cpu.max": "100000 100000",
		}},
		{name: "escaped mount point", quota: 3, files: map[string]string{
			"proc/self/mountinfo": spaced, "proc/self/cgroup": "0::/\n", "sys/fs/c group/cpu.max": "300000 100000",
		}},
		{name: "path that climbs out", quota: 2, files: map[string]string{
			"proc/self/mountinfo": v2, "proc/self/cgroup": "0::/../../../x\n",
			"sys/fs/cgroup/x/cpu.max": "200000 100000", "x/cpu.max": "100000 100000",
		}},
		{name: "v2 mount of the host beside a cgroup namespace", unseen: "/sys/fs/cgroup begins above", files: map[string]string{
			"proc/self/mountinfo": "30 23 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/cpu.max": "300000 100000", "sys/fs/cgroup/memory.max": "1000",
		}},
		{name: "that mount, and one of the namespace", quota: 3, files: map[string]string{
			"proc/self/mountinfo": "30 23 0:26 / /own rw - cgroup2 cgroup2 rw\n31 23 0:26 /.. /host rw - cgroup2 cgroup2 rw\n", "proc/self/cgroup": "0::/\n",
			"own/cpu.max": "300000 100000", "host/cpu.max": "100000 100000",
		}},
		{name: "no cgroup mount", unseen: "no mount shows the cgroup of the process, /docker/ab", files: map[string]string{
			"proc/self/mountinfo": "1 2 0:29 / /proc rw - proc proc rw\n", "proc/self/cgroup": "0::/docker/ab\n",
		}},
		{name: "hybrid without the mount of cpu", unseen: "process, /x", files: map[string]string{
			"proc/self/mountinfo": unified, "proc/self/cgroup": "1:cpu:/x\n0::/\n",
		}},
		{name: "hybrid without a mount that has no quotas", files: map[string]string{
			"proc/self/mountinfo": v1cpu, "proc/self/cgroup": "2:name=systemd:/\n1:cpu:/\n0::/\n",
		}},
		{name: "memory with page cache that can go", memory: 1000, room: 700, files: map[string]string{
			"proc/self/mountinfo": v2, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "1000", "sys/fs/cgroup/memory.current": "500", "sys/fs/cgroup/memory.stat": "inactive_file 200\n",
		}},
		{name: "memory that is throttled before the limit", memory: 800, room: 300, files: map[string]string{
			"proc/self/mountinfo": v2, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "1000", "sys/fs/cgroup/memory.high": "800", "sys/fs/cgroup/memory.current": "500",
		}},
		{name: "memory overcommitted", memory: 1000, files: map[string]string{
			"proc/self/mountinfo": v2, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "1000", "sys/fs/cgroup/memory.current": "5000",
		}},
		{name: "usage not told", memory: 1000, room: 1000, files: map[string]string{
			"proc/self/mountinfo": v2, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000",
		}},
		{name: "no memory limit in v1", files: map[string]string{
			"proc/self/mountinfo": "1 1 0:1 / /m rw - cgroup cgroup rw,memory\n", "proc/self/cgroup": "1:memory:/\n",
			"m/memory.limit_in_bytes": "9223372036854771712", "m/memory.usage_in_bytes": "5000",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := readLimits(layout(t, c.files))
			if c.memory == 0 {
				c.room = math.MaxInt64
			}
			if (got.quotaUnknown != "") != (c.unseen != "") || !strings.Contains(got.quotaUnknown, c.unseen) {
				t.Errorf("a quota is not seen because %q, want %q", got.quotaUnknown, c.unseen)
			}
			got.quotaUnknown = ""
			if want := (limits{quota: c.quota, memory: c.memory, room: c.room}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// A quota below one CPU leaves one thread, and a warning.
func TestQuotaBelowOne(t *testing.T) {
	root := layout(t, map[string]string{
		"sys/devices/system/cpu/online": "0-3",
		"proc/self/mountinfo":           "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "proc/self/cgroup": "0::/\n",
		"sys/fs/cgroup/cpu.max": "30000 100000",
	})
	got := describe(t, System{Root: string(root), Arch: "amd64"}, Options{})
	if used := got.Devices[0].CPU.UsedCPUs; !cmp.Equal(used, []int{0}) {
		t.Errorf("uses %v", used)
	}
	for _, c := range got.Host.Preflight {
		if c.Name == "cpu_quota" && (c.Status != "warn" || !strings.Contains(c.Message, "less than one CPU")) {
			t.Errorf("check is %+v", c)
		}
	}
}

// Where a quota would not be seen, nobody says that all CPUs may be used.
func TestQuotaUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		os      string
		status  schema.CheckStatus
		message string
	}{
		"no mount": {map[string]string{"proc/self/cgroup": "0::/docker/ab\n"}, "linux", schema.Unknown, "/docker/ab"},
		"no /proc": {nil, "linux", schema.Unknown, "/proc does not tell"},
		"no Linux": {nil, "darwin", schema.Pass, "all CPUs"},
	} {
		root := layout(t, c.files)
		add(t, root, "sys/devices/system/cpu/online", "0-3")
		got := describe(t, System{Root: string(root), OS: c.os, Arch: "amd64"}, Options{})
		for _, check := range got.Host.Preflight {
			if check.Name == "cpu_quota" && (check.Status != c.status || check.CurrentValue == "none" != (c.status == schema.Pass) || !strings.Contains(check.Message, c.message)) {
				t.Errorf("%s: check is %+v", name, check)
			}
		}
	}
}

func FuzzCgroup(f *testing.F) {
	f.Add("0::/a/b\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "150000 100000")
	f.Add("4:cpu,cpuacct:/docker/ab\n", "1 2 0:1 /docker/ab /sys/fs/cgroup ro shared:1 - cgroup cgroup rw,cpu,cpuacct\n", "max 1")
	f.Add("0::/../..\n", "1 2 0:1 /.. /../x ro - cgroup2 cgroup2 rw\n", "-1 0")
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, groups, mounts, max string) {
		if q, ok := parseCPUMax(max); ok && !(q > 0) {
			t.Errorf("%q: quota %v", max, q)
		}
		for _, g := range parseCgroup([]byte(groups)) {
			for _, m := range parseMountinfo([]byte(mounts)) {
				if m.owns(g) && len(g.path) < 1000 {
					l := limits{quota: 1, memory: 1}
					l.climb(tree(root), m, g.path)
				}
			}
		}
	})
}
