package bench

import (
	"context"
	"errors"
	"testing"

	"hwcal/schema"
)

// Where the system gives no huge pages, latencies say so, and that of DRAM is measured once.
func TestLatencyWithoutHugePages(t *testing.T) {
	for _, none := range []bool{false, true} {
		f := newFake()
		f.smallPages = none
		c := fakeCalibrator(f, schema.Quick)
		c.levels = c.claimed()
		pages := map[int64]int{}
		var failed error
		for _, s := range c.latencySteps() {
			if err := s.run(context.Background(), 1); err != nil {
				failed = err
			}
		}
		for _, l := range c.Device.Latency {
			pages[l.PageBytes]++
		}
		levels := len(c.levels.names())
		switch {
		case !none && (failed != nil || pages[2<<20] != levels || pages[4<<10] != 1):
			t.Errorf("%v, latencies by pages: %v", failed, pages)
		case none && (!errors.Is(failed, ErrUnsupported) || len(pages) != 1 || pages[4<<10] != levels):
			t.Errorf("without huge pages: %v, latencies by pages: %v", failed, pages)
		}
	}
}
