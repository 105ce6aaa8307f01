package schema

import "math"

// LeastSizes is the number of different sizes from which a line has more points than unknowns.
const LeastSizes = 3

// mostIntensities bounds how far the arithmetic intensities of shapes of an operation may differ, as a ratio, for bytes
// alone to predict its time.
const mostIntensities = 2

// LikeIntensities says whether all entries of an operation in a type, on any number of threads, have similar arithmetic
// intensities. Only then do bytes alone predict the time: not for convolutions and matrix products.
func LikeIntensities(entries []Compute, operation string, d DType) bool {
	least, most := math.Inf(1), 0.0
	for _, e := range entries {
		if e.Operation == operation && e.DType == d && e.Bytes > 0 {
			intensity := float64(e.FLOP) / float64(e.Bytes)
			least, most = min(least, intensity), max(most, intensity)
		}
	}
	return most <= mostIntensities*least
}

// Sizes counts the different numbers of bytes of a table.
func (t LatencyTable) Sizes() int {
	seen := map[int64]bool{}
	for _, p := range t.Points {
		seen[p.Bytes] = true
	}
	return len(seen)
}

// FitLatency fits the straight line of a table to its points. The measuring side and
// validation share it, so that the line always agrees with its points.
//
// For latency = a + b bytes it minimises the sum of ((a + b bytes) / latency - 1)^2, the squared relative
// deviations: the smallest time, which is mostly overhead, counts as much as the largest. Neither a nor b is
// negative, as no call costs less than nothing; a field of the line that is absent stands for 0.
func FitLatency(t *LatencyTable) {
	// With u = 1/latency and v = bytes/latency the sum is that of (a u + b v - 1)^2.
	var uu, uv, vv, u1, v1 float64
	for _, p := range t.Points {
		u, v := 1/p.LatencyMS, float64(p.Bytes)/p.LatencyMS
		uu, uv, vv, u1, v1 = uu+u*u, uv+u*v, vv+v*v, u1+u, v1+v
	}
	det := uu*vv - uv*uv
	a, b := (u1*vv-v1*uv)/det, (v1*uu-u1*uv)/det
	switch { // the least of a convex function beyond a bound lies on it
	case a < 0:
		a, b = 0, v1/vv
	case b < 0:
		a, b = u1/uu, 0
	}
	t.OverheadUS, t.IncrementGBps, t.Deviation = 0, 0, 0
	if a > 0 {
		t.OverheadUS = a * 1e3
	}
	if b > 0 {
		t.IncrementGBps = 1 / b / 1e6
	}
	for _, p := range t.Points {
		t.Deviation = max(t.Deviation, math.Abs((a+b*float64(p.Bytes))/p.LatencyMS-1))
	}
}
