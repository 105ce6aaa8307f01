package bench

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// TestCachedReadsAreNotQuoted: while a neighbour has the last level, the curve of one
// thread is that of DRAM early; what two threads read there later, from the cache, is
// not the bandwidth of DRAM.
func TestCachedReadsAreNotQuoted(t *testing.T) {
	c := &Calibrator{levels: levels{outer: schema.DRAM}, Device: schema.Device{CPU: &schema.CPUInfo{UsedCPUs: []int{0, 1}}}}
	const mib = 1 << 20
	for _, p := range []struct {
		threads int
		bytes   int64
		gbps    float64
	}{
		{1, 16 * mib, 11}, {1, 32 * mib, 11}, {1, 64 * mib, 11}, {1, 128 * mib, 11},
		{2, 16 * mib, 43.6}, {2, 24 * mib, 37.4}, {2, 32 * mib, 23.4}, {2, 128 * mib, 22.7}, {2, 512 * mib, 20.8},
	} {
		c.Device.Bandwidth = append(c.Device.Bandwidth, schema.Bandwidth{
			Level: schema.DRAM, Pattern: "read", Threads: p.threads, WorkingSetBytes: p.bytes,
			GBps: stat.Summarize([]float64{p.gbps}, stat.Larger),
		})
	}
	c.flagCached()
	for i, e := range c.Device.Bandwidth {
		want := e.GBps.Best > 30
		if got := slices.Contains(e.Warnings, schema.Cached); got != want {
			t.Errorf("%d: %d threads, %d bytes, %g GB/s: cached %t, want %t", i, e.Threads, e.WorkingSetBytes, e.GBps.Best, got, want)
		}
	}
	if s := summarize(c.Device); s.BandwidthGBps != 23.4 || s.BandwidthOf != "read" {
		t.Errorf("summary quotes %g GB/s of %s, want 23.4 of read", s.BandwidthGBps, s.BandwidthOf)
	}
	c.Device.Bandwidth = c.Device.Bandwidth[:4]
	if s := summarize(c.Device); s.BandwidthGBps != 0 {
		t.Errorf("summary quotes %g GB/s of one thread as that of two", s.BandwidthGBps)
	}
}

// Workers on caches of their own read more than memory gives: where others are on the plateau, theirs are not what the
// curve is held against, and are not flagged for that; where there are no others, they are.
func TestPlateauOfWorkersApart(t *testing.T) {
	apart := []schema.Code{schema.WorkersApart}
	curve := func(last []schema.Code) *Calibrator {
		c := &Calibrator{levels: levels{outer: schema.DRAM}}
		for _, p := range []struct {
			mib      int64
			gbps     float64
			warnings []schema.Code
		}{{45, 53.7, nil}, {64, 65, apart}, {128, 61.6, apart}, {256, 60.6, apart}, {512, 34.9, last}} {
			c.Device.Bandwidth = append(c.Device.Bandwidth, schema.Bandwidth{
				Level: schema.DRAM, Pattern: "read", Threads: 2, WorkingSetBytes: p.mib << 20, Warnings: p.warnings,
				GBps: stat.Summarize([]float64{p.gbps}, stat.Larger),
			})
		}
		c.flagCached()
		return c
	}
	for i, c := range []*Calibrator{curve(nil), curve(apart)} {
		for j, e := range c.Device.Bandwidth {
			if got, want := slices.Contains(e.Warnings, schema.Cached), i == 0 && j == 0; got != want {
				t.Errorf("%d MiB, %g GB/s: cached %t, want %t", e.WorkingSetBytes>>20, e.GBps.Best, got, want)
			}
		}
	}
}

// What is not deep in its level is partly served by the one before, whatever the kernel: that is no rate of the level.
func TestShallowWorkingSets(t *testing.T) {
	l := claimedLevels(schema.CPUInfo{Cores: 2, Caches: []schema.Cache{
		{Level: 1, Type: "data", SizeBytes: 48 << 10, SharedBy: 1, Count: 2},
		{Level: 2, Type: "unified", SizeBytes: 2 << 20, SharedBy: 1, Count: 2},
		{Level: 3, Type: "unified", SizeBytes: 480 << 20, SharedBy: 2, Count: 1},
	}})
	c := &Calibrator{levels: l}
	entries := []struct {
		level   schema.Level
		pattern string
		threads int
		kib     int64
		gbps    float64
		want    bool
	}{
		{schema.L2, "read", 2, 128, 350, false}, {schema.L2, "read", 2, 512, 352, false},
		{schema.L3, "read", 2, 5792, 80.9, true}, {schema.L3, "read", 2, 8192, 63.3, false}, {schema.L3, "copy", 2, 16384, 60.8, false},
		{schema.L3, "read", 1, 2896, 37.1, true}, {schema.L3, "read4", 1, 4096, 37, true}, {schema.L3, "read", 1, 5792, 30.4, false},
		{schema.L3, "read", 1, 8192, 30.4, false}, {schema.L3, "copy_nt", 1, 8192, 31.7, false},
	}
	for _, e := range entries {
		c.Device.Bandwidth = append(c.Device.Bandwidth, schema.Bandwidth{
			Level: e.level, Pattern: e.pattern, Threads: e.threads, WorkingSetBytes: e.kib << 10,
			GBps: stat.Summarize([]float64{e.gbps}, stat.Larger),
		})
	}
	c.flagCached()
	for i, e := range entries {
		if got := slices.Contains(c.Device.Bandwidth[i].Warnings, schema.Cached); got != e.want {
			t.Errorf("%s of %d KiB in %s on %d threads, %g GB/s: cached %t, want %t", e.pattern, e.kib, e.level, e.threads, e.gbps, got, e.want)
		}
	}
	if gbps, of := ceiling(c.Device.Bandwidth, schema.L3, 2, anyKernel); gbps != 63.3 || of != "read" {
		t.Errorf("the ceiling of L3 is %g GB/s of %s, want 63.3 of read", gbps, of)
	}
}

// A point of the curve that fails costs none of the others, nor the levels that are read off it.
func TestCurveWithoutAPoint(t *testing.T) {
	points := func(fails int) (*Calibrator, error) {
		f := newFake()
		c := fakeCalibrator(f, schema.Default)
		c.levels, c.deadline = c.claimed(), f.now.Add(time.Hour)
		f.fails = fails
		return c, c.measureCurve(context.Background(), c.one(), 1)
	}
	whole, err := points(0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := points(8)
	if err == nil || len(c.Device.Bandwidth) != len(whole.Device.Bandwidth)-1 || c.levels.flatFrom != whole.levels.flatFrom {
		t.Errorf("%v: %d of %d points, flat from %d, else from %d", err, len(c.Device.Bandwidth), len(whole.Device.Bandwidth), c.levels.flatFrom, whole.levels.flatFrom)
	}
}

// small is a fake that has no tensors of so many bytes.
type small struct {
	*fake
	limit int64
}

func (s small) Open(c Case) (Workspace, error) {
	if c.Footprint() > s.limit {
		return nil, errors.New("mmap: cannot allocate memory")
	}
	return s.fake.Open(c)
}

// Where all large working sets fail, the rest is no curve of DRAM, and nothing is quoted as such.
func TestCurveWithoutItsEnd(t *testing.T) {
	f := newFake()
	c := fakeCalibrator(f, schema.Quick)
	c.Runner.Backend, c.Options.Patterns, c.Options.Operations = small{f, 4 << 20}, nil, nil
	dev, warnings, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(dev.Bandwidth) == 0 || dev.Summary.BandwidthGBps != 0 || c.levels.flatFrom != 0 {
		t.Errorf("%d points, the summary quotes %g GB/s of DRAM, flat from %d", len(dev.Bandwidth), dev.Summary.BandwidthGBps, c.levels.flatFrom)
	}
	for _, w := range warnings {
		if w.Code == schema.LevelNotSeen {
			t.Errorf("%+v", w)
		}
	}
}

// A curve that is interrupted is not done, wherever that happens.
func TestCurveInterrupted(t *testing.T) {
	for reading := 1; reading < 12; reading++ {
		f := newFake()
		c := fakeCalibrator(f, schema.Default)
		c.levels, c.deadline = c.claimed(), f.now.Add(time.Hour)
		ctx, cancel := context.WithCancel(context.Background())
		f.clock = func(n int) float64 {
			if n == reading {
				cancel()
			}
			return 3000
		}
		if err := c.measureCurve(ctx, c.one(), 1); !errors.Is(err, context.Canceled) {
			t.Errorf("reading %d: %v, %d points", reading, err, len(c.Device.Bandwidth))
		}
	}
}

// Where one array fits into the level before and two do not, kernels of one array are left out.
func TestLevelOfTwoArrays(t *testing.T) {
	f := newFake()
	c := fakeCalibrator(f, schema.Quick)
	c.levels, c.deadline = c.claimed(), f.now.Add(time.Hour)
	c.levels.caches[2].size = 5 << 20 // behind 1 MiB of each of two cores
	err := c.measureLevel(context.Background(), schema.L3, c.all(), Streams, 1)
	if !errors.Is(err, ErrUnsupported) {
		t.Errorf("%v, want what was left out", err)
	}
	if n := len(c.Device.Bandwidth); n == 0 {
		t.Error("no kernel of two arrays was measured")
	}
	for _, e := range c.Device.Bandwidth {
		if got := c.levels.of(e.WorkingSetBytes, e.Threads); got != schema.L3 {
			t.Errorf("%s of %d bytes as in L3, in %s", e.Pattern, e.WorkingSetBytes, got)
		}
	}
}

// No rate is above what the ports of L1 take: of the scripted machine 192 bytes a cycle and thread, at 3 GHz.
func TestRatesAbovePorts(t *testing.T) {
	for _, k := range []struct {
		threads int
		gbps    float64
		want    []string
	}{
		{1, 1.04 * 576, nil}, {1, 1.06 * 576, []string{"implausible /bandwidth/0"}},
		{2, 1.04 * 1152, nil}, {2, 1.06 * 1152, []string{"implausible /bandwidth/0"}},
	} {
		c := fakeCalibrator(newFake(), schema.Quick)
		c.addBandwidth(schema.Bandwidth{Level: schema.L1, Pattern: "read", Threads: k.threads, GBps: schema.Stat{Best: k.gbps}}, Measurement{TopMHz: 3000})
		if got := told(c); !slices.Equal(got, k.want) || len(c.Device.Bandwidth[0].Warnings) != len(k.want) {
			t.Errorf("%g GB/s on %d threads: %v, want %v", k.gbps, k.threads, got, k.want)
		}
	}
}
