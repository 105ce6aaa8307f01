package profiles

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"hwcal/schema"
)

// Roofline is what binds a device by arithmetic intensity, and what operations reach under it; all
// of it was measured, with one number of threads, and is the best sample. The model is that of
// Williams, Waterman and Patterson (CACM 52(4), 2009), with a slope for each memory level.
type Roofline struct {
	Threads int // 0: the whole device
	Peaks   []RooflinePeak
	Slopes  []RooflineSlope
	Points  []RooflinePoint

	Unmeasured  []schema.Level // levels whose bandwidth was not measured with so many threads
	WithoutFLOP []string       // operations that compute nothing, and have no place here
}

// RooflinePeak is a horizontal ceiling: the register peak of a dtype.
type RooflinePeak struct {
	DType  schema.DType
	GFLOPS float64
}

// RooflineSlope is a ceiling that rises with the arithmetic intensity: the best kernel of bandwidth
// on a memory level.
type RooflineSlope struct {
	Level   schema.Level
	GBps    float64
	Pattern string // that kernel
}

// Ridge is the arithmetic intensity in FLOP/byte at which a slope meets a peak.
func (s RooflineSlope) Ridge(p RooflinePeak) float64 { return p.GFLOPS / s.GBps }

// RooflinePoint is what one case reaches.
type RooflinePoint struct {
	Number    int    // 1, 2, ... for the largest shape of each operation and dtype; 0 for its other shapes
	Group     string // GroupMatmul, GroupOperation, or the group of a fusion pattern
	Name      string
	DType     schema.DType
	Shape     []int64
	FLOP      int64
	Intensity float64 // FLOP per compulsory byte
	GFLOPS    float64

	// Of a fused pair what the unfused side reaches; 0 for others.
	UnfusedIntensity, UnfusedGFLOPS float64
}

// RooflineThreads are the numbers of threads with which a peak was measured, or where there is
// none a bandwidth; sorted.
func RooflineThreads(d *schema.Device) []int {
	all := map[int]bool{}
	for _, e := range d.Compute {
		if e.Operation == peakFMA {
			all[e.Threads] = true
		}
	}
	if len(all) == 0 {
		for _, b := range d.Bandwidth {
			all[b.Threads] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// RooflineDTypes are the element types whose peak was measured with a number of threads, widest
// first.
func RooflineDTypes(d *schema.Device, threads int) []schema.DType {
	var all []schema.DType
	for _, t := range schema.DTypes() {
		if rooflinePeak(d, t, threads) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// NewRoofline is the roofline of a device with a number of threads, in some dtypes. What the guards
// refute is left out.
func NewRoofline(d *schema.Device, threads int, dtypes []schema.DType) Roofline {
	r := Roofline{Threads: threads}
	for _, t := range schema.DTypes() {
		if peak := rooflinePeak(d, t, threads); peak > 0 && slices.Contains(dtypes, t) {
			r.Peaks = append(r.Peaks, RooflinePeak{t, peak})
		}
	}
	r.addSlopes(d)
	for i := range d.Compute {
		if e := &d.Compute[i]; strings.HasPrefix(e.Operation, matmul) {
			r.addOperation(GroupMatmul, e, dtypes)
		}
	}
	for i := range d.OperationProfiles {
		r.addOperation(GroupOperation, &d.OperationProfiles[i], dtypes)
	}
	for i := range d.FusionProfiles {
		r.addPair(&d.FusionProfiles[i], dtypes)
	}
	r.number()
	return r
}

// rooflinePeak is the best register peak in GFLOPS; 0 if there is none that can be true.
func rooflinePeak(d *schema.Device, t schema.DType, threads int) float64 {
	best := 0.0
	for _, e := range d.Compute {
		if e.Operation == peakFMA && e.DType == t && e.Threads == threads && e.GFLOPS != nil && !slices.Contains(e.Warnings, schema.Implausible) {
			best = max(best, e.GFLOPS.Best)
		}
	}
	return best
}

// addSlopes chooses as the ceilings of the traffic of an operation are chosen. The link to the host
// is no level that kernels work from.
func (r *Roofline) addSlopes(d *schema.Device) {
	for _, level := range []schema.Level{schema.L1, schema.L2, schema.L3, schema.L4, schema.DRAM, schema.HBM} {
		of := func(b *schema.Bandwidth) bool { return b.Level == level && b.Threads == r.Threads }
		if b := schema.Ceiling(d.Bandwidth, of); b != nil {
			r.Slopes = append(r.Slopes, RooflineSlope{level, b.GBps.Best, b.Pattern})
		} else if slices.ContainsFunc(d.Bandwidth, func(b schema.Bandwidth) bool { return b.Level == level }) {
			r.Unmeasured = append(r.Unmeasured, level)
		}
	}
}

func (r *Roofline) addOperation(group string, e *schema.Compute, dtypes []schema.DType) {
	switch {
	case e.Threads != r.Threads || !slices.Contains(dtypes, e.DType) || slices.Contains(e.Warnings, schema.Implausible):
	case e.FLOP == 0 || e.GFLOPS == nil:
		if !slices.Contains(r.WithoutFLOP, e.Operation) {
			r.WithoutFLOP = append(r.WithoutFLOP, e.Operation)
		}
	case e.Bytes > 0:
		r.Points = append(r.Points, RooflinePoint{
			Group: group, Name: e.Operation, DType: e.DType, Shape: e.InputShape, FLOP: e.FLOP,
			Intensity: float64(e.FLOP) / float64(e.Bytes), GFLOPS: e.GFLOPS.Best,
		})
	}
}

// addPair takes the pairs on warm caches, and of a GPU those launched one by one: the conditions
// of the ceilings.
func (r *Roofline) addPair(f *schema.Fusion, dtypes []schema.DType) {
	if f.Threads != r.Threads || !slices.Contains(dtypes, f.DType) || slices.Contains(f.Warnings, schema.Implausible) ||
		f.Cache == schema.Cold || f.Launch == schema.LaunchGraph {
		return
	}
	flop := float64(f.FLOP)
	r.Points = append(r.Points, RooflinePoint{
		Group: f.Group, Name: f.Pattern, DType: f.DType, Shape: f.InputShape, FLOP: f.FLOP,
		Intensity: flop / float64(f.FusedBytes), GFLOPS: f.FusedGFLOPS,
		UnfusedIntensity: flop / float64(f.UnfusedBytes), UnfusedGFLOPS: f.UnfusedGFLOPS,
	})
}

// Groups of the points, in their order.
func (r *Roofline) Groups() []string {
	var all []string
	for _, p := range r.Points {
		if !slices.Contains(all, p.Group) {
			all = append(all, p.Group)
		}
	}
	return all
}

// number sorts the points by group and numbers the largest shape of each operation and dtype, of equals the
// fastest.
func (r *Roofline) number() {
	groups := r.Groups()
	slices.SortStableFunc(r.Points, func(a, b RooflinePoint) int {
		return cmp.Compare(slices.Index(groups, a.Group), slices.Index(groups, b.Group))
	})
	type curve struct {
		group, name string
		dtype       schema.DType
	}
	largest := map[curve]int{}
	of := func(p RooflinePoint) curve { return curve{p.Group, p.Name, p.DType} }
	for i, p := range r.Points {
		j, seen := largest[of(p)]
		if !seen || p.FLOP > r.Points[j].FLOP || p.FLOP == r.Points[j].FLOP && p.GFLOPS > r.Points[j].GFLOPS {
			largest[of(p)] = i
		}
	}
	n := 0
	for i := range r.Points {
		if p := &r.Points[i]; largest[of(*p)] == i {
			n++
			p.Number = n
		}
	}
}
