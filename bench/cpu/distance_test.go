package cpu

import (
	"strings"
	"testing"

	"hwcal/bench"
)

// A signal takes some time, less than a scheduler needs, and a worker that was nearer is apart.
func TestDistance(t *testing.T) {
	b := testBackend(t, "")
	place := bench.Place{Threads: len(b.cpus)}
	if err := b.enter(place); err != nil {
		t.Fatal(err)
	}
	times := b.team.signals()
	if len(times) != place.Threads-1 {
		t.Fatalf("%d times of %d workers", len(times), place.Threads)
	}
	if len(times) == 0 {
		t.Skip("one CPU")
	}
	if times[0] < 1e-9 || times[0] > 1e-3 {
		t.Errorf("%g s for a signal", times[0])
	}
	b.nearest[place] = []float64{times[0] / 100}
	if got := b.apart(true); !strings.Contains(got, "a signal to worker 1") {
		t.Errorf("%q", got)
	}
	b.nearest[place] = []float64{1}
	if got := b.apart(false); got != "" || b.nearest[place][0] != 1 {
		t.Errorf("%q, and learned %g", got, b.nearest[place][0])
	}
	if got := b.apart(true); got != "" || b.nearest[place][0] > 1e-3 {
		t.Errorf("%q, nearest %g", got, b.nearest[place][0])
	}
}
