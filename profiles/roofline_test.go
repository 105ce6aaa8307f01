package profiles

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hwcal/schema"
)

func loadDevice(t *testing.T, file string) *schema.Device {
	t.Helper()
	p, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return &p.Devices[0]
}

func TestRooflineGolden(t *testing.T) {
	d := loadDevice(t, goldenFile)
	got := NewRoofline(d, 2, schema.DTypes())
	want := Roofline{
		Threads: 2,
		Peaks:   []RooflinePeak{{schema.FP64, 123.2}, {schema.FP32, 246.6}},
		Slopes: []RooflineSlope{
			{schema.L1, 472.4, "triad"}, {schema.L2, 231.3, "triad"}, {schema.L3, 66.64, "triad"}, {schema.DRAM, 27.30, "triad_nt"},
		},
		Points: []RooflinePoint{
			{Number: 1, Group: GroupMatmul, Name: "matmul", DType: schema.FP32, Shape: []int64{1024, 1024, 1024}, FLOP: 2147483648, Intensity: 170.7, GFLOPS: 221.4},
			{Number: 2, Group: GroupMatmul, Name: "matmul", DType: schema.FP64, Shape: []int64{1024, 1024, 1024}, FLOP: 2147483648, Intensity: 85.33, GFLOPS: 106.8},
			{Number: 3, Group: GroupOperation, Name: "softmax", DType: schema.FP32, Shape: []int64{1024, 256}, FLOP: 1310720, Intensity: 0.625, GFLOPS: 9.1},
			{Number: 4, Group: "linear", Name: "Linear_Bias_ReLU", DType: schema.FP32, Shape: []int64{512, 1024, 1024}, FLOP: 1074266112,
				Intensity: 128, GFLOPS: 218.9, UnfusedIntensity: 64, UnfusedGFLOPS: 201.906},
			{Number: 5, Group: "conv", Name: "Conv2d_ReLU", DType: schema.FP32, Shape: []int64{4, 128, 128, 28, 28, 3, 3}, FLOP: 924844032,
				Intensity: 243.3, GFLOPS: 208.2, UnfusedIntensity: 131.8, UnfusedGFLOPS: 206.95},
			{Number: 6, Group: "attention", Name: "QK_T", DType: schema.FP32, Shape: []int64{4, 8, 256, 64}, FLOP: 270532608,
				Intensity: 21.5, GFLOPS: 169.1, UnfusedIntensity: 9.214, UnfusedGFLOPS: 177.627},
		},
		WithoutFLOP: []string{"relu"},
	}
	about := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) })
	if diff := cmp.Diff(want, got, about); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	memory := got.Slopes[len(got.Slopes)-1]
	for _, p := range got.Peaks {
		if ridge := memory.Ridge(p); !near(ridge, d.Summary.RidgePoint[p.DType]) {
			t.Errorf("%s: ridge point %g, the summary says %g", p.DType, ridge, d.Summary.RidgePoint[p.DType])
		}
	}
	if one := NewRoofline(d, 1, []schema.DType{schema.FP64}); len(one.Peaks) != 1 || one.Peaks[0].GFLOPS != 61.9 || len(one.Points) != 1 {
		t.Errorf("fp64 with 1 thread: %+v", one)
	}
}

// TestRooflineCeilings: the slopes are the ceilings that the calibrator holds the traffic of
// operations against, but of those that only read.
func TestRooflineCeilings(t *testing.T) {
	for _, file := range []string{"../testdata/golden/scripted.json", "../testdata/golden/scripted-gpu.json"} {
		d, compared := loadDevice(t, file), 0
		for _, e := range d.OperationProfiles {
			r := NewRoofline(d, e.Threads, schema.DTypes())
			for _, s := range r.Slopes {
				if e.Traffic != nil && e.Traffic.Level == s.Level && !e.OnlyReads() {
					compared++
					if s.GBps != e.Traffic.CeilingGBps || s.Pattern != e.Traffic.CeilingOf {
						t.Errorf("%s: %s of %s: %g GB/s of %s, want %g of %s", file, s.Level, e.Operation, s.GBps, s.Pattern, e.Traffic.CeilingGBps, e.Traffic.CeilingOf)
					}
				}
				if s.Level == schema.HostLink {
					t.Errorf("%s: the link to the host has a slope", file)
				}
			}
		}
		if compared == 0 {
			t.Errorf("%s: nothing was compared", file)
		}
	}
}

// TestRooflineLeavesOut what guards refute, and what was measured under other conditions.
func TestRooflineLeavesOut(t *testing.T) {
	base := loadDevice(t, goldenFile)
	whole := NewRoofline(base, 2, schema.DTypes())
	for _, test := range []struct {
		name   string
		change func(d *schema.Device)
		check  func(r Roofline) bool
	}{
		{"an implausible peak", func(d *schema.Device) {
			for i := range d.Compute {
				if d.Compute[i].Operation == peakFMA && d.Compute[i].DType == schema.FP64 {
					d.Compute[i].Warnings = []schema.Code{schema.Implausible}
				}
			}
		}, func(r Roofline) bool { return len(r.Peaks) == 1 && r.Peaks[0].DType == schema.FP32 }},
		{"a cached bandwidth", func(d *schema.Device) {
			for i := range d.Bandwidth {
				if d.Bandwidth[i].Pattern == "triad_nt" {
					d.Bandwidth[i].Warnings = []schema.Code{schema.Cached}
				}
			}
		}, func(r Roofline) bool { return r.Slopes[3] == RooflineSlope{schema.DRAM, 20.955, "triad"} }},
		{"a bandwidth of workers apart", func(d *schema.Device) {
			for i := range d.Bandwidth {
				if d.Bandwidth[i].Pattern == "triad_nt" {
					d.Bandwidth[i].Warnings = []schema.Code{schema.WorkersApart}
				}
			}
		}, func(r Roofline) bool { return r.Slopes[3] == RooflineSlope{schema.DRAM, 20.955, "triad"} }},
		{"a level that was measured with other threads", func(d *schema.Device) {
			d.Bandwidth = slices.DeleteFunc(d.Bandwidth, func(b schema.Bandwidth) bool { return b.Level == schema.L2 && b.Threads == 2 })
		}, func(r Roofline) bool {
			return len(r.Slopes) == 3 && slices.Equal(r.Unmeasured, []schema.Level{schema.L2})
		}},
		{"an implausible operation", func(d *schema.Device) { d.OperationProfiles[1].Warnings = []schema.Code{schema.Implausible} },
			func(r Roofline) bool { return len(r.Points) == len(whole.Points)-1 }},
		{"an implausible pair", func(d *schema.Device) { d.FusionProfiles[0].Warnings = []schema.Code{schema.Implausible} },
			func(r Roofline) bool { return len(r.Points) == len(whole.Points)-1 }},
		{"a pair on cold caches", func(d *schema.Device) { d.FusionProfiles[0].Cache = schema.Cold },
			func(r Roofline) bool { return len(r.Points) == len(whole.Points)-1 }},
		{"a replayed graph", func(d *schema.Device) { d.FusionProfiles[0].Launch = schema.LaunchGraph },
			func(r Roofline) bool { return len(r.Points) == len(whole.Points)-1 }},
		{"the number of a smaller shape", func(d *schema.Device) {
			small := d.FusionProfiles[0]
			small.FLOP /= 2
			d.FusionProfiles = append([]schema.Fusion{small}, d.FusionProfiles...)
		}, func(r Roofline) bool {
			return len(r.Points) == len(whole.Points)+1 && r.Points[3].Number == 0 && r.Points[4].Number == 4 && r.Points[6].Number == 6
		}},
	} {
		d := *base
		d.Compute, d.Bandwidth = slices.Clone(d.Compute), slices.Clone(d.Bandwidth)
		d.OperationProfiles, d.FusionProfiles = slices.Clone(d.OperationProfiles), slices.Clone(d.FusionProfiles)
		test.change(&d)
		if r := NewRoofline(&d, 2, schema.DTypes()); !test.check(r) {
			t.Errorf("%s is not left out: %+v", test.name, r)
		}
	}
}

func TestRooflineThreads(t *testing.T) {
	d := loadDevice(t, goldenFile)
	if got := RooflineThreads(d); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("threads %v", got)
	}
	if got := RooflineDTypes(d, 2); !slices.Equal(got, []schema.DType{schema.FP64, schema.FP32}) {
		t.Errorf("dtypes %v", got)
	}
	d.Compute = nil
	if got := RooflineThreads(d); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("without peaks: threads %v", got)
	}
	if got := RooflineDTypes(d, 2); len(got) != 0 {
		t.Errorf("without peaks: dtypes %v", got)
	}
	d.Bandwidth = nil
	if got := RooflineThreads(d); len(got) != 0 {
		t.Errorf("of nothing: threads %v", got)
	}
}
