//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// print writes a table for each group of cases, and the summary of all.
func print(results []result, threads int) {
	for _, group := range groupsOf(results) {
		t := newTable()
		t.SetTitle("%s, %d threads: GFLOPS, and ours / theirs by round", group, threads)
		t.AppendHeader(table.Row{"dtype", "shape", "ours", "of peak", "peer", "theirs", "min", "median", "max", "best/best"})
		for _, r := range results {
			if r.group != group {
				continue
			}
			for i, p := range r.peers {
				row := table.Row{"", "", "", ""}
				if i == 0 {
					best := slices.Max(r.ours.rates)
					row = table.Row{r.dtype, r.shape, giga(best), fmt.Sprintf("%.1f%%", 100*best/slices.Max(r.peak.rates))}
				}
				ratio := against(r.ours.rates, p.rates)
				t.AppendRow(append(row, p.name, giga(slices.Max(p.rates)),
					ratioText(ratio.Min), ratioText(ratio.Median), ratioText(ratio.Max), ratioText(slices.Max(r.ours.rates)/slices.Max(p.rates))))
			}
		}
		t.Render()
		fmt.Println()
	}
}

func giga(rate float64) string       { return fmt.Sprintf("%.1f", rate/1e9) }
func ratioText(ratio float64) string { return fmt.Sprintf("%.3f", ratio) }

// newTable has a line below the header and nothing else; numbers are aligned to
// the right.
func newTable() table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	return t
}

// groupsOf lists the groups in the order of their first results.
func groupsOf(results []result) []string {
	var groups []string
	for _, r := range results {
		if !slices.Contains(groups, r.group) {
			groups = append(groups, r.group)
		}
	}
	return groups
}
