package bench

import (
	"cmp"
	"slices"

	"hwcal/schema"
)

// latencyTables are the times of each operation, type and number of threads over the bytes
// that it moves, less those that cannot be true. Operations of which some shapes do far more for a byte than others, as
// convolutions and products, have none.
func latencyTables(profiles []schema.Compute) []schema.LatencyTable {
	var tables []schema.LatencyTable
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
		tables[i].Points = append(tables[i].Points, schema.LatencyPoint{InputShape: e.InputShape, Bytes: e.Bytes, LatencyMS: e.LatencyMS.Median})
	}
	tables = slices.DeleteFunc(tables, func(t schema.LatencyTable) bool {
		return t.Sizes() < schema.LeastSizes || !schema.LikeIntensities(profiles, t.Operation, t.DType)
	})
	for i := range tables {
		t := &tables[i]
		slices.SortStableFunc(t.Points, func(a, b schema.LatencyPoint) int { return cmp.Compare(a.Bytes, b.Bytes) })
		schema.FitLatency(t)
	}
	return tables
}
