package profiles

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hwcal/schema"
)

// checkLatencyTables: a table holds what operation_profiles measured of shapes with like FLOP for a byte, and its line is
// that of its points.
func checkLatencyTables(c *checker) {
	for at, d := range c.eachDevice() {
		medians := map[string]float64{}
		key := func(operation string, t schema.DType, threads int, bytes int64, shape []int64) string {
			return fmt.Sprintf("%q %s %d %d %v", operation, t, threads, bytes, shape)
		}
		for _, e := range d.OperationProfiles {
			medians[key(e.Operation, e.DType, e.Threads, e.Bytes, e.InputShape)] = e.LatencyMS.Median
		}
		for i, t := range d.LatencyTables {
			path := fmt.Sprintf("%s/latency_tables/%d", at, i)
			for j, p := range t.Points {
				point := fmt.Sprintf("%s/points/%d", path, j)
				if j > 0 && p.Bytes < t.Points[j-1].Bytes {
					c.fail(point+"/bytes", "points are not sorted", fmt.Sprint(p.Bytes), fmt.Sprintf("at least %d", t.Points[j-1].Bytes))
				}
				if median, have := medians[key(t.Operation, t.DType, t.Threads, p.Bytes, p.InputShape)]; !have || !near(median, p.LatencyMS) {
					c.fail(point, "no such entry of operation_profiles", number(p.LatencyMS), fmt.Sprintf("the median of %s %s %v", t.Operation, t.DType, p.InputShape))
				}
			}
			if !schema.LikeIntensities(d.OperationProfiles, t.Operation, t.DType) {
				c.fail(path+"/operation", "a table of shapes whose FLOP for a byte differ more than twofold: bytes do not tell their times",
					quote(t.Operation), "no table")
			}
			if n := t.Sizes(); n < schema.LeastSizes {
				c.fail(path+"/points", "a line through too few sizes", fmt.Sprint(n), fmt.Sprintf("at least %d", schema.LeastSizes))
				continue
			}
			line := t
			schema.FitLatency(&line)
			shortest := slices.MinFunc(t.Points, func(a, b schema.LatencyPoint) int { return cmp.Compare(a.LatencyMS, b.LatencyMS) }).LatencyMS
			for _, f := range []struct {
				name      string
				got, want float64
				cancelled float64 // what the fit may lose of the digits that times are rounded to
			}{
				{"overhead_microseconds", t.OverheadUS, line.OverheadUS, rounding * 1e3 * shortest},
				{"incremental_gbps", t.IncrementGBps, line.IncrementGBps, 0},
				{"largest_deviation", t.Deviation, line.Deviation, rounding},
			} {
				if math.Abs(f.got-f.want) > rounding*math.Abs(f.want)+f.cancelled {
					c.differ(path+"/"+f.name, f.got, f.want, f.name+" follows from the points")
				}
			}
		}
	}
}
