package schema

import "math"

// LeastSizes is the number of different sizes from which a line has more points than unknowns.
const LeastSizes = 3

// mostIntensities is the largest ratio of the FLOP per byte of two shapes of an operation of which the bytes tell the time.
const mostIntensities = 2

// LikeIntensities says whether all entries of an operation in a type, whatever the number of threads, have like FLOP for a
// byte. Only then do bytes tell the time: of convolutions and products they do not.
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
// Of latency = a + b bytes it minimises the sum of ((a + b bytes) / latency - 1)^2: the
// smallest time, of which the overhead is the largest part, counts as much as the largest. Neither a nor b is
// below 0: no call costs less than nothing, so that what is absent of the line is 0.
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
