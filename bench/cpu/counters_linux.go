package cpu

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// counterReader reads the counters of a team below root, "/" except in tests.
type counterReader struct {
	root     string
	cpus     []int // that this process may use
	team     []int // that the workers are on
	tids     []int
	cpuStats []string // cpu.stat of the process's cgroup and of those around it
}

func newCounterReader(root string, cpus, team, tids []int) *counterReader {
	r := &counterReader{root: root, cpus: cpus, team: team, tids: tids}
	r.cpuStats = r.findCPUStats()
	return r
}

// counterReader reads the counters of the team's workers, of their CPUs, and of all that this process may use.
func (t *team) counterReader(cpus []int) *counterReader {
	var tids []int
	for _, w := range t.workers {
		tids = append(tids, w.tid)
	}
	return newCounterReader("/", cpus, t.cpus, tids)
}

func (r *counterReader) read() counters {
	stat := r.text("proc/stat")
	c := counters{when: time.Now(), cpus: len(r.cpus), all: cpuTicks(stat, r.cpus), team: cpuTicks(stat, r.team)}
	c.ownTicks = processTicks(r.text("proc/self/stat"))
	for _, file := range r.cpuStats {
		periods, d := throttling(r.text(file))
		c.throttled += periods
		c.throttledTime += d
	}
	for _, tid := range r.tids {
		task := fmt.Sprintf("proc/self/task/%d/", tid)
		c.wait = append(c.wait, waited(r.text(task+"schedstat")))
	}
	return c
}

// findCPUStats finds the files that count throttling, by any of the cgroups
// that the process is in. Where a container hides the path of its cgroup, the
// mounted root is the container's own.
func (r *counterReader) findCPUStats() (files []string) {
	for line := range strings.Lines(r.text("proc/self/cgroup")) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		var mounts []string
		switch {
		case f[0] == "0" && f[1] == "":
			mounts = []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}
		case strings.Contains(","+f[1]+",", ",cpu,"):
			mounts = []string{"sys/fs/cgroup/" + f[1], "sys/fs/cgroup/cpu"}
		}
		for _, mount := range mounts {
			found := r.upwards(mount, f[2])
			files = append(files, found...)
			if len(found) > 0 {
				break
			}
		}
	}
	return files
}

// upwards lists the cpu.stat files with a throttle count from a cgroup to the
// root of its mount.
func (r *counterReader) upwards(mount, group string) (files []string) {
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		file := path.Join(mount, group, "cpu.stat")
		if strings.Contains(r.text(file), "nr_throttled") {
			files = append(files, file)
		}
		if group == "/" {
			return files
		}
	}
}

// text is the content of a file, or nothing.
func (r *counterReader) text(name string) string {
	b, err := os.ReadFile(filepath.Join(r.root, name))
	if err != nil {
		return ""
	}
	return string(b)
}
