package profiles

import (
	"fmt"
	"math"
	"slices"

	"hwcal/schema"
)

// rate is FLOP over milliseconds in GFLOPS.
func rate(flop int64, ms float64) float64 { return float64(flop) / ms / 1e6 }

// checkGFLOPS: gflops = flops / latency_ms, sample by sample, so that the
// order turns around: the largest rate belongs to the smallest time.
func checkGFLOPS(c *checker) {
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			switch {
			case e.GFLOPS == nil && e.FLOP == 0:
				continue
			case e.GFLOPS == nil:
				c.fail(path, "gflops is missing for an operation with FLOP", "", "gflops of "+number(rate(e.FLOP, e.LatencyMS.Median)))
				continue
			case e.FLOP == 0:
				c.fail(path+"/gflops", "gflops of an operation without FLOP", number(e.GFLOPS.Median), "no gflops")
				continue
			}
			g, l := e.GFLOPS, e.LatencyMS
			if g.N != l.N {
				c.fail(path+"/gflops/n", "gflops.n = latency_ms.n does not hold", fmt.Sprint(g.N), fmt.Sprint(l.N))
			}
			for _, pair := range []struct {
				rate, time string
				got, ms    float64
			}{
				{"best", "best", g.Best, l.Best},
				{"max", "min", g.Max, l.Min},
				{"min", "max", g.Min, l.Max},
				{"ci_high", "ci_low", g.CIHigh, l.CILow},
				{"ci_low", "ci_high", g.CILow, l.CIHigh},
			} {
				if want := rate(e.FLOP, pair.ms); !near(pair.got, want) {
					c.differ(path+"/gflops/"+pair.rate, pair.got, want,
						fmt.Sprintf("gflops.%s = flops / latency_ms.%s", pair.rate, pair.time))
				}
			}
			lo, hi := medianRate(e.FLOP, l)
			if g.Median < lo*(1-rounding) || g.Median > hi*(1+rounding) {
				c.differ(path+"/gflops/median", g.Median, lo, "gflops.median = flops / latency_ms.median")
			}
		}
	}
}

// medianRate bounds the median rate by the median time. For odd n they are the
// same sample. For even n each is the mean of the two samples in the middle,
// m-d and m+d: the rate's is flops*m/(m^2-d^2), at least flops/m, and d is at
// most the distance from the median to the nearer end of its interval, which
// holds both.
func medianRate(flop int64, l schema.Stat) (lo, hi float64) {
	lo = rate(flop, l.Median)
	if l.N%2 == 1 {
		return lo, lo
	}
	m := l.Median
	d := max(0, min(m-l.CILow, l.CIHigh-m))
	return lo, lo * m * m / (m*m - d*d)
}

// checkIntensity: arithmetic intensity = flops / bytes where there are both,
// and absent elsewhere.
func checkIntensity(c *checker) {
	const formula = "arithmetic_intensity_flops_per_byte = flops / bytes"
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			path += "/arithmetic_intensity_flops_per_byte"
			got := e.ArithmeticIntensity
			switch want := float64(e.FLOP) / float64(e.Bytes); {
			case e.FLOP == 0 || e.Bytes == 0:
				if got != 0 {
					c.fail(path, "arithmetic intensity without flops or without bytes", number(got), "none")
				}
			case got == 0:
				c.fail(path, "arithmetic intensity is missing", "", number(want))
			case !near(got, want):
				c.differ(path, got, want, formula)
			}
		}
	}
}

// checkBoundBy: compute_bound at or above the ridge point, that of the level of traffic or else
// of the summary, memory_bound below. Within rounding of the ridge either is right.
func checkBoundBy(c *checker) {
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			if e.ComputeBound == nil && e.MemoryBound == nil {
				continue
			}
			if e.ComputeBound != nil && e.MemoryBound != nil && *e.ComputeBound == *e.MemoryBound {
				c.fail(path+"/memory_bound", "compute_bound and memory_bound exclude each other",
					fmt.Sprintf("both %t", *e.MemoryBound), "one true, one false")
				continue
			}
			// Without traffic nothing waits for memory, and without FLOP nothing else does.
			intensity := math.Inf(1)
			if e.Bytes > 0 {
				intensity = float64(e.FLOP) / float64(e.Bytes)
			}
			ridge, ok := d.Summary.RidgePoint[e.DType]
			if peak := c.peaks[peakKey{d, e.DType, e.Threads, e.CoreClass}]; e.Traffic != nil && peak > 0 {
				ridge, ok = peak/e.Traffic.CeilingGBps, true
			}
			if !ok && intensity > 0 && !math.IsInf(intensity, 1) {
				c.fail(path, fmt.Sprintf("bound named without a ridge point of %s to tell it by", e.DType),
					"", at+"/summary/ridge_point_flops_per_byte/"+string(e.DType))
				continue
			}
			if !math.IsInf(intensity, 1) && near(intensity, ridge) {
				continue
			}
			for _, b := range []struct {
				name string
				got  *bool
				want bool
			}{{"compute_bound", e.ComputeBound, intensity >= ridge}, {"memory_bound", e.MemoryBound, intensity < ridge}} {
				if b.got != nil && *b.got != b.want {
					c.fail(path+"/"+b.name,
						fmt.Sprintf("%s contradicts %s FLOP per byte against a ridge point of %s", b.name, number(intensity), number(ridge)),
						fmt.Sprint(*b.got), fmt.Sprint(b.want))
				}
			}
		}
	}
}

// checkPadding: what multiplies the padding of a convolution is a part of the FLOP and never all of it, since
// that part is not held against the register peak; without padding there is none.
func checkPadding(c *checker) {
	part := func(path, shape string, flop, padding int64) {
		most := flop - 1
		names, values, _ := dimensions(shape)
		if i := slices.Index(names, "padding"); i >= 0 && values[i] == "0" {
			most = 0
		}
		if padding > most {
			c.fail(path+"/padding_flops", "more FLOP on padding than there can be", fmt.Sprint(padding), fmt.Sprintf("at most %d", max(0, most)))
		}
	}
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			part(path, e.Shape, max(1, e.FLOP), e.PaddingFLOP)
		}
	}
	for path, f := range c.fusions() {
		part(path, f.Shape, f.FLOP, f.PaddingFLOP)
	}
}

// checkWritten: what is written is a part of the traffic.
func checkWritten(c *checker) {
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			if e.BytesWritten > e.Bytes {
				c.fail(path+"/bytes_written", "more bytes are written than moved", fmt.Sprint(e.BytesWritten), fmt.Sprintf("at most %d", e.Bytes))
			}
		}
	}
}
