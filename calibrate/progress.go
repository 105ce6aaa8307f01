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
	var bar *progressbar.ProgressBar
	return func(p bench.Progress) {
		if bar == nil {
			bar = progressbar.NewOptions(p.Steps,
				progressbar.OptionSetWriter(w),
				progressbar.OptionSetWidth(20),
				progressbar.OptionShowCount(),
				progressbar.OptionSetPredictTime(false),
				progressbar.OptionClearOnFinish(),
			)
		}
		if p.Step == p.Steps {
			_ = bar.Finish()
			return
		}
		bar.Describe(fmt.Sprintf("%4s left  %-60.60s", p.Left.Round(time.Second), p.Label))
		_ = bar.Set(p.Step)
	}
}
