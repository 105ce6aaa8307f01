package profiles

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hwcal/schema"
)

// mostUnexplained is how far the speedup may pass what the savings explain before a warning says so.
const mostUnexplained = 1.25

// copyRates are the best rates of the kernel copy in GB/s, by number of threads and level.
type copyRates map[int]map[schema.Level]float64

// checkFusionExplained: a speedup is predicted wherever the rates for it were measured, it is not below 1, and a measured
// speedup far above it has a warning. The shares of a predicted saving add up to 1, and exist only with one. Each share
// is checked against what it stands for: otherwise shares could explain any speedup.
func checkFusionExplained(c *checker) {
	for at, d := range c.eachDevice() {
		copies := c.copyRates(at, d)
		var explained []explainedPair
		for i := range d.FusionProfiles {
			f, path := &d.FusionProfiles[i], fmt.Sprintf("%s/fusion_profiles/%d", at, i)
			peak := c.peaks[peakKey{d, f.DType, f.Threads, ""}]
			if !c.predicted(path, f, peak > 0 && copies.complete(d, f.Threads)) {
				continue
			}
			if f.Explained == nil {
				// Nothing is saved, or too little to tell from it.
				if f.UnfusedBytes > f.FusedBytes || f.PredictedSpeedup > 1+rounding {
					c.fail(path, "explained is missing beside a predicted saving", "", "the shares of it")
				}
				continue
			}
			p := explainedPair{path, f}
			if sum := f.Explained.FLOP + f.Explained.Traffic + f.Explained.Overhead; !near(sum, 1) {
				c.differ(path+"/explained", sum, 1, "flops_share + traffic_share + overhead_share = 1")
			}
			c.explainedFLOP(p, peak)
			c.explainedTraffic(p, copies[f.Threads])
			explained = append(explained, p)
		}
		c.explainedOverhead(explained)
	}
}

// copyRates of a device.
func (c *checker) copyRates(at string, d *schema.Device) copyRates {
	rates := copyRates{}
	for p, entries := range c.bandwidth(at, d) {
		if rate := ceilingOf(entries, func(b *schema.Bandwidth) bool { return b.Pattern == "copy" }); rate.gbps > 0 {
			if rates[p.threads] == nil {
				rates[p.threads] = map[schema.Level]float64{}
			}
			rates[p.threads][p.level] = rate.gbps
		}
	}
	return rates
}

// complete says whether there is a rate on every level of the device, so that there is one wherever the intermediates
// of a pair live.
func (r copyRates) complete(d *schema.Device, threads int) bool {
	of := r[threads]
	for _, cache := range cachesOf(d) {
		if of[cache.level] == 0 {
			return false
		}
	}
	return of[schema.DRAM] > 0 || of[schema.HBM] > 0
}

// predicted holds the predicted speedup of a pair against the one that was measured; it is false if there is none. One is
// due where all rates are known.
func (c *checker) predicted(path string, f *schema.Fusion, due bool) bool {
	predicted := f.PredictedSpeedup
	if predicted == 0 {
		if f.Explained != nil {
			c.fail(path+"/explained", "shares of a saving that is not predicted", "", "predicted_speedup beside them")
		}
		if due {
			c.fail(path, "predicted_speedup is missing beside a register peak and the rates of copy on every level", "", "the prediction")
		}
		return false
	}
	if predicted < 1-rounding {
		c.fail(path+"/predicted_speedup", "a saving that makes the pair slower", number(predicted), "at least 1")
	}
	if f.Speedup > mostUnexplained*predicted*(1+rounding) && !c.warned(path, f.Warnings, schema.AboveTraffic) {
		c.fail(path+"/speedup_factor", "above 1.25 x predicted_speedup without the warning "+string(schema.AboveTraffic),
			number(f.Speedup), "at most "+number(mostUnexplained*predicted))
	}
	return true
}

// explainedPair is a pair with the shares of its predicted saving.
type explainedPair struct {
	path string
	*schema.Fusion
}

// savedMS is the time in milliseconds that a share of the saving stands for.
func (p explainedPair) savedMS(share float64) float64 {
	return (p.PredictedSpeedup - 1) * p.FusedLatencyMS * share
}

// fewer is the number of operations that need not be started: of each part all but one.
func (p explainedPair) fewer() int { return len(p.Operators) - max(1, len(p.Parts)) }

// explainedFLOP: what is folded away is less than all FLOP of the pair, and takes its time at the register peak in GFLOPS.
func (c *checker) explainedFLOP(p explainedPair, peak float64) {
	if peak == 0 {
		c.fail(p.path+"/predicted_speedup", "a prediction without a register peak", number(p.PredictedSpeedup),
			fmt.Sprintf("a %s entry for %s", peakFMA, coordinates(p.DType, p.Threads, "")))
		return
	}
	if folded := p.savedMS(p.Explained.FLOP) * peak * 1e6; folded > float64(p.FLOP)*(1+rounding) {
		c.fail(p.path+"/explained/flops_share", "more FLOP saved than the pair has, at the register peak", number(folded), fmt.Sprintf("less than %d", p.FLOP))
	}
}

// explainedTraffic: what traffic saves is what the bytes saved take at the rate of copy, in GB/s, on one of the levels.
func (c *checker) explainedTraffic(p explainedPair, copies map[schema.Level]float64) {
	bytes, share := float64(p.UnfusedBytes-p.FusedBytes), p.Explained.Traffic
	if share == 0 {
		if bytes > 0 {
			c.fail(p.path+"/explained/traffic_share", "bytes are saved that explain nothing", "0", "a share")
		}
		return
	}
	could, agrees := []string{}, false
	for _, level := range slices.Sorted(maps.Keys(copies)) {
		want := 1 + bytes/copies[level]/1e6/share/p.FusedLatencyMS
		agrees = agrees || near(p.PredictedSpeedup, want)
		could = append(could, fmt.Sprintf("%s in %s", number(want), level))
	}
	if !agrees {
		c.fail(p.path+"/predicted_speedup", "traffic_share of it is not the bytes saved at the rate of copy on a level", number(p.PredictedSpeedup),
			fmt.Sprintf("one of [%s] on %d threads", strings.Join(could, ", "), p.Threads))
	}
}

// explainedOverhead: it takes the same time to start an operation in all pairs that are on as many threads and launched
// alike. The one in the middle is believed.
func (c *checker) explainedOverhead(pairs []explainedPair) {
	type way struct {
		threads int
		launch  schema.LaunchMode
	}
	starts := map[way][]float64{} // in milliseconds
	for _, p := range pairs {
		if n := p.fewer(); n > 0 {
			w := way{p.Threads, p.Launch}
			starts[w] = append(starts[w], p.savedMS(p.Explained.Overhead)/float64(n))
		}
	}
	for _, all := range starts {
		slices.Sort(all)
	}
	for _, p := range pairs {
		saved := 0.0
		if all := starts[way{p.Threads, p.Launch}]; len(all) > 0 {
			saved = all[len(all)/2] * float64(p.fewer())
		}
		// Of the predicted speedup, so that the rounding of that does not count.
		got, want := 1+p.savedMS(p.Explained.Overhead)/p.FusedLatencyMS, 1+saved/p.FusedLatencyMS
		if !near(got, want) {
			c.fail(p.path+"/explained/overhead_share", fmt.Sprintf("%d operations less to start are not worth what they are in other pairs", p.fewer()),
				number(p.savedMS(p.Explained.Overhead))+" ms", number(saved)+" ms")
		}
	}
}
