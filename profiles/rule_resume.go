package profiles

import (
	"fmt"
	"slices"
	"strings"

	"hwcal/schema"
)

// checkResume: the state of an interrupted run is that of its device, so that the run
// can be continued, and a run that was interrupted says so.
func checkResume(c *checker) {
	for at, d := range c.eachDevice() {
		told := c.warnings.at[warningKey{schema.Interrupted, at}]
		if told != (d.Resume != nil) {
			c.fail(at, "warning interrupted and resume go together", fmt.Sprintf("warning %t, resume %t", told, d.Resume != nil), "both or none")
		}
		if d.Resume == nil {
			continue
		}
		r, path := d.Resume, at+"/resume"
		atMost := func(field string, got, most int) {
			if got > most {
				c.fail(path+"/"+field, "more than there are", fmt.Sprint(got), fmt.Sprintf("at most %d", most))
			}
		}
		atMost("unavailable", r.Unavailable, len(d.Unavailable))
		atMost("warnings", r.Warnings, c.warningsOf(at))
		if len(r.Compute) != len(d.Compute) {
			c.fail(path+"/compute", "samples are not those of compute", fmt.Sprint(len(r.Compute)), fmt.Sprintf("%d entries", len(d.Compute)))
			continue
		}
		for i, s := range r.Compute {
			want := d.Compute[i].LatencyMS
			if len(s.Seconds) != want.N || !near(1e3*slices.Min(s.Seconds), want.Min) || !near(1e3*slices.Max(s.Seconds), want.Max) {
				c.fail(fmt.Sprintf("%s/compute/%d/samples_seconds", path, i), fmt.Sprintf("samples are not those of %s/compute/%d/latency_ms", at, i),
					fmt.Sprintf("%d from %s to %s s", len(s.Seconds), number(slices.Min(s.Seconds)), number(slices.Max(s.Seconds))),
					fmt.Sprintf("%d from %s to %s ms", want.N, number(want.Min), number(want.Max)))
			}
		}
	}
}

// warningsOf counts the warnings about a device or something of it.
func (c *checker) warningsOf(device string) int {
	n := 0
	for _, w := range c.Warnings {
		if w.Path == device || strings.HasPrefix(w.Path, device+"/") {
			n++
		}
	}
	return n
}
