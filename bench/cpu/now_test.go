package cpu

import (
	"testing"
	"time"
)

// Samples of a pair last 0.25 ms: the clock moves in much smaller steps, and at the rate of the other one.
func TestNow(t *testing.T) {
	step := time.Hour
	for range 1000 {
		begin := now()
		end := now()
		for !end.After(begin) {
			end = now()
		}
		step = min(step, end.Sub(begin))
	}
	if step > 2*time.Microsecond {
		t.Errorf("moves in steps of %s", step)
	}
	begin, other := now(), time.Now()
	time.Sleep(100 * time.Millisecond)
	if took, want := now().Sub(begin), time.Since(other); took < want*8/10 || took > want*12/10 {
		t.Errorf("took %s, by the other clock %s", took, want)
	}
}
