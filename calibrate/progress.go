package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"hwcal/bench"
)

// progress returns an observer that draws a bar on w if that is a terminal, and
// nothing otherwise.
func progress(w io.Writer, hidden bool) func(bench.Progress) {
	f, ok := w.(*os.File)
	if hidden || !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	var bar *progressbar.ProgressBar // of a device
	return func(p bench.Progress) {
		if p.Step == p.Steps {
			if bar != nil {
				_ = bar.Finish()
			}
			bar = nil
			return
		}
		if bar == nil {
			bar = progressbar.NewOptions(p.Steps,
				progressbar.OptionSetWriter(w),
				progressbar.OptionSetWidth(barWidth),
				progressbar.OptionShowCount(),
				progressbar.OptionSetPredictTime(false),
				progressbar.OptionClearOnFinish(),
			)
		}
		if bar.GetMax() != p.Steps { // of what is repeated nobody knows the number before
			bar.ChangeMax(p.Steps)
		}
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			columns = widest
		}
		bar.Describe(describe(p, columns))
		_ = bar.Set(p.Step)
	}
}

const (
	barWidth   = 10
	longestBar = barWidth + len(" 100% || (1234/1234) ") + 1 // and the cursor
	// longestLabel holds the names of nearly all steps.
	longestLabel = 60
)

// describe is what stands before the bar, so short that both fit into the columns of a terminal: a longer line would be
// wrapped, and drawn below itself each time.
func describe(p bench.Progress, columns int) string {
	left := fmt.Sprintf("%6s left  ", max(p.Left, 0).Round(time.Second))
	room := max(0, min(longestLabel, columns-longestBar-len(left)))
	return fmt.Sprintf("%s%-*.*s", left, room, room, p.Label)
}
