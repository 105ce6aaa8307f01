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
		b.rates[b.coreOf(0)] = 1e9 // times what any core can do
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
		if elsewhere := b.rates[b.coreOf(0)] == 1e9; elsewhere == siblings {
			t.Errorf("siblings %v: the best of another place counts: %v", siblings, elsewhere)
		}
	}
}
