package profiles

import (
	"fmt"
	"math"
	"slices"

	"hwcal/schema"
)

// checkLatencyTables: a table holds what operation_profiles measured, and its line is that of its
// points.
func checkLatencyTables(c *checker) {
	for at, d := range c.eachDevice() {
		for i, t := range d.LatencyTables {
			path := fmt.Sprintf("%s/latency_tables/%d", at, i)
			for j, p := range t.Points {
				point := fmt.Sprintf("%s/points/%d", path, j)
				if j > 0 && p.Bytes < t.Points[j-1].Bytes {
					c.fail(point+"/bytes", "points are not sorted", fmt.Sprint(p.Bytes), fmt.Sprintf("at least %d", t.Points[j-1].Bytes))
				}
				if !slices.ContainsFunc(d.OperationProfiles, func(e schema.Compute) bool {
					return e.Operation == t.Operation && e.DType == t.DType && e.Threads == t.Threads && e.Bytes == p.Bytes &&
						slices.Equal(e.InputShape, p.InputShape) && near(e.LatencyMS.Median, p.LatencyMS)
				}) {
					c.fail(point, "no such entry of operation_profiles", number(p.LatencyMS), fmt.Sprintf("the median of %s %s %v", t.Operation, t.DType, p.InputShape))
				}
			}
			if t.Points[0].Bytes == t.Points[len(t.Points)-1].Bytes {
				c.fail(path+"/points", "a line through a single size", fmt.Sprint(t.Points[0].Bytes), "several sizes")
				continue
			}
			line := t
			schema.FitLatency(&line)
			for _, f := range []struct {
				name      string
				got, want float64
			}{
				{"overhead_microseconds", t.OverheadUS, line.OverheadUS}, {"incremental_gbps", t.IncrementGBps, line.IncrementGBps},
				{"largest_deviation", t.Deviation, line.Deviation},
			} {
				// The fit cancels digits that a profile need not have.
				if math.Abs(f.got-f.want) > 1e-3*math.Abs(f.want)+1e-6 {
					c.differ(path+"/"+f.name, f.got, f.want, f.name+" follows from the points")
				}
			}
		}
	}
}
