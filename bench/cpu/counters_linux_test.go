package cpu

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestCounterReader(t *testing.T) {
	const (
		v1   = "nr_periods 9\nnr_throttled 3\nthrottled_time 1000\n"
		v2   = "usage_usec 1\nnr_periods 9\nnr_throttled 5\nthrottled_usec 2\n"
		bare = "usage_usec 1\n"
	)
	process := map[string]string{
		"proc/stat":                  recordedStat,
		"proc/self/stat":             "1 (x) R 1 1 1 0 -1 0 0 0 0 0 30 4 0 0\n",
		"proc/self/task/7/schedstat": "900 40 2\n",
		"proc/self/task/8/schedstat": "900 50 2\n",
	}
	all := []string{"steal", "throttling", "run queue wait"}
	tests := []struct {
		name      string
		files     map[string]string
		empty     bool // no process files
		throttled uint64
		time      time.Duration
		missing   []string
	}{
		{name: "v1", files: map[string]string{
			"proc/self/cgroup":                         "5:memory:/a\n4:cpu,cpuacct:/a/b\n",
			"sys/fs/cgroup/cpu,cpuacct/a/b/cpu.stat":   v1,
			"sys/fs/cgroup/cpu,cpuacct/a/cpu.stat":     v1,
			"sys/fs/cgroup/cpu,cpuacct/cpu.stat":       "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
			"sys/fs/cgroup/cpu,cpuacct/other/cpu.stat": v1,
		}, throttled: 6, time: 2 * time.Microsecond},
		{name: "v1 under a link", files: map[string]string{
			"proc/self/cgroup":           "4:cpuacct,cpu:/a\n",
			"sys/fs/cgroup/cpu/cpu.stat": v1,
		}, throttled: 3, time: time.Microsecond},
		{name: "v2", files: map[string]string{
			"proc/self/cgroup":                          "0::/user.slice/x.scope\n",
			"sys/fs/cgroup/user.slice/x.scope/cpu.stat": v2,
			"sys/fs/cgroup/user.slice/cpu.stat":         v2,
			"sys/fs/cgroup/cpu.stat":                    bare,
		}, throttled: 10, time: 4 * time.Microsecond},
		{name: "v2 path of the host in a container", files: map[string]string{
			"proc/self/cgroup":       "0::/docker/0123/../x\n",
			"sys/fs/cgroup/cpu.stat": v2,
		}, throttled: 5, time: 2 * time.Microsecond},
		{name: "v1 beside v2", files: map[string]string{
			"proc/self/cgroup":               "3:cpuset:/\n1:cpu:/\n0::/\n",
			"sys/fs/cgroup/cpu/cpu.stat":     v1,
			"sys/fs/cgroup/unified/cpu.stat": bare,
		}, throttled: 3, time: time.Microsecond},
		{name: "no cgroup", missing: all[1:2]},
		{name: "nothing", empty: true, missing: all},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			if !tt.empty {
				writeTree(t, root, process)
			}
			writeTree(t, root, tt.files)
			r := newCounterReader(root, []int{0, 1}, []int{1}, []int{7, 8})
			if got := r.missing(); !slices.Equal(got, tt.missing) {
				t.Errorf("missing %q, want %q", got, tt.missing)
			}
			c := r.read()
			if c.throttled != tt.throttled || c.throttledTime != tt.time {
				t.Errorf("throttled %d times, %v, want %d, %v", c.throttled, c.throttledTime, tt.throttled, tt.time)
			}
			if tt.empty {
				return
			}
			if !slices.Equal(c.wait, []time.Duration{40, 50}) || c.ownTicks != 34 || c.all.steal != 104 || c.team.steal != 53 {
				t.Errorf("wait %v, own %d, %+v, of the workers' CPUs %+v", c.wait, c.ownTicks, c.all, c.team)
			}
		})
	}
}

// missing names what this system does not count.
func (r *counterReader) missing() (names []string) {
	if cpuTicks(r.text("proc/stat"), r.cpus).total == 0 {
		names = append(names, "steal")
	}
	if len(r.cpuStats) == 0 {
		names = append(names, "throttling")
	}
	if len(r.tids) > 0 {
		task := fmt.Sprintf("proc/self/task/%d/", r.tids[0])
		if r.text(task+"schedstat") == "" {
			names = append(names, "run queue wait")
		}
	}
	return names
}

func writeTree(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCountersHere reads the real files of a team that works.
func TestCountersHere(t *testing.T) {
	const workers = 2
	tm := newTestTeam(t, workers)
	r := tm.counterReader([]int{0})
	before := r.read()
	acc := make([]float64, workers*portablePeak[float64]().accs)
	tm.run(func(w *worker) { peakPortable(1<<20, acc[w.id*len(acc)/workers:]) })
	n := r.read().since(before)
	if n.elapsed <= 0 || n.steal < 0 || n.foreign < 0 || n.wait < 0 || n.throttled < 0 {
		t.Errorf("a counter ran backwards: %+v", n)
	}
	t.Logf("missing %q, %+v, noisy: %q", r.missing(), n, n.disturbances())
}
