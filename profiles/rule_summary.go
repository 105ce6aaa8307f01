package profiles

import (
	"fmt"
	"slices"
	"strings"

	"hwcal/schema"
)

func checkSummaryPeak(c *checker) {
	for at, d := range c.eachDevice() {
		c.summaryOf(at, d, "peak_gflops", peakFMA, d.Summary.PeakGFLOPS)
	}
}

func checkSummaryMatmul(c *checker) {
	for at, d := range c.eachDevice() {
		c.summaryOf(at, d, "matmul_gflops", matmul, d.Summary.MatmulGFLOPS)
	}
}

// summaryOf: a figure of the summary is the best of its entries over all
// threads. Implausible entries are never quoted.
func (c *checker) summaryOf(at string, d *schema.Device, field, operation string, got map[schema.DType]float64) {
	for _, t := range schema.DTypes() {
		want, from := 0.0, ""
		for i, e := range d.Compute {
			path := fmt.Sprintf("%s/compute/%d", at, i)
			if e.Operation == operation && e.DType == t && e.Threads == d.AllThreads() && e.GFLOPS != nil &&
				e.GFLOPS.Best > want && !c.warned(path, e.Warnings, schema.Implausible) {
				want, from = e.GFLOPS.Best, path
			}
		}
		c.quoted(at+"/summary/"+field+"/"+string(t), got[t], want,
			fmt.Sprintf("best %s of %s over all threads", operation, t), from)
	}
}

// quoted compares a figure of the summary with the entry that it stands for; 0
// stands for none.
func (c *checker) quoted(path string, got, want float64, what, from string) {
	switch {
	case got == 0 && want != 0:
		c.fail(path, "summary lacks the "+what, "", number(want)+" of "+from)
	case got != 0 && want == 0:
		c.fail(path, "summary quotes a "+what+" that no entry has", number(got), "none")
	case !near(got, want):
		c.fail(path, "summary is not the "+what, number(got), number(want)+" of "+from)
	}
}

// checkSummaryBandwidth: the best kernel on main memory over all threads, and
// its name.
func checkSummaryBandwidth(c *checker) {
	for at, d := range c.eachDevice() {
		rates, threads := c.bandwidth(at, d), d.AllThreads()
		want := ceilingOf(slices.Concat(rates[place{schema.DRAM, threads}], rates[place{schema.HBM, threads}]), func(*schema.Bandwidth) bool { return true })
		from := slices.IndexFunc(d.Bandwidth, func(b schema.Bandwidth) bool {
			return (b.Level == schema.DRAM || b.Level == schema.HBM) && b.Threads == threads && b.GBps.Best == want.gbps
		})
		c.quoted(at+"/summary/bandwidth_gbps", d.Summary.BandwidthGBps, want.gbps, "best bandwidth of DRAM or HBM over all threads", fmt.Sprintf("%s/bandwidth/%d", at, from))
		switch path := at + "/summary/bandwidth_pattern"; {
		case d.Summary.BandwidthGBps == 0:
			if d.Summary.BandwidthOf != "" {
				c.fail(path, "names the kernel of a bandwidth that is not there", quote(d.Summary.BandwidthOf), "none")
			}
		case near(d.Summary.BandwidthGBps, want.gbps) && !want.kernels[d.Summary.BandwidthOf]:
			c.fail(path, "does not name the kernel that bandwidth_gbps quotes", quote(d.Summary.BandwidthOf), quote(want.of))
		}
	}
}

// checkRidge: ridge point = peak / bandwidth, for every dtype that has both.
func checkRidge(c *checker) {
	for at, d := range c.eachDevice() {
		s := d.Summary
		for _, t := range schema.DTypes() {
			path := at + "/summary/ridge_point_flops_per_byte/" + string(t)
			got, has := s.RidgePoint[t]
			peak := s.PeakGFLOPS[t]
			if peak == 0 || s.BandwidthGBps == 0 {
				if has {
					c.fail(path, "ridge point without its peak or its bandwidth", number(got), "none")
				}
				continue
			}
			switch want := peak / s.BandwidthGBps; {
			case !has:
				c.fail(path, "ridge point is missing", "", number(want))
			case !near(got, want):
				c.differ(path, got, want, "ridge_point_flops_per_byte = peak_gflops / bandwidth_gbps")
			}
		}
	}
}

// checkUnavailable: a figure that the summary or the theoretical peaks lack has
// its reason, in an entry of unavailable whose "what" is the name of the figure
// or begins with it ("summary.bandwidth_gbps", "theoretical.peak_gflops.fp64").
// The figures of the summary need no "summary." in front, and lack together where nothing was measured. A figure that is there has no such
// entry.
func checkUnavailable(c *checker) {
	for at, d := range c.eachDevice() {
		figures := []struct {
			of, name string
			has      bool
		}{
			{"summary", "peak_gflops", len(d.Summary.PeakGFLOPS) > 0},
			{"summary", "matmul_gflops", len(d.Summary.MatmulGFLOPS) > 0},
			{"summary", "bandwidth_gbps", d.Summary.BandwidthGBps > 0},
			{"theoretical", "peak_gflops", len(d.Theoretical.PeakGFLOPS) > 0},
			{"theoretical", "bandwidth_gbps", d.Theoretical.BandwidthGBps != nil},
		}
		present := map[string]bool{}
		for _, figure := range figures {
			full := figure.of + "." + figure.name
			told := figure.has
			for _, u := range d.Unavailable {
				told = told || strings.HasPrefix(u.What, full) || figure.of == "summary" && (strings.HasPrefix(u.What, figure.name) || u.What == schema.Measurements)
			}
			if !told {
				c.fail(at+"/"+figure.of+"/"+figure.name, "figure is absent without a reason", "",
					fmt.Sprintf("an entry of %s/unavailable with what = %q", at, full))
			}
			present[full] = figure.has
		}
		for _, t := range schema.DTypes() {
			present["summary.peak_gflops."+string(t)] = d.Summary.PeakGFLOPS[t] > 0
			present["summary.matmul_gflops."+string(t)] = d.Summary.MatmulGFLOPS[t] > 0
			_, present["theoretical.peak_gflops."+string(t)] = d.Theoretical.PeakGFLOPS[t]
		}
		for i, u := range d.Unavailable {
			if present[u.What] {
				c.fail(fmt.Sprintf("%s/unavailable/%d/what", at, i), "said to be unavailable, but it is there", quote(u.What), "one of the two")
			}
		}
	}
}
