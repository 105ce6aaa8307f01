package profiles

import (
	"fmt"
	"math"
	"slices"

	"hwcal/schema"
)

// checkFusionGFLOPS: both rates are flops / latency; both sides use the FLOP
// of the mathematical definition, of which those on padding are a part.
func checkFusionGFLOPS(c *checker) {
	for path, f := range c.fusions() {
		if f.PaddingFLOP > f.FLOP {
			c.fail(path+"/padding_flops", "more FLOP on padding than in all", number(float64(f.PaddingFLOP)),
				"at most flops = "+number(float64(f.FLOP)))
		}
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

// checkFusionSamples: samples per second are batch / latency, on both sides or on none.
func checkFusionSamples(c *checker) {
	for path, f := range c.fusions() {
		if f.UnfusedSamplesPerSecond == 0 && f.FusedSamplesPerSecond == 0 {
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

// drift is how far the ratio of the two latencies may lie outside of the
// interval of the speedup.
const drift = 1.05

// checkFusionSpeedup: the speedup lies in its interval, and so does the ratio
// of the latencies, nearly.
//
// The two need not be equal. The speedup is exp of the median over blocks of
// ln(u/f); the latencies are the medians over blocks of u and of f, and a ratio
// of medians is not a median of ratios. What is certain is that the ratio of
// medians lies between the smallest and the largest u/f of a block, and the
// interval is narrower than that once it comes from inner order statistics. A
// disturbance that slows both sides of some blocks leaves every u/f as it is
// and still shifts the medians apart, if it hits about half of the blocks. So
// the interval is widened by 5% at either end, and nothing is asked of a pair
// whose machine was disturbed and says so.
func checkFusionSpeedup(c *checker) {
	for path, f := range c.fusions() {
		lo, hi := f.SpeedupCILow, f.SpeedupCIHigh
		if !c.within(path, f.Speedup, lo, hi) {
			continue
		}
		ratio := f.UnfusedLatencyMS / f.FusedLatencyMS
		if (ratio < lo/drift || ratio > hi*drift) && !c.noisy(path, f.Warnings) {
			c.fail(path+"/speedup_factor",
				fmt.Sprintf("unfused_latency_ms / fused_latency_ms contradicts the interval of the speedup of %s", number(f.Speedup)),
				number(ratio), fmt.Sprintf("%s to %s, within 5%%", number(lo), number(hi)))
		}
	}
}

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

// minBlocks is the first look of the stopping rule. With fewer blocks no
// interval reaches the confidence, so nothing is decided.
const minBlocks = 10

// checkFusionVerdict: the verdict follows from the interval that is printed,
// by the same function that the runner uses, so there is no tolerance; unless the
// controls of the run failed or the workers were apart, when nothing is decided.
func checkFusionVerdict(c *checker) {
	for at, d := range c.eachDevice() {
		for i := range d.FusionProfiles {
			f := &d.FusionProfiles[i]
			c.verdict(fmt.Sprintf("%s/fusion_profiles/%d", at, i), d.Quality, f.Warnings, f.Verdict, f.Blocks, f.SpeedupCILow, f.SpeedupCIHigh)
		}
	}
}

// verdict checks that one follows from its interval, or decides nothing where the
// quality is that of a run whose controls failed, or the entry was measured on workers apart.
func (c *checker) verdict(path string, q *schema.Quality, own []schema.Code, v schema.Verdict, blocks int, lo, hi float64) {
	why := fmt.Sprintf("verdict does not follow from %d blocks and the interval %s to %s", blocks, exact(lo), exact(hi))
	want := schema.VerdictOf(lo, hi)
	switch {
	case q != nil && !q.Passed:
		want, why = schema.Inconclusive, "a control of the run failed, so that nothing is decided"
	case slices.Contains(own, schema.WorkersApart):
		want, why = schema.Inconclusive, "the workers were apart, so that nothing is decided"
	case blocks < minBlocks:
		want = schema.Inconclusive
	}
	if v != want {
		c.fail(path+"/verdict", why, string(v), string(want))
	}
}

// checkControls: the speedup of a control lies in its interval, from which its verdict follows, from this
// its outcome, and from the outcomes the quality.
func checkControls(c *checker) {
	for at, d := range c.eachDevice() {
		if d.Quality == nil {
			continue
		}
		passed := true
		for i, k := range d.Quality.Controls {
			path := fmt.Sprintf("%s/quality/controls/%d", at, i)
			c.verdict(path, nil, k.Warnings, k.Verdict, k.Blocks, k.SpeedupCILow, k.SpeedupCIHigh)
			if want := schema.OutcomeOf(k.Kind, k.Verdict); k.Outcome != want {
				c.fail(path+"/outcome", fmt.Sprintf("outcome does not follow from %s and %s", k.Kind, k.Verdict), string(k.Outcome), string(want))
			}
			switch {
			case k.Kind == schema.SameCode && k.TrueSpeedup != 1:
				c.differ(path+"/true_speedup", k.TrueSpeedup, 1, "true_speedup = 1 for the same code")
			case k.Kind == schema.KnownEffect && (k.TrueSpeedup <= 1 || k.TrueSpeedup > 2):
				c.fail(path+"/true_speedup", "no effect, or one that nobody needs to look for", number(k.TrueSpeedup), "above 1 and at most 2")
			}
			c.within(path, k.Speedup, k.SpeedupCILow, k.SpeedupCIHigh)
			passed = passed && k.Outcome != schema.ControlFailed
		}
		if d.Quality.Passed != passed {
			c.fail(at+"/quality/passed", "passed does not follow from the outcomes", fmt.Sprint(d.Quality.Passed), fmt.Sprint(passed))
		}
	}
}
