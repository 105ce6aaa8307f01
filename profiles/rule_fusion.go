package profiles

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hwcal/schema"
)

// checkFusionGFLOPS: both rates are flops / latency; both sides use the FLOP
// of the mathematical definition.
func checkFusionGFLOPS(c *checker) {
	for path, f := range c.fusions() {
		for _, side := range []struct {
			name    string
			got, ms float64
		}{{"unfused", f.UnfusedGFLOPS, f.UnfusedLatencyMS}, {"fused", f.FusedGFLOPS, f.FusedLatencyMS}} {
			if want := rate(f.FLOP, side.ms); !near(side.got, want) {
				c.differ(path+"/"+side.name+"_gflops", side.got, want,
					fmt.Sprintf("%s_gflops = flops / %s_latency_ms", side.name, side.name))
			}
		}
	}
}

// checkFusionSamples: samples per second are batch / latency, of networks, and of these on both sides.
func checkFusionSamples(c *checker) {
	for path, f := range c.fusions() {
		none := f.UnfusedSamplesPerSecond == 0 && f.FusedSamplesPerSecond == 0
		switch {
		case f.Group != network && !none:
			c.fail(path+"/group", "samples per second of what is no network", quote(f.Group), network)
			continue
		case f.Group == network && none:
			c.fail(path, "samples per second of a network are missing", "", "unfused_samples_per_second and fused_samples_per_second")
			continue
		case f.Group != network:
			continue
		}
		batch := float64(f.ExtraParams["batch"])
		for _, side := range []struct {
			name    string
			got, ms float64
		}{{"unfused", f.UnfusedSamplesPerSecond, f.UnfusedLatencyMS}, {"fused", f.FusedSamplesPerSecond, f.FusedLatencyMS}} {
			if want := batch / side.ms * 1e3; !near(side.got, want) {
				c.differ(path+"/"+side.name+"_samples_per_second", side.got, want,
					fmt.Sprintf("%s_samples_per_second = batch / %s_latency_ms", side.name, side.name))
			}
		}
	}
}

// checkLaunch: pairs of a GPU say how their kernels come to run, as they are looked up by that; a CPU launches nothing.
func checkLaunch(c *checker) {
	for at, d := range c.eachDevice() {
		if d.CPU != nil && len(d.Launch) > 0 {
			c.fail(at+"/launch", "launches of a CPU", fmt.Sprintf("%d entries", len(d.Launch)), "none")
		}
		for i, f := range d.FusionProfiles {
			path := fmt.Sprintf("%s/fusion_profiles/%d", at, i)
			switch {
			case d.CPU != nil && f.Launch != "":
				c.fail(path+"/launch", "launch of a pair on a CPU", quote(string(f.Launch)), "none")
			case d.CPU == nil && f.Launch == "":
				c.fail(path, "launch of a pair on a GPU is missing", "", fmt.Sprintf("%s or %s", schema.LaunchStream, schema.LaunchGraph))
			}
		}
	}
}

// checkFusionParts: the chains that the fused side of a network executes are the operations of the pair, in their order.
func checkFusionParts(c *checker) {
	for path, f := range c.fusions() {
		if len(f.Parts) == 0 {
			continue
		}
		if f.Group != network {
			c.fail(path+"/parts", "parts of what is no network", quote(f.Group), network)
		}
		got := strings.Split(strings.Join(f.Parts, "+"), "+")
		for i := range max(len(got), len(f.Operators)) {
			if part, operator := nth(got, i), nth(f.Operators, i); part != operator {
				c.fail(path+"/parts", fmt.Sprintf("operation %d of the parts is not that of the operators", i+1), part, operator)
				break
			}
		}
	}
}

// nth is one of some names in quotes, or none behind the last.
func nth(names []string, i int) string {
	if i < len(names) {
		return quote(names[i])
	}
	return "none"
}

// checkFusionSpeedup: the speedup lies in its interval, and is the ratio of the latencies, which are those of the
// block whose ratio is the median.
func checkFusionSpeedup(c *checker) {
	for path, f := range c.fusions() {
		if !c.within(path, f.Speedup, f.SpeedupCILow, f.SpeedupCIHigh) {
			continue
		}
		c.ratio(path, f.Speedup, f.UnfusedLatencyMS, f.FusedLatencyMS)
	}
}

// ratio: a speedup is that of its latencies.
func (c *checker) ratio(at string, speedup, unfused, fused float64) {
	if ratio := unfused / fused; !near(ratio, speedup) {
		c.differ(at+"/speedup_factor", speedup, ratio, "speedup_factor = unfused_latency_ms / fused_latency_ms")
	}
}

// network is the group of the patterns whose rate is in samples per second.
const network = "network"

// within asks that a speedup lies in its interval; it is false if there is none.
func (c *checker) within(path string, speedup, lo, hi float64) bool {
	if lo > hi {
		c.fail(path+"/speedup_ci_high", "speedup_ci_low <= speedup_ci_high does not hold", exact(hi), "at least "+exact(lo))
		return false
	}
	if speedup < lo*(1-rounding) || speedup > hi*(1+rounding) {
		c.fail(path+"/speedup_factor", "speedup_factor outside of its interval", number(speedup),
			fmt.Sprintf("%s to %s", number(lo), number(hi)))
	}
	return true
}

// checkFusionMemory: memory_reduction = 1 - fused_bytes / unfused_bytes.
func checkFusionMemory(c *checker) {
	for path, f := range c.fusions() {
		want := 1 - float64(f.FusedBytes)/float64(f.UnfusedBytes)
		if math.Abs(f.MemoryReduction-want) > rounding {
			c.differ(path+"/memory_reduction", f.MemoryReduction, want, "memory_reduction = 1 - fused_bytes / unfused_bytes")
		}
	}
}

// checkFusionImprovement: gflops_improvement = speedup_factor - 1.
func checkFusionImprovement(c *checker) {
	for path, f := range c.fusions() {
		// Rounding of the speedup carries over as an absolute error.
		if want := f.Speedup - 1; math.Abs(f.GFLOPSImprovement-want) > rounding*f.Speedup {
			c.differ(path+"/gflops_improvement", f.GFLOPSImprovement, want, "gflops_improvement = speedup_factor - 1")
		}
	}
}

// checkFusionVerdict: the verdict follows from the interval that is printed,
// by the same function that the runner uses, so there is no tolerance; unless the
// controls of the run did not pass or the workers were apart, when nothing is decided. The reason is of the same verdict.
func checkFusionVerdict(c *checker) {
	for at, d := range c.eachDevice() {
		for i := range d.FusionProfiles {
			f, path := &d.FusionProfiles[i], fmt.Sprintf("%s/fusion_profiles/%d", at, i)
			right := c.verdict(path, d.Untrusted(), f.Warnings, f.Verdict, f.Blocks, f.SpeedupCILow, f.SpeedupCIHigh)
			if begin := f.Verdict.Because(""); right && !strings.HasPrefix(f.Reason, begin) {
				c.fail(path+"/reason", "reason does not begin with the verdict", quote(f.Reason), quote(begin))
			}
		}
	}
}

// verdict checks that one follows from its interval, or decides nothing where it is untrusted,
// or the entry was measured on workers apart.
func (c *checker) verdict(path string, untrusted bool, own []schema.Code, v schema.Verdict, blocks int, lo, hi float64) bool {
	why := fmt.Sprintf("verdict does not follow from %d blocks and the interval %s to %s", blocks, exact(lo), exact(hi))
	want := schema.VerdictOf(lo, hi)
	switch {
	case untrusted:
		want, why = schema.Inconclusive, "a control of the run failed, or none passed, so that nothing is decided"
	case slices.Contains(own, schema.WorkersApart):
		want, why = schema.Inconclusive, "the workers were apart, so that nothing is decided"
	case blocks < schema.LeastBlocks:
		want = schema.Inconclusive
	}
	if v != want {
		c.fail(path+"/verdict", why, string(v), string(want))
	}
	return v == want
}

// checkControls: the speedup of a control lies in its interval, from which its verdict follows, from both
// and the truth its outcome, and from the outcomes the quality. Where the verdicts are untrusted, a warning says so.
func checkControls(c *checker) {
	for at, d := range c.eachDevice() {
		if d.Untrusted() && !c.warned(at, nil, schema.ControlsFailed) {
			c.fail(at, "a control of the run failed, or none passed, and no warning says so", "", string(schema.ControlsFailed))
		}
		if d.Quality == nil {
			continue
		}
		for i, k := range d.Quality.Controls {
			path := fmt.Sprintf("%s/quality/controls/%d", at, i)
			c.verdict(path, false, k.Warnings, k.Verdict, k.Blocks, k.SpeedupCILow, k.SpeedupCIHigh)
			if want := schema.OutcomeOf(k.TrueSpeedup, k.SpeedupCILow, k.SpeedupCIHigh, k.Verdict); k.Outcome != want {
				c.fail(path+"/outcome", fmt.Sprintf("outcome does not follow from %s, the interval %s to %s and %s in truth", k.Verdict, exact(k.SpeedupCILow), exact(k.SpeedupCIHigh), exact(k.TrueSpeedup)), string(k.Outcome), string(want))
			}
			switch {
			case k.Kind == schema.SameCode && k.TrueSpeedup != 1:
				c.differ(path+"/true_speedup", k.TrueSpeedup, 1, "true_speedup = 1 for the same code")
			case k.Kind == schema.KnownEffect && (k.TrueSpeedup <= 1 || k.TrueSpeedup > 2):
				c.fail(path+"/true_speedup", "no effect, or one that nobody needs to look for", number(k.TrueSpeedup), "above 1 and at most 2")
			}
			c.within(path, k.Speedup, k.SpeedupCILow, k.SpeedupCIHigh)
		}
		if passed := schema.ControlsPassed(d.Quality.Controls); d.Quality.Passed != passed {
			c.fail(at+"/quality/passed", "passed does not follow from the outcomes", fmt.Sprint(d.Quality.Passed), fmt.Sprint(passed))
		}
	}
}
