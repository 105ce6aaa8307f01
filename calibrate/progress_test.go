package main

import (
	"strings"
	"testing"
	"time"

	"hwcal/bench"
)

// What stands before the bar leaves it room, says no less than nothing is left, and is as long for all labels: a shorter one
// would leave the end of a longer one behind.
func TestDescribe(t *testing.T) {
	for columns := longestBar + len("  10m0s left  "); columns < 200; columns++ {
		for _, left := range []time.Duration{-4 * time.Second, 0, 10 * time.Minute} {
			short := describe(bench.Progress{Left: left, Label: "short"}, columns)
			long := describe(bench.Progress{Left: left, Label: strings.Repeat("long ", 40)}, columns)
			if len(long) != len(short) || len(long) > columns-longestBar {
				t.Errorf("%d columns: %q and %q", columns, short, long)
			}
			if strings.Contains(long, "-") {
				t.Errorf("%q is less than nothing", long)
			}
		}
	}
	if got, want := describe(bench.Progress{Left: 65 * time.Second, Label: "copy fp32"}, 80), "  1m5s left  copy fp32"; strings.TrimRight(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
