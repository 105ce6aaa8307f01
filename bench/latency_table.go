package bench

import (
	"cmp"
	"slices"

	"hwcal/schema"
)

// leastPoints is the number of sizes from which a line has more points than unknowns.
const leastPoints = 3

// latencyTables are the times of each operation, type and number of threads over the bytes
// that it moves, less those that cannot be true.
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
	tables = slices.DeleteFunc(tables, func(t schema.LatencyTable) bool { return sizes(t.Points) < leastPoints })
	for i := range tables {
		t := &tables[i]
		slices.SortStableFunc(t.Points, func(a, b schema.LatencyPoint) int { return cmp.Compare(a.Bytes, b.Bytes) })
		schema.FitLatency(t)
	}
	return tables
}

// sizes counts different numbers of bytes.
func sizes(points []schema.LatencyPoint) int {
	seen := map[int64]bool{}
	for _, p := range points {
		seen[p.Bytes] = true
	}
	return len(seen)
}
