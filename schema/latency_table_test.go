package schema

import (
	"math"
	"testing"
)

// The line is that of overhead and rate, where one of them is absent too: its deviation is what a reader meets.
func TestFitLatency(t *testing.T) {
	for _, c := range []struct {
		name           string
		us             [3]float64 // of 1, 10 and 100 MB
		overhead, rate bool
	}{
		{"overhead and rate", [3]float64{15, 60, 510}, true, true},
		{"slower beyond the caches", [3]float64{1, 20, 250}, false, true},
		{"small ones take longest", [3]float64{5, 4, 3}, true, false},
	} {
		table := LatencyTable{}
		for i, us := range c.us {
			table.Points = append(table.Points, LatencyPoint{Bytes: int64(1e6 * math.Pow(10, float64(i))), LatencyMS: us / 1e3})
		}
		FitLatency(&table)
		if (table.OverheadUS > 0) != c.overhead || (table.IncrementGBps > 0) != c.rate {
			t.Errorf("%s: %g us, %g GB/s", c.name, table.OverheadUS, table.IncrementGBps)
		}
		worst := 0.0
		for _, p := range table.Points {
			us := table.OverheadUS
			if table.IncrementGBps > 0 {
				us += float64(p.Bytes) / table.IncrementGBps / 1e3
			}
			worst = max(worst, math.Abs(us/p.LatencyMS/1e3-1))
		}
		if math.Abs(worst-table.Deviation) > 1e-9 {
			t.Errorf("%s: deviates by %g, said to by %g", c.name, worst, table.Deviation)
		}
	}
}
