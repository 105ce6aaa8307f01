package main

import (
	"fmt"
	"slices"
	"strconv"

	"hwcal/schema"
)

// fusions prints a line a pair; model is the predicted speedup, where there is room for it. What the line has none for, the
// two times, stands below it where it matters: where the interval decided nothing.
func (p *page) fusions(d *schema.Device) {
	g := newGrid(words("pattern"), words("dtype"), words("shape"), words("threads"), words("verdict"), numbers("speedup"), words("interval"))
	explained := p.width >= 100 // there is room for what explains the speedup
	if explained {
		g.columns = append(g.columns, numbers("traffic"), numbers("model"))
	}
	networks := newGrid(words("network"), words("dtype"), words("shape"), words("threads"), words("verdict"), numbers("speedup"), words("interval"),
		numbers("kernels"), numbers("samples/s"), numbers("kernels"), numbers("samples/s"))
	networks.groups = []string{7: "unfused", 8: "unfused", 9: "fused", 10: "fused"}
	var undecided []string
	flagged := false
	for _, f := range waysTogether(d.FusionProfiles) {
		verdict := string(f.Verdict)
		if len(f.Warnings) > 0 {
			verdict, flagged = verdict+"!", true
		}
		if f.FusedSamplesPerSecond > 0 {
			networks.row(f.Pattern, f.DType, dims(f.InputShape), onThreads(f), verdict, ratio(f.Speedup),
				fmt.Sprintf("[%s,%s]", ratio(f.SpeedupCILow), ratio(f.SpeedupCIHigh)),
				strconv.Itoa(len(f.Operators)), figure(f.UnfusedSamplesPerSecond), strconv.Itoa(len(f.Parts)), figure(f.FusedSamplesPerSecond))
			continue
		}
		cells := []any{f.Pattern, f.DType, dims(f.InputShape), onThreads(f), verdict, ratio(f.Speedup),
			fmt.Sprintf("[%s,%s]", ratio(f.SpeedupCILow), ratio(f.SpeedupCIHigh))}
		if explained {
			cells = append(cells, fmt.Sprintf("%.1f%%", -100*f.MemoryReduction), ratioOrAbsent(f.PredictedSpeedup))
		}
		g.row(cells...)
		if f.Verdict == schema.Inconclusive {
			undecided = append(undecided, fmt.Sprintf(" %s: unfused %s ms, fused %s ms", pairName(f), figure(f.UnfusedLatencyMS), figure(f.FusedLatencyMS)))
		}
	}
	p.section(g, "Fused against unfused")
	p.section(networks, "Networks, fused part by part")
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

// waysTogether puts all ways in which a pair was measured where the first one is.
func waysTogether(all []schema.Fusion) []*schema.Fusion {
	type pair struct {
		pattern, shape string
		dtype          schema.DType
	}
	first := map[pair]int{}
	var fs []*schema.Fusion
	for i := range all {
		f := &all[i]
		if k := (pair{f.Pattern, f.Shape, f.DType}); first[k] == 0 {
			first[k] = i + 1
		}
		fs = append(fs, f)
	}
	slices.SortStableFunc(fs, func(a, b *schema.Fusion) int {
		return first[pair{a.Pattern, a.Shape, a.DType}] - first[pair{b.Pattern, b.Shape, b.DType}]
	})
	return fs
}

// onThreads is the number of threads or how a GPU launches, and whether the caches were cold.
func onThreads(f *schema.Fusion) string {
	s := threadNumber(f.Threads)
	if f.Launch != "" {
		s = string(f.Launch)
	}
	if f.Cache == schema.Cold {
		s += " cold"
	}
	return s
}

// pairName tells a pair and the way in which it was measured.
func pairName(f *schema.Fusion) string {
	s := fmt.Sprintf("%s %s %s, ", f.Pattern, f.DType, dims(f.InputShape))
	if f.Launch != "" {
		s += "by " + string(f.Launch)
	} else {
		s += threadCount(f.Threads)
	}
	if f.Cache == schema.Cold {
		s += ", cold"
	}
	return s
}

// controls prints how the trials came out whose outcome is known.
func (p *page) controls(q *schema.Quality) {
	if q == nil {
		return
	}
	g := newGrid(words("control"), words("pattern"), words("dtype"), words("shape"), numbers("true"), numbers("speedup"), words("interval"),
		numbers("n"), words("outcome"))
	for _, k := range q.Controls {
		g.row(k.Kind, k.Pattern, k.DType, dims(k.InputShape), ratio(k.TrueSpeedup), ratio(k.Speedup),
			fmt.Sprintf("[%s,%s]", ratio(k.SpeedupCILow), ratio(k.SpeedupCIHigh)), strconv.Itoa(k.Blocks), k.Outcome)
	}
	title := "Controls of the verdicts: passed"
	if !q.Passed {
		title = "Controls of the verdicts: NOT PASSED, no verdict can be relied on"
	}
	p.section(g, title)
}

func ratio(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

func ratioOrAbsent(x float64) string {
	if x == 0 {
		return absent
	}
	return ratio(x)
}
