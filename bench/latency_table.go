package bench

import (
	"cmp"
	"slices"

	"hwcal/schema"
)

// mostIntensities is the largest ratio of the FLOP per byte of two shapes of an operation of which the bytes tell the time.
const mostIntensities = 2

// latencyTables are the times of each operation, type and number of threads over the bytes
// that it moves, less those that cannot be true. Operations of which some shapes do far more for a byte than others, as
// convolutions and products, have none.
func latencyTables(profiles []schema.Compute) []schema.LatencyTable {
	var tables []schema.LatencyTable
	type typed struct {
		operation string
		dtype     schema.DType
	}
	intensities := map[typed][]float64{} // over all numbers of threads
	for _, e := range profiles {
		if e.Bytes == 0 || len(e.InputShape) == 0 || slices.Contains(e.Warnings, schema.Implausible) {
			continue
		}
		same := func(t schema.LatencyTable) bool {
			return t.Operation == e.Operation && t.DType == e.DType && t.Threads == e.Threads
		}
		i := slices.IndexFunc(tables, same)
		if i < 0 {
			i = len(tables)
			tables = append(tables, schema.LatencyTable{Operation: e.Operation, DType: e.DType, Threads: e.Threads})
		}
		of := typed{e.Operation, e.DType}
		intensities[of] = append(intensities[of], float64(e.FLOP)/float64(e.Bytes))
		tables[i].Points = append(tables[i].Points, schema.LatencyPoint{InputShape: e.InputShape, Bytes: e.Bytes, LatencyMS: e.LatencyMS.Median})
	}
	tables = slices.DeleteFunc(tables, func(t schema.LatencyTable) bool {
		all := intensities[typed{t.Operation, t.DType}]
		return t.Sizes() < schema.LeastSizes || slices.Max(all) > mostIntensities*slices.Min(all)
	})
	for i := range tables {
		t := &tables[i]
		slices.SortStableFunc(t.Points, func(a, b schema.LatencyPoint) int { return cmp.Compare(a.Bytes, b.Bytes) })
		schema.FitLatency(t)
	}
	return tables
}
