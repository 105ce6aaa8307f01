package bench

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"hwcal/schema"
)

func TestThreadCounts(t *testing.T) {
	for _, c := range []struct {
		all, cores int
		want       []int
	}{
		{1, 1, []int{1}},
		{2, 2, []int{1, 2}},
		{8, 4, []int{1, 2, 3, 4, 5, 6, 7, 8}},
		{12, 6, []int{1, 2, 4, 6, 8, 12}},
		{64, 64, []int{1, 2, 4, 8, 16, 32, 64}},
		{80, 40, []int{1, 2, 4, 8, 16, 32, 40, 64, 80}},
	} {
		cal := fakeCalibrator(newFake(), schema.Default)
		cal.Options.Threads, cal.Device.CPU.Cores = c.all, c.cores
		if got := cal.threadCounts(); !slices.Equal(got, c.want) {
			t.Errorf("%d threads on %d cores: %v, want %v", c.all, c.cores, got, c.want)
		}
	}
}

// The curve has its twelve sizes and more, from 32 to 4096, on one thread and on all,
// fewer in quick runs; the scaling has its numbers of threads, each with its register
// peak beside it.
func TestMatmulCurve(t *testing.T) {
	long(t)
	for _, mode := range []schema.Mode{schema.Quick, schema.Default} {
		cal := fakeCalibrator(newFake(), mode)
		twoNodes(cal)
		dev, _, err := cal.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		sizes, scaled := map[int][]int64{}, []int{}
		for _, e := range dev.Compute {
			if e.Operation != "matmul" {
				continue
			}
			s := e.InputShape
			if s[0] == s[1] && s[0] == s[2] {
				sizes[e.Threads] = append(sizes[e.Threads], s[0])
			}
			if slices.Equal(s, cal.headlineShape().Values()) {
				scaled = append(scaled, e.Threads)
			}
			if e.Efficiency == 0 {
				t.Errorf("%s: no efficiency of %v on %d threads", mode, s, e.Threads)
			}
			if e.Efficiency > 0.8 && *e.MemoryBound {
				t.Errorf("%s: %v on %d threads is at %g of the register peak, and bound by memory", mode, s, e.Threads, e.Efficiency)
			}
		}
		slices.Sort(scaled)
		if !slices.Equal(scaled, []int{1, 2, 3, 4}) {
			t.Errorf("%s: %v threads, want 1 to 4", mode, scaled)
		}
		triads := map[int]bool{}
		for _, e := range dev.Bandwidth {
			triads[e.Threads] = triads[e.Threads] || e.Level == schema.DRAM && e.Pattern == "triad"
		}
		if got := slices.Sorted(maps.Keys(triads)); mode == schema.Quick != slices.Equal(got, []int{1, 4}) || mode != schema.Quick != slices.Equal(got, []int{1, 2, 3, 4}) {
			t.Errorf("%s: triad on %v threads", mode, got)
		}
		for _, threads := range []int{1, 4} {
			if n := sizes[threads]; mode != schema.Quick && (len(n) < 12 || slices.Min(n) != 32 || slices.Max(n) != 4096) {
				t.Errorf("%s: sizes %v on %d threads", mode, n, threads)
			}
		}
	}
}

// A case that would take too much of the budget is left out, and says so.
func TestLongMatmulIsLeftOut(t *testing.T) {
	long(t)
	cal := fakeCalibrator(newFake(), schema.Default)
	cal.Options.Budget = 20 * time.Second // a tenth is not enough for 3 times 4096 in fp64 on one thread
	cal.Options.Patterns, cal.Options.DTypes = nil, []schema.DType{schema.FP64}
	dev, warnings, err := cal.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	const what = "matmul fp64 m=4096 n=4096 k=4096, 1 thread"
	if !slices.ContainsFunc(dev.Unavailable, func(u schema.Unavailable) bool { return u.What == what }) {
		t.Errorf("not among unavailable: %s", what)
	}
	if !slices.ContainsFunc(warnings, func(w schema.Warning) bool { return w.Code == schema.BudgetSpent }) {
		t.Errorf("no warning: %v", warnings)
	}
	cal.deadline = cal.Runner.Now().Add(time.Second)
	if err := cal.affordable(1500 * time.Millisecond); !errors.Is(err, ErrBudget) {
		t.Errorf("more than is left: %v", err)
	}
	if err := cal.affordable(500 * time.Millisecond); err != nil {
		t.Errorf("less than is left: %v", err)
	}
}
