package bench

import (
	"testing"

	"hwcal/schema"
)

// What cannot be true is no point of a table, as it has no warnings of its own.
func TestLatencyTableWithoutTheImplausible(t *testing.T) {
	var profiles []schema.Compute
	for i := range int64(4) {
		profiles = append(profiles, schema.Compute{
			Operation: "exp", DType: schema.FP32, Threads: 1, InputShape: []int64{1, 1, 1 << i}, Bytes: 8 << i,
			LatencyMS: schema.Stat{Median: float64(i + 1)},
		})
	}
	profiles[2].Warnings = []schema.Code{schema.Implausible}
	tables := latencyTables(profiles)
	if len(tables) != 1 || len(tables[0].Points) != 3 || tables[0].Points[2].Bytes != 64 {
		t.Errorf("%+v", tables)
	}
}

// Where some shapes do far more for a byte than others, the bytes do not tell the time.
func TestLatencyTableOfBytesAlone(t *testing.T) {
	for most, want := range map[int64]int{16: 1, 17: 0} {
		var profiles []schema.Compute
		for i, flop := range []int64{8, 10, most} {
			profiles = append(profiles, schema.Compute{
				Operation: "conv2d", DType: schema.FP32, Threads: 1, InputShape: []int64{int64(i)}, Bytes: 8 << i, FLOP: flop << i,
				LatencyMS: schema.Stat{Median: float64(i + 1)},
			})
		}
		if got := len(latencyTables(profiles)); got != want {
			t.Errorf("of 8 to %d FLOP for 8 bytes: %d tables, want %d", most, got, want)
		}
	}
}

// Narrow types have more FLOP for a byte, which tells nothing about the shapes.
func TestLatencyTableOfEachType(t *testing.T) {
	var profiles []schema.Compute
	for _, d := range []schema.DType{schema.FP64, schema.INT8} {
		for i := range int64(3) {
			profiles = append(profiles, schema.Compute{
				Operation: "exp", DType: d, Threads: 1, InputShape: []int64{1, 1, 8 << i}, FLOP: 8 << i, Bytes: 2 * d.Bytes() * (8 << i),
				LatencyMS: schema.Stat{Median: float64(i + 1)},
			})
		}
	}
	if tables := latencyTables(profiles); len(tables) != 2 || tables[0].DType != schema.FP64 || tables[1].DType != schema.INT8 {
		t.Errorf("%+v", tables)
	}
}
