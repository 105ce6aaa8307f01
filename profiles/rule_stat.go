package profiles

import (
	"fmt"
	"iter"
	"math"

	"hwcal/schema"
)

// stats yields every distribution of the profile; rate says that more is
// better, so that the best is the largest.
func (c *checker) stats() iter.Seq2[string, statOf] {
	return func(yield func(string, statOf) bool) {
		for at, d := range c.eachDevice() {
			for path, e := range computes(at, d) {
				if !yield(path+"/latency_ms", statOf{&e.LatencyMS, false}) {
					return
				}
				if e.GFLOPS != nil && !yield(path+"/gflops", statOf{e.GFLOPS, true}) {
					return
				}
			}
			for i := range d.Bandwidth {
				if !yield(fmt.Sprintf("%s/bandwidth/%d/gbps", at, i), statOf{&d.Bandwidth[i].GBps, true}) {
					return
				}
			}
			for i := range d.Latency {
				if !yield(fmt.Sprintf("%s/latency/%d/nanoseconds", at, i), statOf{&d.Latency[i].Nanoseconds, false}) {
					return
				}
			}
			for i := range d.Launch {
				if !yield(fmt.Sprintf("%s/launch/%d/microseconds", at, i), statOf{&d.Launch[i].Microseconds, false}) {
					return
				}
			}
			for i := range d.NUMA {
				path := fmt.Sprintf("%s/numa/%d", at, i)
				if !yield(path+"/gbps", statOf{&d.NUMA[i].GBps, true}) || !yield(path+"/nanoseconds", statOf{&d.NUMA[i].Nanoseconds, false}) {
					return
				}
			}
		}
	}
}

type statOf struct {
	*schema.Stat
	rate bool
}

// checkStatOrder: min <= ci_low <= median <= ci_high <= max. All five are
// samples or the mean of two of them, so rounding does not reorder them.
func checkStatOrder(c *checker) {
	for path, s := range c.stats() {
		order := []struct {
			name  string
			value float64
		}{{"min", s.Min}, {"ci_low", s.CILow}, {"median", s.Median}, {"ci_high", s.CIHigh}, {"max", s.Max}}
		for i := 1; i < len(order); i++ {
			if lo, hi := order[i-1], order[i]; lo.value > hi.value {
				c.fail(path+"/"+hi.name, fmt.Sprintf("%s <= %s does not hold", lo.name, hi.name),
					exact(hi.value), "at least "+exact(lo.value))
			}
		}
	}
}

// checkStatInterval: the interval of too few samples holds all of them.
func checkStatInterval(c *checker) {
	for path, s := range c.stats() {
		if s.N >= leastSamples {
			continue
		}
		if s.CILow != s.Min {
			c.fail(path+"/ci_low", fmt.Sprintf("ci_low = min of %d samples does not hold", s.N), exact(s.CILow), exact(s.Min))
		}
		if s.CIHigh != s.Max {
			c.fail(path+"/ci_high", fmt.Sprintf("ci_high = max of %d samples does not hold", s.N), exact(s.CIHigh), exact(s.Max))
		}
	}
}

// exact prints every digit, for rules without a tolerance.
func exact(f float64) string { return fmt.Sprint(f) }

// checkStatBest: best is the smallest of times and the largest of rates.
func checkStatBest(c *checker) {
	for path, s := range c.stats() {
		want, formula := s.Min, "best = min (of times)"
		if s.rate {
			want, formula = s.Max, "best = max (of rates)"
		}
		if !near(s.Best, want) {
			c.differ(path+"/best", s.Best, want, formula)
		}
	}
}

// checkStatSpread: the mean lies between the extremes, and the standard
// deviation is one that n samples with these extremes can have. Of n samples
// with range R the smallest has two at the ends and the rest in the middle,
// R / sqrt(2(n-1)); the largest has half of them at either end,
// R/2 * sqrt(n/(n-1)).
func checkStatSpread(c *checker) {
	for path, s := range c.stats() {
		slack := rounding * s.Max
		if s.Mean < s.Min-slack || s.Mean > s.Max+slack {
			c.fail(path+"/mean", "mean outside of the samples", number(s.Mean),
				fmt.Sprintf("%s to %s", number(s.Min), number(s.Max)))
		}
		if s.N == 1 {
			if s.Std != 0 || s.Min != s.Max {
				c.fail(path+"/n", "one sample has no spread",
					fmt.Sprintf("std %s, min %s, max %s", number(s.Std), exact(s.Min), exact(s.Max)), "std 0, min = max")
			}
			continue
		}
		n, r := float64(s.N), s.Max-s.Min
		least, most := r/math.Sqrt(2*(n-1)), r/2*math.Sqrt(n/(n-1))
		if s.Std < least-slack || s.Std > most+slack {
			c.fail(path+"/std", "std cannot come from these samples", number(s.Std),
				fmt.Sprintf("%s to %s for %d samples between min and max", number(least), number(most), s.N))
		}
	}
}
