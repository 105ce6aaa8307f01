package profiles

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

// Entries of the golden profile that the cases edit.
const (
	peakFP32x2    = 1 // compute: 246.6 GFLOPS
	dramTriadNT   = 8 // bandwidth: 27.3 GB/s
	dramLatency   = 3 // latency: 98 ns
	reluTime      = 0 // operation_profiles: 0.21 ms, no FLOP
	linearFuse    = 0 // fusion_profiles: 1.084, fuse
	conv2dNeutral = 1 // fusion_profiles: 1.006, neutral
	goldenFigures = 34
)

// scale makes a figure k times as high, with its interval.
func scale(s *schema.Stat, k float64) {
	for _, f := range []*float64{&s.Best, &s.Median, &s.Mean, &s.Std, &s.Min, &s.Max, &s.CILow, &s.CIHigh} {
		*f *= k
	}
}

// pair edits a fusion profile to an interval 1% around a speedup.
func pair(f *schema.Fusion, speedup float64) {
	f.Speedup, f.SpeedupCILow, f.SpeedupCIHigh = speedup, 0.99*speedup, 1.01*speedup
	f.Verdict = schema.VerdictOf(f.SpeedupCILow, f.SpeedupCIHigh)
}

func parsed(t testing.TB) *schema.Profile {
	t.Helper()
	p, err := Parse(golden(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCompareOne edits one figure on a side. It alone may change, and by that.
func TestCompareOne(t *testing.T) {
	const (
		peak    = "/devices/0/compute/1"
		triad   = "/devices/0/bandwidth/8"
		chase   = "/devices/0/latency/3"
		relu    = "/devices/0/operation_profiles/0"
		linear  = "/devices/0/fusion_profiles/0"
		unfused = linear + ", unfused"
		fused   = linear + ", fused"
		conv    = "/devices/0/fusion_profiles/1"
		nothing = ""
	)
	tests := []struct {
		name       string
		edit       func(old, new *schema.Device)
		path       string
		verdict    string
		change     float64
		regression string
	}{
		{"equal", func(_, _ *schema.Device) {}, peak, Same, 0, nothing},
		{"peak lower", func(_, n *schema.Device) { scale(n.Compute[peakFP32x2].GFLOPS, 0.9) }, peak, Worse, -0.1, RegressionWorse},
		{"peak higher", func(_, n *schema.Device) { scale(n.Compute[peakFP32x2].GFLOPS, 1.1) }, peak, Better, 0.1, nothing},
		{"below the threshold", func(_, n *schema.Device) { scale(n.Compute[peakFP32x2].GFLOPS, 0.971) }, peak, Same, -0.029, nothing},
		{"above the threshold, intervals meet", func(o, n *schema.Device) {
			scale(n.Compute[peakFP32x2].GFLOPS, 0.96)
			o.Compute[peakFP32x2].GFLOPS.CILow = n.Compute[peakFP32x2].GFLOPS.CIHigh
		}, peak, WithinNoise, -0.04, nothing},
		{"intervals apart the other way", func(_, n *schema.Device) {
			s := n.Compute[peakFP32x2].GFLOPS
			scale(s, 0.9)
			s.CILow, s.CIHigh = 300, 310
		}, peak, WithinNoise, -0.1, nothing},
		{"of five samples", func(_, n *schema.Device) {
			scale(n.Compute[peakFP32x2].GFLOPS, 0.5)
			n.Compute[peakFP32x2].GFLOPS.N = 5
		}, peak, WithinNoise, -0.5, nothing},
		{"of six samples", func(_, n *schema.Device) {
			scale(n.Compute[peakFP32x2].GFLOPS, 0.5)
			n.Compute[peakFP32x2].GFLOPS.N = 6
		}, peak, Worse, -0.5, RegressionWorse},
		{"beside another process", func(_, n *schema.Device) {
			scale(n.Compute[peakFP32x2].GFLOPS, 0.5)
			n.Compute[peakFP32x2].Warnings = []schema.Code{schema.DeviceShared}
		}, peak, Noisy, -0.5, nothing},
		{"bandwidth lower", func(_, n *schema.Device) { scale(&n.Bandwidth[dramTriadNT].GBps, 0.5) }, triad, Worse, -0.5, RegressionWorse},
		{"latency higher", func(_, n *schema.Device) { scale(&n.Latency[dramLatency].Nanoseconds, 1.5) }, chase, Worse, 1/1.5 - 1, RegressionWorse},
		{"latency lower", func(_, n *schema.Device) { scale(&n.Latency[dramLatency].Nanoseconds, 0.5) }, chase, Better, 1, nothing},
		{"time without FLOP", func(_, n *schema.Device) { scale(&n.OperationProfiles[reluTime].LatencyMS, 2) }, relu, Worse, -0.5, RegressionWorse},
		{"implementation changed", func(_, n *schema.Device) { n.Compute[peakFP32x2].Implementation = "other" }, peak, Same, 0, nothing},
		{"speedup lower, verdict kept", func(o, n *schema.Device) {
			pair(&o.FusionProfiles[linearFuse], 1.5)
			pair(&n.FusionProfiles[linearFuse], 1.2)
		}, linear, Worse, -0.2, nothing},
		{"unfused faster", func(_, n *schema.Device) { n.FusionProfiles[linearFuse].UnfusedLatencyMS *= 0.5 }, unfused, Better, 1, nothing},
		{"fused slower", func(_, n *schema.Device) { n.FusionProfiles[linearFuse].FusedLatencyMS *= 1.5 }, fused, Worse, 1/1.5 - 1, RegressionWorse},
		{"fused slower, within the width of the speedup", func(_, n *schema.Device) {
			f := &n.FusionProfiles[linearFuse]
			f.FusedLatencyMS *= 1.04
			f.SpeedupCIHigh = 1.05 * f.Speedup
		}, fused, WithinNoise, 1/1.04 - 1, nothing},
		{"unfused faster, within the width of the speedup", func(_, n *schema.Device) {
			f := &n.FusionProfiles[linearFuse]
			f.UnfusedLatencyMS *= 0.96
			f.SpeedupCIHigh = 1.05 * f.Speedup
		}, unfused, WithinNoise, 1/0.96 - 1, nothing},
		{"fused slower on a noisy host", func(_, n *schema.Device) {
			f := &n.FusionProfiles[linearFuse]
			f.FusedLatencyMS *= 1.5
			f.Warnings = []schema.Code{schema.NoisyHost}
		}, fused, Noisy, 1/1.5 - 1, nothing},
		{"fuse to avoid", func(o, n *schema.Device) {
			pair(&o.FusionProfiles[linearFuse], 1.25)
			pair(&n.FusionProfiles[linearFuse], 0.75)
		}, linear, Worse, -0.4, RegressionFlip},
		{"avoid to fuse", func(o, n *schema.Device) {
			pair(&o.FusionProfiles[linearFuse], 0.8)
			pair(&n.FusionProfiles[linearFuse], 1.2)
		}, linear, Better, 0.5, RegressionFlip},
		{"flip on a noisy host", func(o, n *schema.Device) {
			pair(&o.FusionProfiles[linearFuse], 1.25)
			pair(&n.FusionProfiles[linearFuse], 0.75)
			n.FusionProfiles[linearFuse].Warnings = []schema.Code{schema.NoisyHost}
		}, linear, Noisy, -0.4, nothing},
		{"neutral to inconclusive", func(o, n *schema.Device) {
			f := &n.FusionProfiles[conv2dNeutral]
			f.Verdict, f.SpeedupCIHigh = schema.Inconclusive, 1.05
			f.Speedup = o.FusionProfiles[conv2dNeutral].Speedup * 1.01
		}, conv, Same, 0.01, nothing},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old, new := parsed(t), parsed(t)
			test.edit(&old.Devices[0], &new.Devices[0])
			c := Compare(old, new)
			if !c.SameHardware || len(c.Differences) != goldenFigures || len(c.OnlyOld)+len(c.OnlyNew) > 0 {
				t.Fatalf("%d compared, only old %v, only new %v", len(c.Differences), c.OnlyOld, c.OnlyNew)
			}
			regressions := 0
			for _, d := range c.Differences {
				if d.Regression != "" {
					regressions++
				}
				at := d.Path
				if _, side, is := strings.Cut(d.What, "warm"); is { // a pair has three figures
					at += side
				}
				if at != test.path {
					if d.Verdict != Same || d.Change != 0 {
						t.Errorf("%s: %s by %g", d.What, d.Verdict, d.Change)
					}
					continue
				}
				if d.Verdict != test.verdict || d.Regression != test.regression || math.Abs(d.Change-test.change) > 1e-9 {
					t.Errorf("%s: %q %q by %g, want %q %q by %g", d.What, d.Verdict, d.Regression, d.Change, test.verdict, test.regression, test.change)
				}
				if d.Significant != (test.verdict == Better || test.verdict == Worse) {
					t.Errorf("%s: %s and significant %t", d.What, d.Verdict, d.Significant)
				}
			}
			if c.Summary.Regressions != regressions {
				t.Errorf("the summary counts %d regressions, want %d", c.Summary.Regressions, regressions)
			}
		})
	}
}

// TestCompareNoisy: a figure that warns against itself, on either side and
// wherever the warning stands, is no regression.
func TestCompareNoisy(t *testing.T) {
	entry := func(p *schema.Profile) *schema.Compute { return &p.Devices[0].Compute[peakFP32x2] }
	for _, code := range []schema.Code{schema.NoisyHost, schema.Throttled, schema.ClockUnsettled, schema.Implausible, schema.Cached} {
		for side, warn := range map[string]func(old, new *schema.Profile){
			"old": func(o, _ *schema.Profile) { entry(o).Warnings = []schema.Code{code} },
			"new": func(_, n *schema.Profile) { entry(n).Warnings = []schema.Code{code} },
			"pointed": func(_, n *schema.Profile) {
				n.Warnings = append(n.Warnings, schema.Warning{Code: code, Path: "/devices/0/compute/1"})
			},
		} {
			old, new := parsed(t), parsed(t)
			scale(entry(new).GFLOPS, 0.5)
			warn(old, new)
			if s := Compare(old, new).Summary; s.Noisy != 1 || s.Regressions != 0 {
				t.Errorf("%s %s: %d noisy, %d regressions", side, code, s.Noisy, s.Regressions)
			}
		}
	}
	// Other codes say nothing about the figure.
	old, new := parsed(t), parsed(t)
	scale(entry(new).GFLOPS, 0.5)
	entry(new).Warnings = []schema.Code{schema.AboveTraffic}
	if s := Compare(old, new).Summary; s.Regressions != 1 {
		t.Errorf("%d regressions, want 1", s.Regressions)
	}
}

// TestCompareWorkingSets: what a level was measured on decides with what it is
// compared.
func TestCompareWorkingSets(t *testing.T) {
	type point struct {
		set   int64
		gbps  float64
		noisy bool
	}
	tests := []struct {
		name     string
		old, new []point
		from, to float64
		verdict  string
	}{
		{"one that both have", []point{{8, 400, false}, {16, 300, false}}, []point{{16, 300, false}, {32, 100, false}}, 300, 300, Same},
		{"best of those", []point{{8, 300, false}, {16, 400, false}}, []point{{8, 410, false}, {16, 290, false}}, 400, 410, Same},
		{"none in common", []point{{8, 400, false}, {16, 300, false}}, []point{{12, 350, false}, {24, 200, false}}, 400, 350, Worse},
		{"quiet ones first", []point{{8, 400, false}, {16, 300, false}}, []point{{8, 200, true}, {16, 300, false}}, 300, 300, Same},
		{"a quiet one on another set is no better", []point{{8, 400, false}, {16, 300, true}}, []point{{8, 200, true}, {16, 250, false}}, 400, 250, Noisy},
		{"only noisy ones", []point{{8, 400, true}}, []point{{16, 200, true}}, 400, 200, Noisy},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			side := func(points []point) *schema.Profile {
				p := parsed(t)
				p.Devices[0].Bandwidth = nil
				for _, at := range points {
					b := schema.Bandwidth{Level: schema.L1, Pattern: "read", Threads: 1, WorkingSetBytes: at.set << 10}
					b.GBps = schema.Stat{N: 11, Best: at.gbps, CILow: 0.98 * at.gbps, CIHigh: 0.99 * at.gbps}
					if at.noisy {
						b.Warnings = []schema.Code{schema.NoisyHost}
					}
					p.Devices[0].Bandwidth = append(p.Devices[0].Bandwidth, b)
				}
				return p
			}
			var found []Difference
			for _, d := range Compare(side(test.old), side(test.new)).Differences {
				if d.Group == GroupBandwidth {
					found = append(found, d)
				}
			}
			if len(found) != 1 || found[0].Old != test.from || found[0].New != test.to || found[0].Verdict != test.verdict {
				t.Errorf("got %+v, want %g to %g, %s", found, test.from, test.to, test.verdict)
			}
		})
	}
}

// TestCompareKernels: a kernel that a neighbour disturbed is not replaced by the next best.
func TestCompareKernels(t *testing.T) {
	type point struct {
		kernel string
		gflops float64
		noisy  bool
	}
	fast, slow := point{"amx", 400, false}, point{"vnni", 100, false}
	disturbed := point{"amx", 90, true}
	tests := []struct {
		name     string
		old, new []point
		from, to float64
		verdict  string
	}{
		{"the best", []point{slow, fast}, []point{slow, fast}, 400, 400, Same},
		{"another one", []point{slow}, []point{slow, fast}, 100, 400, Better},
		{"disturbed in the new", []point{slow, fast}, []point{slow, disturbed}, 100, 100, Same},
		{"disturbed in the old", []point{slow, disturbed}, []point{slow, fast}, 100, 100, Same},
		{"no other in common", []point{fast}, []point{slow, disturbed}, 400, 90, Noisy},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			side := func(points []point) *schema.Profile {
				p := parsed(t)
				peaks := &p.Devices[0].Compute
				first := (*peaks)[0]
				*peaks = nil
				for _, at := range points {
					c := first
					c.Implementation = at.kernel
					c.GFLOPS = &schema.Stat{N: 11, Best: at.gflops, CILow: 0.98 * at.gflops, CIHigh: 0.99 * at.gflops}
					if at.noisy {
						c.Warnings = []schema.Code{schema.NoisyHost}
					}
					*peaks = append(*peaks, c)
				}
				return p
			}
			var found []Difference
			for _, d := range Compare(side(test.old), side(test.new)).Differences {
				if d.Group == GroupPeak {
					found = append(found, d)
				}
			}
			if len(found) != 1 || found[0].Old != test.from || found[0].New != test.to || found[0].Verdict != test.verdict {
				t.Errorf("got %+v, want %g to %g, %s", found, test.from, test.to, test.verdict)
			}
		})
	}
}

// TestCompareLatencies: the shortest of a level is compared, under the name of its pages where
// they are known.
func TestCompareLatencies(t *testing.T) {
	for pages, want := range map[int64]string{
		0: "L1 latency", 4 << 10: "L1 latency, 4 KiB pages", 2 << 20: "L1 latency, 2 MiB pages", 1000: "L1 latency, pages of 1000 bytes",
	} {
		p := parsed(t)
		slow := p.Devices[0].Latency[0]
		slow.PageBytes = pages
		fast := slow
		fast.WorkingSetBytes /= 2
		scale(&fast.Nanoseconds, 0.5)
		p.Devices[0].Latency = []schema.Latency{slow, fast}
		var got []string
		for _, d := range Compare(p, p).Differences {
			if d.Group == GroupLatency && d.Old == fast.Nanoseconds.Best {
				got = append(got, d.What)
			}
		}
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Errorf("pages of %d bytes (-want +got):\n%s", pages, diff)
		}
	}
}

// TestCompareUnmatched: each coordinate keeps figures apart.
func TestCompareUnmatched(t *testing.T) {
	for name, edit := range map[string]func(d *schema.Device){
		"operation": func(d *schema.Device) { d.OperationProfiles[reluTime].Operation = "gelu" },
		"dtype":     func(d *schema.Device) { d.Compute[peakFP32x2].DType = schema.BF16 },
		"threads":   func(d *schema.Device) { d.Compute[peakFP32x2].Threads = 4 },
		"class":     func(d *schema.Device) { d.Compute[peakFP32x2].CoreClass = "P" },
		"shape":     func(d *schema.Device) { d.Compute[4].InputShape[0] = 512 },
		"unit":      func(d *schema.Device) { d.Compute[peakFP32x2].GFLOPS = nil },
		"level":     func(d *schema.Device) { d.Bandwidth[dramTriadNT].Level = schema.HBM },
		"pattern":   func(d *schema.Device) { d.Bandwidth[dramTriadNT].Pattern = "copy_nt" },
		"pages":     func(d *schema.Device) { d.Latency[dramLatency].PageBytes = 4096 },
		"pair":      func(d *schema.Device) { d.FusionProfiles[linearFuse].InputShape[2] = 7 },
	} {
		old, new := parsed(t), parsed(t)
		edit(&new.Devices[0])
		c := Compare(old, new)
		want := 1
		if name == "pair" { // the speedup and both times
			want = 3
		}
		if len(c.OnlyOld) != want || len(c.OnlyNew) != want || c.Summary.Compared != goldenFigures-want || c.Summary.Regressions != 0 {
			t.Errorf("%s: only old %+v, only new %+v, %d compared", name, c.OnlyOld, c.OnlyNew, c.Summary.Compared)
		}
	}
	old, new := parsed(t), parsed(t)
	new.Devices[0].ID = "cpu1"
	if c := Compare(old, new); len(c.OnlyOld) != goldenFigures || len(c.OnlyNew) != goldenFigures || len(c.Differences) != 0 {
		t.Errorf("another device: %d compared", len(c.Differences))
	}
}

func TestCompareSummary(t *testing.T) {
	old, new := parsed(t), parsed(t)
	d := &new.Devices[0]
	for i, k := range []float64{1.01, 0.98, 1.04, 1} { // peaks: the middle two are 1% and 2%
		scale(d.Compute[i].GFLOPS, k)
	}
	for i := range d.Bandwidth {
		scale(&d.Bandwidth[i].GBps, 0.9)
	}
	scale(&d.Latency[0].Nanoseconds, 10) // not in the agreement
	new.Metadata.Fingerprint = "another"
	c := Compare(old, new)
	if c.SameHardware {
		t.Error("other hardware is the same")
	}
	want := ComparisonSummary{
		Compared: goldenFigures, Same: goldenFigures - 13, Better: 1, Worse: 12, Regressions: 12,
		Agreement: []Agreement{{GroupPeak, 4, 0.015}, {GroupMatmul, 4, 0}, {GroupBandwidth, 11, 0.1}, {GroupAll, 19, 0.1}},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if diff := cmp.Diff(want, c.Summary, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCompareExtremes: no profile that the schema admits makes a comparison that
// JSON cannot hold.
func TestCompareExtremes(t *testing.T) {
	old, new := parsed(t), parsed(t)
	for i := range old.Devices[0].Compute {
		scale(old.Devices[0].Compute[i].GFLOPS, 1e-300)
		scale(new.Devices[0].Compute[i].GFLOPS, 1e300)
	}
	scale(&new.Devices[0].Latency[0].Nanoseconds, 1e300)
	for _, c := range []Comparison{Compare(old, new), Compare(new, old), Compare(&schema.Profile{}, &schema.Profile{})} {
		if _, err := json.Marshal(c); err != nil {
			t.Error(err)
		}
	}
}

// TestCompareCurves: a point of a curve meets its own and no other: not the one of
// the other packing, thread count or node.
func TestCompareCurves(t *testing.T) {
	old, new := parsed(t), parsed(t)
	for _, p := range []*schema.Profile{old, new} {
		d := &p.Devices[0]
		packed := d.Compute[4]
		packed.Operation = "matmul_packed"
		d.Compute = append(d.Compute, packed)
		for memory := range 2 {
			d.NUMA = append(d.NUMA, schema.NUMAPath{MemoryNode: memory, Threads: 1, GBps: d.Bandwidth[0].GBps, Nanoseconds: d.Latency[0].Nanoseconds})
		}
	}
	d := &new.Devices[0]
	faster := *d.Compute[4].GFLOPS
	scale(&faster, 2)
	d.Compute[len(d.Compute)-1].GFLOPS = &faster
	scale(&d.NUMA[1].Nanoseconds, 2)
	var changed []string
	for _, diff := range Compare(old, new).Differences {
		if diff.Verdict != Same {
			changed = append(changed, diff.Group+": "+diff.What+" "+diff.Verdict)
		}
	}
	want := []string{
		"matmul: matmul_packed fp32 1024x1024x1024, 1 thread better",
		"latency: latency from node 0 to memory of node 1 worse",
	}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A pair on a GPU is launched in two ways, of which each has a verdict of its own.
func TestCompareLaunches(t *testing.T) {
	two := func(graph float64) *schema.Profile {
		p := parsed(t)
		fs := p.Devices[0].FusionProfiles
		byStream, byGraph := fs[linearFuse], fs[linearFuse]
		byStream.Launch, byGraph.Launch = schema.LaunchStream, schema.LaunchGraph
		pair(&byStream, 1.5)
		pair(&byGraph, graph)
		p.Devices[0].FusionProfiles = []schema.Fusion{byStream, byGraph}
		return p
	}
	if c := Compare(two(1.2), two(0.8)); c.Summary.Flips != 1 || c.Summary.Compared == 0 {
		t.Errorf("%+v", c.Summary)
	}
}

// TestCompareLaunchCosts: what it costs to launch a kernel is a figure of its own in each mode.
func TestCompareLaunchCosts(t *testing.T) {
	load := func() *schema.Profile {
		p, err := Load("../testdata/golden/scripted-gpu.json")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	old, new := load(), load()
	for i := range new.Devices[0].Launch {
		scale(&new.Devices[0].Launch[i].Microseconds, 10)
	}
	var worse []string
	for _, d := range Compare(old, new).Differences {
		if d.Regression == RegressionWorse {
			worse = append(worse, d.What)
		}
	}
	if diff := cmp.Diff([]string{"launch, by stream", "launch, by graph"}, worse); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
