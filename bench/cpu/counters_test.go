package cpu

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const recordedStat = `cpu  22312 0 4328 191897 1999 7 165 105 0 0
cpu0 9562 1 1880 98791 58 2 73 51 9 1
cpu1 12750 2 2447 93105 1940 3 91 53 0 0
cpu10 1 1 1 1 1 1 1 1 0 0
intr 533573 0 0
`

func TestCPUTicks(t *testing.T) {
	tests := []struct {
		stat string
		cpus []int
		want ticks
	}{
		{recordedStat, []int{0}, ticks{9562 + 1 + 1880 + 2 + 73, 51, 110418}},
		{recordedStat, []int{1}, ticks{12750 + 2 + 2447 + 3 + 91, 53, 110391}},
		{recordedStat, []int{0, 1}, ticks{11518 + 15293, 104, 220809}},
		{recordedStat, []int{7}, ticks{}},
		{"cpu0 1 2 3\n", []int{0}, ticks{}},
		{"", []int{0}, ticks{}},
	}
	for _, tt := range tests {
		if got := cpuTicks(tt.stat, tt.cpus); got != tt.want {
			t.Errorf("CPUs %v: %+v, want %+v", tt.cpus, got, tt.want)
		}
	}
}

func TestProcessTicks(t *testing.T) {
	tests := []struct {
		stat string
		want uint64
	}{
		{"812 (calibrate) R 1 812 812 0 -1 4194304 100 0 0 0 1234 56 0 0 20 0 5 0 100 1 1\n", 1290},
		{"812 (a) b (c) R 1 812 812 0 -1 4194304 100 0 0 0 7 8 0 0 20 0 5 0 100 1 1\n", 15},
		{"812 (short) R 1", 0},
		{"", 0},
	}
	for _, tt := range tests {
		if got := processTicks(tt.stat); got != tt.want {
			t.Errorf("%q: %d ticks, want %d", tt.stat, got, tt.want)
		}
	}
}

func TestThrottling(t *testing.T) {
	tests := []struct {
		name, stat string
		periods    uint64
		time       time.Duration
	}{
		{"v1", "nr_periods 120\nnr_throttled 13\nthrottled_time 987654321\n", 13, 987654321},
		{"v2", "usage_usec 5\nnr_periods 120\nnr_throttled 4\nthrottled_usec 2500\nnr_bursts 0\n", 4, 2500 * time.Microsecond},
		{"root of v2", "usage_usec 5\nuser_usec 3\nsystem_usec 2\n", 0, 0},
	}
	for _, tt := range tests {
		periods, d := throttling(tt.stat)
		if periods != tt.periods || d != tt.time {
			t.Errorf("%s: %d periods, %v, want %d, %v", tt.name, periods, d, tt.periods, tt.time)
		}
	}
}

func TestWaited(t *testing.T) {
	for text, want := range map[string]time.Duration{"85695 1500 2\n": 1500, "1": 0, "": 0} {
		if got := waited(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestNoise(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	before := counters{
		when: start, cpus: 2, all: ticks{1000, 20, 5000}, team: ticks{500, 10, 2500}, ownTicks: 900,
		throttled: 2, throttledTime: time.Second, wait: []time.Duration{time.Second, 0},
	}
	// after is a second with both CPUs at work for this process, one of them for a worker.
	after := func(change func(*counters)) counters {
		c := before
		c.wait = slices.Clone(before.wait)
		c.when = start.Add(time.Second)
		c.all.busy, c.all.total, c.team.total, c.ownTicks = 1200, 5200, 2600, 1099
		if change != nil {
			change(&c)
		}
		return c
	}
	tests := []struct {
		name   string
		change func(*counters)
		want   []string
	}{
		{"quiet", nil, nil},
		{"two stolen ticks", func(c *counters) { c.team.steal += 2 }, nil},
		{"stolen", func(c *counters) { c.team.steal += 5 }, []string{"the hypervisor took 5.0% of the workers' CPU time"}},
		{"stolen from an idle CPU", func(c *counters) { c.all.steal += 50 }, nil},
		{"two of the few ticks of a short time", func(c *counters) { c.team.steal += 2; c.team.total = before.team.total + 12 },
			[]string{"the hypervisor took 16.7% of the workers' CPU time"}},
		{"throttled", func(c *counters) { c.throttled++; c.throttledTime += time.Millisecond },
			[]string{"the cgroup was throttled 1 times, for 1ms"}},
		{"neighbour on the CPU of a worker", func(c *counters) { c.wait[1] += 500 * time.Millisecond; c.ownTicks -= 50 },
			[]string{"a worker waited for its CPU for 50% of the time", "other processes kept 0.5 CPUs busy"}},
		{"neighbour on another CPU", func(c *counters) { c.ownTicks -= 100 }, []string{"other processes kept 1.0 CPUs busy"}},
		{"foreign ticks of a short time", func(c *counters) { c.when = start.Add(noisyPeriod / 2); c.ownTicks -= 100 }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := after(tt.change).since(before)
			if got := n.disturbances(); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	if got := (counters{}).since(counters{}).disturbances(); got != nil {
		t.Errorf("nothing counted: %s", strings.Join(got, "; "))
	}
}
