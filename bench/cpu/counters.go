package cpu

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// counters is what the operating system has counted until now. What it does not count stays zero.
type counters struct {
	when          time.Time
	cpus          int    // that this process may use
	all           ticks  // of these
	team          ticks  // of those that the workers are on: what is taken from others costs nothing
	ownTicks      uint64 // of this process, on any CPU
	throttled     uint64 // periods in which the cgroup had used up its quota
	throttledTime time.Duration
	wait          []time.Duration // of each thread, ready to run but not running
}

// ticks are of some CPUs: USER_HZ, of 10 ms.
type ticks struct {
	busy  uint64 // by any process
	steal uint64 // taken by the hypervisor
	total uint64
}

// noise is how much others disturbed a team between two counts.
type noise struct {
	elapsed       time.Duration
	steal         float64 // share of the time of the workers' CPUs
	stealTicks    int
	foreign       float64 // CPUs that other processes kept busy
	wait          float64 // share of its time that the worst thread waited to run
	throttled     int
	throttledTime time.Duration
}

// since is the noise between the counts before and c.
func (c counters) since(before counters) noise {
	n := noise{
		elapsed:       c.when.Sub(before.when),
		throttled:     int(c.throttled - before.throttled),
		throttledTime: c.throttledTime - before.throttledTime,
		stealTicks:    int(c.team.steal - before.team.steal),
	}
	if total := float64(c.team.total - before.team.total); total > 0 {
		n.steal = float64(n.stealTicks) / total
	}
	if total := float64(c.all.total - before.all.total); total > 0 {
		busy, own := float64(c.all.busy-before.all.busy), float64(c.ownTicks-before.ownTicks)
		n.foreign = max(0, busy-own) / total * float64(c.cpus)
	}
	for i := range min(len(c.wait), len(before.wait)) {
		n.wait = max(n.wait, float64(c.wait[i]-before.wait[i])/float64(max(1, n.elapsed)))
	}
	return n
}

// Limits of a quiet host. Without a neighbour on a machine of two CPUs a worker
// waits for up to 5% of the time, for threads of this process; a process that spins
// on its CPU makes that 50%, and is foreign load of 0.5 CPUs, or of 1 beside an
// idle worker.
const (
	noisySteal   = 0.01
	noisyWait    = 0.10
	noisyForeign = 0.25
	// Ticks are of 10 ms: those of a shorter time prove nothing.
	noisyPeriod = 500 * time.Millisecond
)

// disturbances says what makes the host too noisy to trust a timing, if anything.
func (n noise) disturbances() (reasons []string) {
	// The first tick may be of what was taken before.
	if n.stealTicks > 1 && n.steal*(1-1/float64(n.stealTicks)) > noisySteal {
		reasons = append(reasons, fmt.Sprintf("the hypervisor took %.1f%% of the workers' CPU time", 100*n.steal))
	}
	if n.throttled > 0 {
		reasons = append(reasons, fmt.Sprintf("the cgroup was throttled %d times, for %v", n.throttled, n.throttledTime))
	}
	if n.wait > noisyWait {
		reasons = append(reasons, fmt.Sprintf("a worker waited for its CPU for %.0f%% of the time", 100*n.wait))
	}
	if n.foreign > noisyForeign && n.elapsed >= noisyPeriod {
		reasons = append(reasons, fmt.Sprintf("other processes kept %.1f CPUs busy", n.foreign))
	}
	return reasons
}

// cpuTicks adds up the lines of /proc/stat for the CPUs: user, nice, system,
// idle, iowait, irq, softirq, steal. What follows is contained in user and nice.
func cpuTicks(stat string, cpus []int) (t ticks) {
	used := map[string]bool{}
	for _, cpu := range cpus {
		used["cpu"+strconv.Itoa(cpu)] = true
	}
	for line := range strings.Lines(stat) {
		f := strings.Fields(line)
		if len(f) < 9 || !used[f[0]] {
			continue
		}
		for i, text := range f[1:9] {
			n, _ := strconv.ParseUint(text, 10, 64)
			t.total += n
			switch i {
			case 3, 4: // idle, iowait
			case 7:
				t.steal += n
			default:
				t.busy += n
			}
		}
	}
	return t
}

// processTicks is utime + stime of /proc/self/stat. The name before them, in
// parentheses, can contain anything.
func processTicks(stat string) uint64 {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseUint(f[11], 10, 64)
	system, _ := strconv.ParseUint(f[12], 10, 64)
	return user + system
}

// throttling reads nr_throttled and the throttled time of a cpu.stat, in
// nanoseconds (cgroup v1) or microseconds (v2).
func throttling(stat string) (periods uint64, d time.Duration) {
	value, unit := field(stat, "throttled_time"), time.Nanosecond
	if strings.Contains(stat, "throttled_usec") {
		value, unit = field(stat, "throttled_usec"), time.Microsecond
	}
	return field(stat, "nr_throttled"), time.Duration(value) * unit
}

// field is the number behind a name at the start of a line.
func field(text, name string) uint64 {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] == name {
			v, _ := strconv.ParseUint(f[1], 10, 64)
			return v
		}
	}
	return 0
}

// waited is the second number of a schedstat: nanoseconds on a run queue.
func waited(schedstat string) time.Duration {
	f := strings.Fields(schedstat)
	if len(f) < 2 {
		return 0
	}
	ns, _ := strconv.ParseInt(f[1], 10, 64)
	return time.Duration(ns)
}
