package bench

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Crash is a panic of a case, which shall not cost others their figures.
type Crash struct {
	Value any
	Calls string // FILE:LINE of the innermost calls, from where it happened outwards
}

// crashCalls is how many calls a Crash names.
const crashCalls = 4

// Caught is the crash of what recover returned, as the deferred function has to call it itself. One that
// was caught before, in another goroutine, stays as it is.
func Caught(recovered any) *Crash {
	if c, was := recovered.(*Crash); was {
		return c
	}
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	var calls []string
	for more := true; more && len(calls) < crashCalls; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic": // what deferred comes before
			calls = nil
		case !strings.HasPrefix(f.Function, "runtime."):
			calls = append(calls, fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line))
		}
	}
	return &Crash{recovered, strings.Join(calls, ", ")}
}

func (c *Crash) Error() string {
	return fmt.Sprintf("calibrate has a bug here: panic: %v (%s)", c.Value, c.Calls)
}
