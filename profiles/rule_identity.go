package profiles

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hwcal/schema"
)

// checkUnique: no two devices with one id, and no two entries for one case, whatever its words or
// its kernel: a reader could not tell which of them to believe.
func checkUnique(c *checker) {
	type seen map[string]string
	once := func(s seen, path, field, key string) {
		if first, ok := s[key]; ok {
			c.fail(path, "second entry for the same "+field, key, "one entry; the first is "+first)
			return
		}
		s[key] = path
	}
	ids := seen{}
	for at, d := range c.eachDevice() {
		once(ids, at+"/id", "device", d.ID)
		cases := seen{}
		for path, e := range computes(at, d) {
			what := quote(e.Operation)
			if e.Operation == peakFMA { // of which each unit has one
				what += " " + quote(e.Implementation)
			}
			once(cases, path, "operation", fmt.Sprintf("%s %s %v", what, coordinates(e.DType, e.Threads, e.CoreClass), e.InputShape))
		}
		for i, e := range d.Bandwidth {
			once(cases, fmt.Sprintf("%s/bandwidth/%d", at, i), "kernel", fmt.Sprintf("%s %s %s on %d threads, %d bytes",
				e.Level, quote(e.Pattern), quote(e.Implementation), e.Threads, e.WorkingSetBytes))
		}
		for i, e := range d.Latency {
			once(cases, fmt.Sprintf("%s/latency/%d", at, i), "level", fmt.Sprintf("%s, %d bytes on pages of %d",
				e.Level, e.WorkingSetBytes, e.PageBytes))
		}
		for i, e := range d.NUMA {
			once(cases, fmt.Sprintf("%s/numa/%d", at, i), "path", fmt.Sprintf("from node %d to memory of node %d", e.Node, e.MemoryNode))
		}
		for i, e := range d.Launch {
			once(cases, fmt.Sprintf("%s/launch/%d", at, i), "launch mode", string(e.Mode))
		}
		for i, e := range d.Power.Meters {
			once(cases, fmt.Sprintf("%s/power/meters/%d", at, i), "meter", quote(e.Source))
		}
		for i, e := range d.LatencyTables {
			once(cases, fmt.Sprintf("%s/latency_tables/%d", at, i), "table", fmt.Sprintf("latency of %s %s", quote(e.Operation), coordinates(e.DType, e.Threads, "")))
		}
		for i, e := range d.FusionProfiles {
			once(cases, fmt.Sprintf("%s/fusion_profiles/%d", at, i), "pair", fmt.Sprintf("%s %s, %s%s, %v", quote(e.Pattern),
				coordinates(e.DType, e.Threads, ""), e.Cache, launched(e.Launch), e.InputShape))
		}
		if d.Quality != nil {
			for i, e := range d.Quality.Controls {
				once(cases, fmt.Sprintf("%s/quality/controls/%d", at, i), "control", fmt.Sprintf("%s %s %s, %v", e.Kind, quote(e.Pattern),
					coordinates(e.DType, e.Threads, ""), e.InputShape))
			}
		}
		for i, e := range d.FusionCrossovers {
			once(cases, fmt.Sprintf("%s/fusion_crossovers/%d", at, i), "crossover", quote(e.Pattern)+" "+coordinates(e.DType, e.Threads, ""))
		}
	}
}

// checkFingerprint: the fingerprint is that of the devices in the profile, so
// that figures are not carried over to other hardware unnoticed.
func checkFingerprint(c *checker) {
	if want := schema.Fingerprint(c.Devices); c.Metadata.Fingerprint != want {
		c.fail("/metadata/fingerprint", "fingerprint is not that of the devices", c.Metadata.Fingerprint, want)
	}
}

// FirstDate is before any profile.
var FirstDate = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// checkDate: a date before the tool existed, or in the future, comes from a
// clock that was not set; a day is left for time zones.
func checkDate(c *checker) {
	const (
		path    = "/metadata/calibration_date"
		longest = 7 * 24 * time.Hour
	)
	date := c.Metadata.CalibrationDate
	if date.Before(FirstDate) {
		c.fail(path, "date before 2020", date.Format(time.RFC3339), "not before "+FirstDate.Format(time.RFC3339))
	}
	if last := c.now.Add(24 * time.Hour); date.After(last) {
		c.fail(path, "date more than a day in the future", date.Format(time.RFC3339),
			"not after "+last.UTC().Format(time.RFC3339))
	}
	if s := c.Metadata.DurationSeconds; s > longest.Seconds() {
		c.fail("/metadata/duration_seconds", "longer than a week", number(s), "seconds")
	}
}

// checkUnits catches a figure in the wrong unit by what no device can do. The
// bounds are a hundred times what the largest device of 2026 does.
func checkUnits(c *checker) {
	const (
		mostGFLOPS = 1e9   // 1e18 FLOP per second; an FP8 tensor core device has 4.5e6
		mostGBps   = 1e6   // 1e15 bytes per second; HBM has 8e3, the L1 of a large server 5e4
		leastMHz   = 10    // below it the figure is in GHz
		mostMHz    = 20000 // above it the figure is in kHz
	)
	atMost := func(path string, got, most float64, unit string) {
		if got > most {
			c.fail(path, "figure is not in "+unit, number(got), fmt.Sprintf("at most %s %s", number(most), unit))
		}
	}
	clock := func(path string, mhz float64) {
		if mhz != 0 && (mhz < leastMHz || mhz > mostMHz) {
			c.fail(path, "clock is not in MHz", number(mhz), fmt.Sprintf("%d to %d MHz", leastMHz, mostMHz))
		}
	}
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			if e.GFLOPS != nil {
				atMost(path+"/gflops/max", e.GFLOPS.Max, mostGFLOPS, "GFLOPS")
			}
			clock(path+"/effective_clock_mhz", e.EffectiveClockMHz)
		}
		for i, e := range d.Bandwidth {
			path := fmt.Sprintf("%s/bandwidth/%d", at, i)
			atMost(path+"/gbps/max", e.GBps.Max, mostGBps, "GB/s")
			clock(path+"/effective_clock_mhz", e.EffectiveClockMHz)
		}
		for i, e := range d.Latency {
			atMost(fmt.Sprintf("%s/latency/%d/nanoseconds/max", at, i), e.Nanoseconds.Max, 1e9, "nanoseconds")
		}
		for i, e := range d.NUMA {
			atMost(fmt.Sprintf("%s/numa/%d/gbps/max", at, i), e.GBps.Max, mostGBps, "GB/s")
			atMost(fmt.Sprintf("%s/numa/%d/nanoseconds/max", at, i), e.Nanoseconds.Max, 1e9, "nanoseconds")
		}
		for i, e := range d.FusionProfiles {
			clock(fmt.Sprintf("%s/fusion_profiles/%d/effective_clock_mhz", at, i), e.EffectiveClockMHz)
		}
		if d.CPU != nil {
			clock(at+"/cpu/base_mhz", d.CPU.BaseMHz)
			clock(at+"/cpu/max_mhz", d.CPU.MaxMHz)
		}
	}
}

// checkWarningPath: a warning points at something.
func checkWarningPath(c *checker) {
	for i, w := range c.Warnings {
		if _, ok := c.doc.find(w.Path); !ok {
			c.fail(fmt.Sprintf("/warnings/%d/path", i), "warning points at nothing in the profile", quote(w.Path), "a JSON Pointer that resolves")
		}
	}
}

// checkWarningEntries: the codes of an entry are those of the warnings that point at it or into it, so that readers
// of either see the same.
func checkWarningEntries(c *checker) {
	told := map[string][]schema.Code{}
	for _, w := range c.Warnings {
		for path, depth := w.Path, 0; path != "" && depth < deepest; depth++ {
			told[path] = append(told[path], w.Code)
			path = path[:max(0, strings.LastIndexByte(path, '/'))]
		}
	}
	each := func(list string, n int, own func(int) []schema.Code) {
		for i := range n {
			path := fmt.Sprintf("%s/%d", list, i)
			for _, code := range own(i) {
				if !slices.Contains(told[path], code) {
					c.fail(path+"/warnings", "no warning says why", string(code), "a warning that points at "+path)
				}
			}
			for _, code := range told[path] {
				if code != schema.ControlsFailed && !slices.Contains(own(i), code) {
					c.fail(path+"/warnings", "lacks the code of a warning that points here", "", string(code))
				}
			}
		}
	}
	for at, d := range c.eachDevice() {
		each(at+"/compute", len(d.Compute), func(i int) []schema.Code { return d.Compute[i].Warnings })
		each(at+"/bandwidth", len(d.Bandwidth), func(i int) []schema.Code { return d.Bandwidth[i].Warnings })
		each(at+"/latency", len(d.Latency), func(i int) []schema.Code { return d.Latency[i].Warnings })
		each(at+"/numa", len(d.NUMA), func(i int) []schema.Code { return d.NUMA[i].Warnings })
		each(at+"/launch", len(d.Launch), func(i int) []schema.Code { return d.Launch[i].Warnings })
		each(at+"/operation_profiles", len(d.OperationProfiles), func(i int) []schema.Code { return d.OperationProfiles[i].Warnings })
		each(at+"/fusion_profiles", len(d.FusionProfiles), func(i int) []schema.Code { return d.FusionProfiles[i].Warnings })
		for j, x := range d.FusionCrossovers {
			each(fmt.Sprintf("%s/fusion_crossovers/%d/points", at, j), len(x.Points), func(i int) []schema.Code { return x.Points[i].Warnings })
		}
		if d.Quality != nil {
			each(at+"/quality/controls", len(d.Quality.Controls), func(i int) []schema.Code { return d.Quality.Controls[i].Warnings })
		}
	}
}
