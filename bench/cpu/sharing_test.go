package cpu

import (
	"strings"
	"testing"

	"hwcal/bench"
)

// Workers with a core each are held against the best of their class, wherever that was; those that may have one between
// them against themselves on the same place.
func TestShared(t *testing.T) {
	for _, siblings := range []bool{false, true} {
		b := testBackend(t, "")
		b.siblings = siblings
		one, all := bench.Place{Threads: 1}, bench.Place{Threads: len(b.cpus)}
		if err := b.enter(one); err != nil {
			t.Fatal(err)
		}
		if rate := b.issueRates()[0]; !(rate > 0) {
			t.Fatalf("a rate of %g", rate)
		}
		most := []float64{1e9, 1e9, 1e9} // times what any core can do
		b.rates[b.coreOf(0)] = most
		if got := b.shared(); len(got) != 1 || !strings.HasPrefix(got[0], "the core of worker 0 executed 0% of what it can") {
			t.Errorf("siblings %v: %q", siblings, got)
		}
		if len(b.cpus) == 1 {
			continue
		}
		if err := b.enter(all); err != nil {
			t.Fatal(err)
		}
		b.shared()
		if elsewhere := b.rates[b.coreOf(0)][0] == 1e9; elsewhere == siblings {
			t.Errorf("siblings %v: the best of another place counts: %v", siblings, elsewhere)
		}
	}
}

// A rate that was seen twice may be wrong, one that was seen three times is what the core can do.
func TestBestRate(t *testing.T) {
	b := &Backend{rates: map[core][]float64{}}
	for i, c := range []struct{ rate, want float64 }{{10, 10}, {12, 10}, {60, 10}, {11, 11}, {60, 12}, {9, 12}, {60, 60}, {9, 60}} {
		if got := b.bestRate(core{}, c.rate); got != c.want {
			t.Errorf("%d: %g, want %g", i, got, c.want)
		}
	}
	if got := b.bestRate(core{class: "E"}, 5); got != 5 {
		t.Errorf("of another class: %g", got)
	}
}
