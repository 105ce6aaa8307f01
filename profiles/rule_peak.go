package profiles

import (
	"fmt"
	"slices"

	"hwcal/schema"
)

// peakFMA is the operation that measures the register or tensor-core peak, and
// matmul the one that the summary quotes as such.
const (
	peakFMA = "peak_fma"
	matmul  = "matmul"
)

// excess is how far a figure may pass its bound: clocks move that much between
// the measurement of the bound and that of the figure.
const excess = 1.05

// peakIndex holds the best peak_fma of each device, dtype, number of threads
// and class of cores.
type peakIndex map[peakKey]float64

type peakKey struct {
	device  *schema.Device
	dtype   schema.DType
	threads int
	class   string
}

func indexPeaks(p *schema.Profile) peakIndex {
	ix := peakIndex{}
	for i := range p.Devices {
		d := &p.Devices[i]
		for _, e := range d.Compute {
			if e.Operation == peakFMA && e.GFLOPS != nil && !slices.Contains(e.Warnings, schema.Implausible) {
				k := peakKey{d, e.DType, e.Threads, e.CoreClass}
				ix[k] = max(ix[k], e.GFLOPS.Best)
			}
		}
	}
	return ix
}

// checkEfficiency: efficiency = best gflops / register peak, wherever there are both, and above 1 it is
// flagged, never clamped: clamping hides the fault. The register peaks themselves need none.
func checkEfficiency(c *checker) {
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			peak, want := c.peaks[peakKey{d, e.DType, e.Threads, e.CoreClass}], 0.0
			if e.GFLOPS != nil && peak > 0 {
				want = e.WithoutPadding(e.GFLOPS.Best) / peak
			}
			switch {
			case e.Efficiency == 0:
				if want > 0 && e.Operation != peakFMA {
					c.fail(path, "efficiency is missing beside a register peak", "", "efficiency of "+number(want))
				}
				continue
			case e.GFLOPS == nil:
				c.fail(path+"/efficiency", "efficiency of an operation without gflops", number(e.Efficiency), "none")
				continue
			case peak == 0:
				c.fail(path+"/efficiency", "efficiency without a register peak", number(e.Efficiency),
					fmt.Sprintf("a %s entry for %s", peakFMA, coordinates(e.DType, e.Threads, e.CoreClass)))
				continue
			case !near(e.Efficiency, want):
				c.differ(path+"/efficiency", e.Efficiency, want, "efficiency = gflops.best / register peak of "+number(peak))
			}
			if e.Efficiency > 1+rounding && !c.warned(path, e.Warnings, schema.AbovePeak, schema.Implausible) {
				c.fail(path+"/efficiency", "efficiency above 1 without the warning "+string(schema.AbovePeak),
					number(e.Efficiency), "at most 1, or the warning")
			}
		}
	}
}

// checkImplausible: a rate above 1.05 x the register peak of the same dtype,
// threads and class stands only with the warning. FLOP on padding do not count.
func checkImplausible(c *checker) {
	bound := func(path, field string, got, peak float64, own []schema.Code) {
		if peak > 0 && got > excess*peak && !c.warned(path, own, schema.Implausible) {
			c.fail(path+"/"+field, "above 1.05 x the register peak without the warning "+string(schema.Implausible),
				number(got), fmt.Sprintf("at most 1.05 x %s = %s GFLOPS", number(peak), number(excess*peak)))
		}
	}
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			if e.GFLOPS != nil {
				bound(path, "gflops/best", e.WithoutPadding(e.GFLOPS.Best), c.peaks[peakKey{d, e.DType, e.Threads, e.CoreClass}], e.Warnings)
			}
		}
		for i, f := range d.FusionProfiles {
			path := fmt.Sprintf("%s/fusion_profiles/%d", at, i)
			peak := c.peaks[peakKey{d, f.DType, f.Threads, ""}]
			bound(path, "unfused_gflops", f.WithoutPadding(f.UnfusedGFLOPS), peak, f.Warnings)
			bound(path, "fused_gflops", f.WithoutPadding(f.FusedGFLOPS), peak, f.Warnings)
		}
	}
}

// checkTheoretical: what was measured above 1.05 x the computed peak says so
// in a warning, because then the description of the machine is wrong (a
// virtual machine that claims its base clock) or the measurement is.
func checkTheoretical(c *checker) {
	for at, d := range c.eachDevice() {
		bound := func(field string, got, peak float64) {
			if got > excess*peak && !c.warned(at+"/theoretical/"+field, nil, schema.PeakBelowMeasured) {
				c.fail(at+"/summary/"+field, fmt.Sprintf("above 1.05 x the theoretical peak without the warning %s", schema.PeakBelowMeasured),
					number(got), fmt.Sprintf("at most 1.05 x %s = %s", number(peak), number(excess*peak)))
			}
		}
		for _, t := range schema.DTypes() {
			if p, ok := d.Theoretical.PeakGFLOPS[t]; ok {
				bound("peak_gflops/"+string(t), d.Summary.PeakGFLOPS[t], p.Value)
			}
		}
		if p := d.Theoretical.BandwidthGBps; p != nil {
			bound("bandwidth_gbps", d.Summary.BandwidthGBps, p.Value)
		}
	}
}

func coordinates(t schema.DType, threads int, class string) string {
	s := fmt.Sprintf("%s on %d threads", t, threads)
	if class != "" {
		s += " of class " + quote(class)
	}
	return s
}
