package profiles

import (
	"fmt"
	"strconv"
	"strings"

	"hwcal/schema"
)

// Groups of figures.
const (
	GroupPeak      = "peak"
	GroupMatmul    = "matmul"
	GroupOperation = "operation"
	GroupBandwidth = "bandwidth"
	GroupLatency   = "latency"
	GroupFusion    = "fusion"
)

// figureKey names a figure: two profiles have the same one if all of it agrees.
type figureKey struct{ group, device, what string }

// figure is what is compared of an entry.
type figure struct {
	path            string
	unit            string
	best, low, high float64 // low and high bound the median at 95%
	n               int     // samples, or blocks of a pair
	lowerIsBetter   bool
	noisy           bool // a warning says not to rely on it
	variant
	fusion schema.Verdict // of a speedup
}

// variant tells figures of one key apart.
type variant struct {
	workingSet int64  // of a level, in bytes; else 0
	kernel     string // of an operation
}

// figureIndex holds the figures of a profile; a key has several where a level was
// measured on several working sets, or a peak with several units.
type figureIndex struct {
	order []figureKey
	of    map[figureKey][]figure
}

func indexFigures(p *schema.Profile) figureIndex {
	ix := figureIndex{of: map[figureKey][]figure{}}
	c := &checker{Profile: p, warnings: indexWarnings(p)}
	add := func(k figureKey, f figure, own []schema.Code) {
		f.noisy = c.noisy(f.path, own) || c.warned(f.path, own, schema.Implausible, schema.Cached)
		if ix.of[k] == nil {
			ix.order = append(ix.order, k)
		}
		ix.of[k] = append(ix.of[k], f)
	}
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			f := computeFigure(path, e)
			f.kernel = e.Implementation
			add(figureKey{computeGroup(e), d.ID, computeWhat(e)}, f, e.Warnings)
		}
		for i, e := range d.Bandwidth {
			f := statFigure(fmt.Sprintf("%s/bandwidth/%d", at, i), "GB/s", e.GBps)
			f.workingSet = e.WorkingSetBytes
			add(figureKey{GroupBandwidth, d.ID, fmt.Sprintf("%s %s, %s", e.Level, e.Pattern, onThreads(e.Threads))}, f, e.Warnings)
		}
		for i, e := range d.Latency {
			f := statFigure(fmt.Sprintf("%s/latency/%d", at, i), "ns", e.Nanoseconds)
			f.workingSet, f.lowerIsBetter = e.WorkingSetBytes, true
			add(figureKey{GroupLatency, d.ID, fmt.Sprintf("%s latency%s", e.Level, onPages(e.PageBytes))}, f, e.Warnings)
		}
		for i, e := range d.NUMA {
			path := fmt.Sprintf("%s/numa/%d", at, i)
			what := fmt.Sprintf("from node %d to memory of node %d", e.Node, e.MemoryNode)
			add(figureKey{GroupBandwidth, d.ID, "read " + what + ", " + onThreads(e.Threads)}, statFigure(path, "GB/s", e.GBps), e.Warnings)
			f := statFigure(path, "ns", e.Nanoseconds)
			f.lowerIsBetter = true
			add(figureKey{GroupLatency, d.ID, "latency " + what}, f, e.Warnings)
		}
		for i, e := range d.Launch {
			f := statFigure(fmt.Sprintf("%s/launch/%d", at, i), "us", e.Microseconds)
			f.lowerIsBetter = true
			add(figureKey{GroupLatency, d.ID, "launch" + launched(e.Mode)}, f, e.Warnings)
		}
		for i, e := range d.FusionProfiles {
			what := fmt.Sprintf("%s %s%s, %s, %s%s", e.Pattern, e.DType, shapeWhat(e.InputShape, e.Shape), onThreads(e.Threads), e.Cache, launched(e.Launch))
			speedup, unfused, fused := pairFigures(fmt.Sprintf("%s/fusion_profiles/%d", at, i), &e)
			add(figureKey{GroupFusion, d.ID, what}, speedup, e.Warnings)
			add(figureKey{GroupFusion, d.ID, what + ", unfused"}, unfused, e.Warnings)
			add(figureKey{GroupFusion, d.ID, what + ", fused"}, fused, e.Warnings)
		}
	}
	return ix
}

func statFigure(path, unit string, s schema.Stat) figure {
	return figure{path: path, unit: unit, best: s.Best, low: s.CILow, high: s.CIHigh, n: s.N}
}

// pairFigures are the speedup and both times of a pair. The times have no interval of their
// own; each gets that of the speedup, relative to it, as if it alone had caused all of it.
// What moves both sides alike is not in that: the warnings of the pair have to tell.
func pairFigures(path string, e *schema.Fusion) (speedup, unfused, fused figure) {
	below, above := e.SpeedupCILow/e.Speedup, e.SpeedupCIHigh/e.Speedup
	u, f := e.UnfusedLatencyMS, e.FusedLatencyMS
	speedup = figure{path: path, unit: "x", best: e.Speedup, low: e.SpeedupCILow, high: e.SpeedupCIHigh, n: e.Blocks, fusion: e.Verdict}
	unfused = figure{path: path, unit: "ms", best: u, low: u * below, high: u * above, n: e.Blocks, lowerIsBetter: true}
	fused = figure{path: path, unit: "ms", best: f, low: f / above, high: f / below, n: e.Blocks, lowerIsBetter: true}
	return speedup, unfused, fused
}

// computeFigure is the rate, or the time of an operation without FLOP.
func computeFigure(path string, e *schema.Compute) figure {
	if e.GFLOPS != nil {
		return statFigure(path, e.DType.RateUnit(), *e.GFLOPS)
	}
	f := statFigure(path, "ms", e.LatencyMS)
	f.lowerIsBetter = true
	return f
}

func computeGroup(e *schema.Compute) string {
	switch {
	case e.Operation == peakFMA:
		return GroupPeak
	case matmulDims[e.Operation] > 0:
		return GroupMatmul
	}
	return GroupOperation
}

// computeWhat leaves the kernel out: that another version or instruction set has
// another one is what a comparison shows. A right-hand side packed before is an
// operation of its own.
func computeWhat(e *schema.Compute) string {
	s := fmt.Sprintf("%s %s%s, %s", e.Operation, e.DType, shapeWhat(e.InputShape, e.Shape), onThreads(e.Threads))
	if e.CoreClass != "" {
		s += " of class " + e.CoreClass
	}
	if e.GFLOPS == nil {
		s += ", time" // which no rate is compared with
	}
	return s
}

// shapeWhat prefers the numbers of a shape to its words, which another version
// may choose otherwise.
func shapeWhat(numbers []int64, words string) string {
	if len(numbers) > 0 {
		parts := make([]string, len(numbers))
		for i, n := range numbers {
			parts[i] = strconv.FormatInt(n, 10)
		}
		words = strings.Join(parts, "x")
	}
	if words == "" {
		return ""
	}
	return " " + words
}

// launched says how something on a GPU was launched; it is measured in each way.
func launched(m schema.LaunchMode) string {
	if m == "" {
		return ""
	}
	return ", by " + string(m)
}

func onThreads(n int) string {
	switch n {
	case 0:
		return "whole device"
	case 1:
		return "1 thread"
	}
	return strconv.Itoa(n) + " threads"
}

// onPages says nothing of pages of a mix, or of a size that nothing tells, as on a GPU.
func onPages(bytes int64) string {
	switch {
	case bytes == 0:
		return ""
	case bytes%(1<<20) == 0:
		return fmt.Sprintf(", %d MiB pages", bytes>>20)
	case bytes%(1<<10) == 0:
		return fmt.Sprintf(", %d KiB pages", bytes>>10)
	}
	return fmt.Sprintf(", pages of %d bytes", bytes)
}
