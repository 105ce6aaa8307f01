package cpu

import "testing"

// The FLOP that a peak counts are those of its instructions, one a set; of halves, which takes two for
// a step.
func TestPeakCountsInstructions(t *testing.T) {
	for _, u := range units {
		instructions := u.peak.sets
		if u.gemm.group == 1 {
			instructions *= 2
		}
		want := u.flopPerCycle / fmaPipes * float64(instructions)
		if got := 2 * u.peak.sets * u.peak.rows * u.peak.cols * u.peak.k; float64(got) != want {
			t.Errorf("%s: %d FLOP an iteration, want %g", u.name, got, want)
		}
	}
}
