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

// Where workers do as much each, the mean rate of their classes counts, and else when the last one ends.
func TestStretches(t *testing.T) {
	zero := time.Now()
	from := func(begin, end int) stretch {
		return stretch{begin: zero.Add(time.Duration(begin) * time.Second), end: zero.Add(time.Duration(end) * time.Second)}
	}
	for _, test := range []struct {
		at      []stretch
		classes []string
		want    time.Duration
	}{
		{[]stretch{from(0, 1), from(0, 3)}, []string{"", ""}, 3 * time.Second},
		{[]stretch{from(0, 1), from(0, 3)}, []string{"P", "E"}, 1500 * time.Millisecond}, // 1 and 1/3 a second
		{[]stretch{from(0, 1), from(1, 2), from(0, 3)}, []string{"P", "P", "E"}, 9 * time.Second / 4},
		{[]stretch{from(0, 1), from(2, 4)}, []string{"P", "E"}, 4 * time.Second}, // one after the other
	} {
		if got := byClass(test.at, test.classes).Round(time.Microsecond); got != test.want {
			t.Errorf("%v of classes %q: %s, want %s", test.at, test.classes, got, test.want)
		}
	}
}
