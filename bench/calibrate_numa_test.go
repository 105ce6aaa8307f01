package bench

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"hwcal/schema"
)

// recorded is the CPU of a machine of two nodes as it was detected.
func recorded(t *testing.T) *schema.CPUInfo {
	t.Helper()
	data, err := os.ReadFile("../testdata/machines/server-2x-gold-6248.json")
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Devices []schema.Device }
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m.Devices[0].CPU
}

// On a machine of two nodes each path is measured, on the cores of its node; what is
// remote is slower, as the scripted machine has it.
func TestPathsBetweenNodes(t *testing.T) {
	cpu := recorded(t)
	for _, c := range []struct {
		mode schema.Mode
		want [][2]int // node, memory node
	}{
		{schema.Quick, [][2]int{{0, 0}, {0, 1}}},
		{schema.Default, [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}}},
	} {
		cal := fakeCalibrator(newFake(), c.mode)
		cal.Device.CPU = cpu
		cal.Options.Threads = len(cpu.UsedCPUs)
		cal.levels = claimedLevels(*cpu)
		for _, s := range cal.numaSteps() {
			if err := s.run(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
		}
		if len(cal.Device.NUMA) != len(c.want) {
			t.Fatalf("%s: %d paths, want %d", c.mode, len(cal.Device.NUMA), len(c.want))
		}
		for i, got := range cal.Device.NUMA {
			if at := [2]int{got.Node, got.MemoryNode}; at != c.want[i] || got.Threads != len(cpu.UsedCPUs)/2 {
				t.Errorf("%s: path %v on %d threads, want %v on %d", c.mode, at, got.Threads, c.want[i], len(cpu.UsedCPUs)/2)
			}
			local := cal.Device.NUMA[0]
			if remote := got.Node != got.MemoryNode; remote != (got.GBps.Best < 0.6*local.GBps.Best) || remote != (got.Nanoseconds.Best > 1.8*local.Nanoseconds.Best) {
				t.Errorf("%s: %d to %d: %.1f GB/s, %.1f ns", c.mode, got.Node, got.MemoryNode, got.GBps.Best, got.Nanoseconds.Best)
			}
		}
	}
	cal := fakeCalibrator(newFake(), schema.Full)
	if steps := cal.numaSteps(); len(steps) != 0 {
		t.Errorf("one node: %d steps", len(steps))
	}
}

// What is bound to a node takes half of what is free there at most: the kernel ends a
// process that the node has no memory for.
func TestNodeWithoutRoom(t *testing.T) {
	cal := fakeCalibrator(newFake(), schema.Quick)
	twoNodes(cal)
	cal.Device.CPU.NUMANodes[1].MemoryAvailableBytes = 64 << 20
	cal.levels = claimedLevels(*cal.Device.CPU)
	for _, s := range cal.numaSteps() {
		if err := s.run(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range cal.Device.NUMA {
		full := path.MemoryNode == 1
		if got := max(path.WorkingSetBytes, path.ChaseBytes); full != (got <= 32<<20) {
			t.Errorf("node %d: working set of %d bytes, chase of %d", path.MemoryNode, path.WorkingSetBytes, path.ChaseBytes)
		}
		if limited := slices.Contains(path.Warnings, schema.DRAMLimited); limited != full {
			t.Errorf("node %d: warnings %v", path.MemoryNode, path.Warnings)
		}
	}
	if len(cal.Device.NUMA) != 2 {
		t.Errorf("%d paths", len(cal.Device.NUMA))
	}
}
