//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// printGroup writes the table of one group of cases.
func printGroup(results []result, threads int) {
	if len(results) == 0 {
		return
	}
	group, unit := results[0].group, "GFLOPS"
	if group == "stream" || group == "op" {
		unit = "GB/s"
	}
	t := newTable(fmt.Sprintf("%s with %d threads: best %s; shares of the register peak and ours / theirs by round", group, threads, unit), 3, 4, 6, 7, 8, 9, 10)
	t.AppendHeader(table.Row{"dtype", "case", "ours", "of peak", "peer", "theirs", "min", "median", "max", "best/best"})
	for _, r := range results {
		appendResult(t, r)
	}
	t.Render()
}

// printSummary writes how we do in all groups.
func printSummary(results []result, threads int) {
	if len(results) == 0 {
		return
	}
	t := newTable(fmt.Sprintf("summary with %d threads: ours / the best peer's, by the medians of the rounds", threads), 3, 4, 5)
	t.AppendHeader(table.Row{"group", "dtype", "cases", "median", "worst", "worst case", "best peer there"})
	for _, o := range summarize(verdicts(results)) {
		t.AppendRow(table.Row{o.group, o.dtype, o.cases, ratioText(o.median), ratioText(o.worst.ratio), o.worst.name, o.worst.peer})
	}
	t.Render()
}

// appendResult adds a line for each peer. Rates are the best ones; what is relative
// compares within a round, as the machine may be slower in another.
func appendResult(t table.Writer, r result) {
	best := slices.Max(r.ours.rates)
	first := table.Row{r.dtype, r.name, giga(best), ""}
	if r.peak != nil {
		first[3] = fmt.Sprintf("%.1f%%", 100*against(r.ours.rates, r.peak.rates).Median)
	}
	for _, p := range r.peers {
		ratio := against(r.ours.rates, p.rates)
		theirs := slices.Max(p.rates)
		t.AppendRow(append(first, p.name, giga(theirs),
			ratioText(ratio.Min), ratioText(ratio.Median), ratioText(ratio.Max), ratioText(best/theirs)))
		first = table.Row{"", "", "", ""}
	}
}

// verdicts hold each case against the peer that does best there.
func verdicts(results []result) []verdict {
	var all []verdict
	for _, r := range results {
		v := verdict{group: r.group, dtype: r.dtype, name: r.name, task: r.kind + " " + r.dims}
		for i, p := range r.peers {
			if ratio := against(r.ours.rates, p.rates).Median; i == 0 || ratio < v.ratio {
				v.ratio, v.peer = ratio, p.name
			}
		}
		all = append(all, v)
	}
	return all
}

func giga(rate float64) string       { return fmt.Sprintf("%.1f", rate/1e9) }
func ratioText(ratio float64) string { return fmt.Sprintf("%.3f", ratio) }

// newTable has a line below the header and nothing else. The given columns hold
// numbers.
func newTable(title string, numbers ...int) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	var configs []table.ColumnConfig
	for _, n := range numbers {
		configs = append(configs, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	fmt.Printf("\n%s\n", title)
	return t
}
