package hwdetect

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

func TestThreads(t *testing.T) {
	for _, c := range []struct {
		allowed int
		quota   float64
		want    int
	}{
		{4, 0, 4}, {4, 1.5, 1}, {4, 2, 2}, {4, 3.99, 3}, {4, 8, 4}, {4, 0.3, 1}, {0, 0, 1}, {4, -1, 4},
	} {
		if got := Threads(c.allowed, c.quota); got != c.want {
			t.Errorf("%d allowed, quota %v: got %d, want %d", c.allowed, c.quota, got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	siblings := [][]int{{0, 1}, {2, 3}, {4}, {5}}
	classes := []schema.CoreClass{{Name: "P", CPUs: []int{0, 1, 2, 3}}, {Name: "E", CPUs: []int{4, 5}}}
	for _, c := range []struct {
		allowed []int
		n       int
		want    []int
	}{
		{[]int{0, 1, 2, 3, 4, 5}, 6, []int{0, 2, 4, 5, 1, 3}},
		{[]int{0, 1, 2, 3, 4, 5}, 3, []int{0, 2, 4}},
		{[]int{1, 3, 5}, 6, []int{1, 3, 5}}, // the second thread is the core's first if the first is not allowed
		{[]int{0, 1}, 2, []int{0, 1}},
		{[]int{5, 4}, 1, []int{4}},
		{[]int{0}, 0, []int{}},
		{nil, 3, []int{}},
	} {
		if got := Spread(c.allowed, siblings, classes, c.n); !cmp.Equal(got, c.want) {
			t.Errorf("%d of %v: got %v, want %v", c.n, c.allowed, got, c.want)
		}
	}
}

func TestAllowedCPUs(t *testing.T) {
	online := []int{0, 1, 2, 3}
	fails := func() ([]int, error) { return nil, errors.New("not told") }
	status := layout(t, map[string]string{"proc/self/status": "Name:\tx\nCpus_allowed_list:\t1-2\n"})
	for _, c := range []struct {
		name string
		root tree
		ask  func() ([]int, error)
		want []int
		note bool
	}{
		{"the kernel's word", "none", func() ([]int, error) { return []int{64, 2, 3}, nil }, []int{2, 3, 64}, false},
		{"status has offline CPUs in", layout(t, map[string]string{"proc/self/status": "Cpus_allowed_list:\t2-64\n"}), nil, []int{2, 3}, false},
		{"call fails, status tells", status, fails, []int{1, 2}, false},
		{"no call", status, nil, []int{1, 2}, false},
		{"nothing tells", "none", fails, online, true},
	} {
		got, note := allowedCPUs(c.root, c.ask, online)
		if !cmp.Equal(got, c.want) || (note != "") != c.note {
			t.Errorf("%s: got %v, %q", c.name, got, note)
		}
	}
}

// lxcfs numbers the online CPUs of a container anew; the mask has their real numbers.
func TestRenumberedCPUs(t *testing.T) {
	root := layout(t, map[string]string{
		"sys/devices/system/cpu/online":                        "0-1",
		"sys/devices/system/cpu/cpu4/topology/core_cpus_list":  "4,12",
		"sys/devices/system/cpu/cpu12/topology/core_cpus_list": "4,12",
	})
	got := describe(t, System{Root: string(root), Arch: "amd64", Affinity: func() ([]int, error) { return []int{4, 12}, nil }}, Options{})
	cpu := got.Devices[0].CPU
	if want := []int{4, 12}; !cmp.Equal(got.Host.AllowedCPUs, want) || !cmp.Equal(cpu.UsedCPUs, want) || cpu.Cores != 1 || cpu.Threads != 2 {
		t.Errorf("allowed %v, used %v, of %d cores and %d threads", got.Host.AllowedCPUs, cpu.UsedCPUs, cpu.Cores, cpu.Threads)
	}
}
