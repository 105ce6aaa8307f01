package hwdetect

import (
	"math"
	"path"
	"strconv"
	"strings"
)

// limits are what the control groups of the process leave it.
type limits struct {
	quota  float64 // CPUs, 0: no limit
	memory int64   // bytes, 0: no limit
	room   int64   // bytes until the memory limit is reached, page cache that can go not counted; all of it if the usage is not told

	quotaUnknown string // why a quota would not be seen
}

// readLimits takes the tightest limit of the process's groups and all their
// ancestors that are mounted, in v1, v2 and hybrid hierarchies alike. Missing
// files, "max", "-1" and garbage are no limit.
func readLimits(t tree) limits {
	l := limits{quota: math.Inf(1), memory: math.MaxInt64, room: math.MaxInt64}
	mounts := parseMountinfo(t.bytes("proc/self/mountinfo"))
	groups := parseCgroup(t.bytes("proc/self/cgroup"))
	if len(mounts) == 0 {
		l.quotaUnknown = "/proc does not tell the cgroup of the process"
	}
	for _, group := range groups {
		seen, unseen := false, "no mount shows the cgroup of the process, "+group.path
		for _, m := range mounts {
			switch {
			case !m.owns(group):
			case m.outside():
				unseen = "the cgroup mount " + m.point + " begins above the cgroup namespace, at " + m.root + ": which group in it is that of the process is not told"
			default:
				l.climb(t, m, group.path)
				seen = true
			}
		}
		if !seen && group.cpu(groups) {
			l.quotaUnknown = unseen
		}
	}
	if math.IsInf(l.quota, 1) {
		l.quota = 0
	}
	if l.memory == math.MaxInt64 {
		l.memory = 0
	}
	return l
}

// climb visits a group and its ancestors up to the mount point. A container
// sees its group mounted as a root: what lies above the mount is invisible, and
// a path that does not lie below the mounted root is the mount point itself.
func (l *limits) climb(t tree, m mount, group string) {
	rel := "/"
	if inside, ok := strings.CutPrefix(path.Clean(group)+"/", strings.TrimRight(path.Clean(m.root), "/")+"/"); ok {
		rel = path.Clean("/" + inside) // rooted, so that no ".." leads out
	}
	for ; ; rel = path.Dir(rel) {
		l.tighten(t, path.Join(m.point, rel))
		if rel == "/" {
			return
		}
	}
}

func (l *limits) tighten(t tree, dir string) {
	if q, ok := parseCPUMax(t.line(dir + "/cpu.max")); ok {
		l.quota = min(l.quota, q)
	}
	if q, ok := parseCPUMax(t.line(dir+"/cpu.cfs_quota_us") + " " + t.line(dir+"/cpu.cfs_period_us")); ok {
		l.quota = min(l.quota, q)
	}
	for _, f := range []struct{ limit, usage, cache string }{
		{"memory.max", "memory.current", "inactive_file"},
		{"memory.high", "memory.current", "inactive_file"}, // above it processes are slowed down until they have given memory back
		{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
	} {
		limit, ok := parseMemoryLimit(t.line(dir + "/" + f.limit))
		if !ok {
			continue
		}
		l.memory, l.room = min(l.memory, limit), min(l.room, limit)
		if usage, ok := t.number(dir + "/" + f.usage); ok && usage >= 0 {
			// The kernel drops inactive page cache before it enforces the limit.
			usage -= min(parseStat(t.bytes(dir+"/memory.stat"), f.cache), usage)
			l.room = min(l.room, max(limit-usage, 0))
		}
	}
}

// parseCPUMax reads "QUOTA PERIOD" in microseconds, the format of cpu.max and of
// cpu.cfs_quota_us beside cpu.cfs_period_us, as a number of CPUs.
func parseCPUMax(s string) (cpus float64, ok bool) {
	words := strings.Fields(s)
	if len(words) != 2 {
		return 0, false
	}
	quota, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil || quota <= 0 { // "max", -1
		return 0, false
	}
	period, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil || period <= 0 {
		return 0, false
	}
	return float64(quota) / float64(period), true
}

// parseMemoryLimit reads memory.max or memory.limit_in_bytes. A v1 group without
// a limit shows the largest multiple of the page size below 2^63.
func parseMemoryLimit(s string) (bytes int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n >= 1<<62 {
		return 0, false
	}
	return n, true
}

// parseStat finds a counter of memory.stat; 0 if it is not there.
func parseStat(b []byte, key string) int64 {
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == key {
			n, _ := strconv.ParseInt(value, 10, 64)
			return max(n, 0)
		}
	}
	return 0
}

func quotaText(quota float64) string {
	if quota == 0 {
		return "none"
	}
	return strconv.FormatFloat(quota, 'g', 4, 64) + " CPUs"
}
