package cpu

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestEffectiveClock asserts that a clock is one that a CPU can have. Chains that
// disagree are an answer too: on a loaded machine, or where the instructions
// are translated by an emulator.
func TestEffectiveClock(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := time.Now()
	mhz, err := effectiveClock()
	elapsed := time.Since(begin)
	switch {
	case errors.Is(err, errNoClock):
		if len(clockChains) != 0 {
			t.Errorf("%v, but there are chains", err)
		}
	case err != nil:
		if !strings.Contains(err.Error(), "disagree") {
			t.Error(err)
		}
		t.Log(err)
	case mhz <= 0:
		t.Errorf("%.0f MHz", mhz)
	default:
		t.Logf("%.0f MHz in %v", mhz, elapsed)
	}
}
