package profiles

import (
	"fmt"
	"slices"
	"strings"

	"hwcal/schema"
)

// checkCrossoverOrder: the points are of growing size and differ in the dimensions
// that they say, and in no other.
func checkCrossoverOrder(c *checker) {
	for path, x := range c.crossovers() {
		first := x.Points[0]
		names, _, _ := dimensions(first.Shape)
		differ := make([]bool, len(names))
		for i, p := range x.Points {
			at := fmt.Sprintf("%s/points/%d", path, i)
			if got, _, _ := dimensions(p.Shape); !slices.Equal(got, names) || len(p.InputShape) != len(names) {
				c.fail(at+"/input_shape", "shape and input_shape are not of the dimensions of the first point",
					fmt.Sprintf("%s, %d numbers", quote(p.Shape), len(p.InputShape)), "numbers for "+quote(strings.Join(names, " ")))
				differ = nil
				break
			}
			if i > 0 && p.UnfusedBytes <= x.Points[i-1].UnfusedBytes {
				c.fail(at+"/unfused_bytes", "points are not sorted by size", fmt.Sprint(p.UnfusedBytes),
					fmt.Sprintf("more than %d", x.Points[i-1].UnfusedBytes))
			}
			if i > 0 && slices.Equal(p.InputShape, x.Points[i-1].InputShape) {
				c.fail(at+"/input_shape", "the shape of the point before", quote(p.Shape), "another")
			}
			for j := range names {
				differ[j] = differ[j] || p.InputShape[j] != first.InputShape[j]
			}
		}
		var want []string
		for j, differs := range differ {
			if differs {
				want = append(want, names[j])
			}
		}
		if differ != nil && !slices.Equal(slices.Sorted(slices.Values(x.Along)), slices.Sorted(slices.Values(want))) {
			c.fail(path+"/along", "along is not the dimensions that differ", quote(strings.Join(x.Along, " ")), quote(strings.Join(want, " ")))
		}
	}
}

// checkCrossoverVerdict: the verdict of a point follows from its interval, as that of
// a pair does, and the speedup lies within, and is that of the latencies, where there are any.
func checkCrossoverVerdict(c *checker) {
	for device, d := range c.eachDevice() {
		for j := range d.FusionCrossovers {
			for i, p := range d.FusionCrossovers[j].Points {
				at := fmt.Sprintf("%s/fusion_crossovers/%d/points/%d", device, j, i)
				c.verdict(at, d.Untrusted(), p.Warnings, p.Verdict, p.Blocks, p.SpeedupCILow, p.SpeedupCIHigh)
				c.within(at, p.Speedup, p.SpeedupCILow, p.SpeedupCIHigh)
				if p.UnfusedLatencyMS > 0 || p.FusedLatencyMS > 0 {
					c.ratio(at, p.Speedup, p.UnfusedLatencyMS, p.FusedLatencyMS)
				}
			}
		}
	}
}

// checkCrossoverFlips: the flips are those of the points.
func checkCrossoverFlips(c *checker) {
	for path, x := range c.crossovers() {
		want := schema.Flips(x.Points)
		if !slices.Equal(x.Flips, want) {
			c.fail(path+"/flips", "flips are not those of the points", flips(x.Flips), flips(want))
		}
	}
}

func flips(all []schema.CrossoverFlip) string {
	if len(all) == 0 {
		return "none"
	}
	words := make([]string, len(all))
	for i, f := range all {
		words[i] = fmt.Sprintf("%s at %d to %s at %d", f.From, f.Below, f.To, f.Above)
	}
	return strings.Join(words, ", ")
}
