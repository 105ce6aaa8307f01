package main

import (
	"fmt"
	"strconv"

	"hwcal/schema"
)

// fusions prints a line a pair. What the line has no room for, the two times,
// stands below it where it matters: where the interval decided nothing.
func (p *page) fusions(d *schema.Device) {
	g := newGrid(words("pattern"), words("dtype"), words("shape"), words("verdict"), numbers("speedup"), words("interval"),
		numbers("n"), numbers("traffic"), numbers("predicted"))
	var undecided []string
	flagged := false
	for i := range d.FusionProfiles {
		f := &d.FusionProfiles[i]
		verdict := string(f.Verdict)
		if len(f.Warnings) > 0 {
			verdict, flagged = verdict+"!", true
		}
		g.row(f.Pattern, f.DType, dims(f.InputShape), verdict, ratio(f.Speedup),
			fmt.Sprintf("[%s,%s]", ratio(f.SpeedupCILow), ratio(f.SpeedupCIHigh)), strconv.Itoa(f.Blocks),
			fmt.Sprintf("%.1f%%", -100*f.MemoryReduction), ratioOrAbsent(f.PredictedSpeedup))
		if f.Verdict == schema.Inconclusive {
			undecided = append(undecided, fmt.Sprintf(" %s %s %s: unfused %s ms, fused %s ms", f.Pattern, f.DType, dims(f.InputShape),
				figure(f.UnfusedLatencyMS), figure(f.FusedLatencyMS)))
		}
	}
	p.section(g, "Fused against unfused in n blocks, "+sharedThreads(d.FusionProfiles))
	if flagged {
		p.line(" ! see the warnings")
	}
	if len(undecided) > 0 {
		p.heading("Inconclusive")
		for _, u := range undecided {
			p.line("%s", u)
		}
	}
}

// sharedThreads says on how many threads the pairs ran: all on the same number.
func sharedThreads(all []schema.Fusion) string {
	low, high := 0, 0
	for i, f := range all {
		if i == 0 {
			low, high = f.Threads, f.Threads
		}
		low, high = min(low, f.Threads), max(high, f.Threads)
	}
	if low == high {
		return plural(low, "thread")
	}
	return fmt.Sprintf("%d to %d threads", low, high)
}

func ratio(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

func ratioOrAbsent(x float64) string {
	if x == 0 {
		return absent
	}
	return ratio(x)
}
