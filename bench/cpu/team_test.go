package cpu

import (
	"strings"
	"testing"
	"time"

	"hwcal/bench"
)

// A worker that panics leaves no other waiting for it; its team goes on.
func TestWorkerCrashes(t *testing.T) {
	tm := newTestTeam(t, 3)
	var none []int
	for _, test := range []struct {
		name    string
		crashes int
		sample  sample
	}{
		{"before the barrier", 1, sample{n: 2}},
		{"of several at once", -1, sample{n: 2}},
		{"alone", 0, sample{n: 2, solo: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.sample.bodies = []func(w *worker){func(w *worker) {
				if test.crashes < 0 || w.id == test.crashes {
					none[w.id]++
				}
			}}
			func() {
				defer func() {
					crash, is := recover().(*bench.Crash)
					if !is || !strings.Contains(crash.Error(), "index out of range") || !strings.HasPrefix(crash.Calls, "team_test.go:") {
						t.Errorf("caught %v", crash)
					}
				}()
				tm.sample([]sample{test.sample, test.sample})
			}()
			test.sample.bodies = []func(w *worker){func(*worker) {}}
			if times := tm.sample([]sample{test.sample}); times[0] <= 0 {
				t.Errorf("took %v afterwards", times)
			}
		})
	}
}

// Where workers do as much each, the mean of their rates counts, and else when the last one ends.
func TestStretches(t *testing.T) {
	begin := time.Now()
	at := []stretch{
		{begin: begin, end: begin.Add(time.Second)},
		{begin: begin.Add(time.Second), end: begin.Add(4 * time.Second)},
	}
	if got := whole(at); got != 4*time.Second {
		t.Errorf("whole: %s, want 4s", got)
	}
	if got := meanRate(at).Round(time.Microsecond); got != 1500*time.Millisecond { // of 1 and 1/3 a second
		t.Errorf("mean rate: %s, want 1.5s", got)
	}
}
