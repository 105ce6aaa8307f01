package main

import (
	"fmt"
	"io"
	"strings"

	"hwcal/bench"
	"hwcal/bench/stat"
)

// printMeasurement prints an operation in the unit of its use: GFLOPS where it
// computes, GB/s where it only moves, nanoseconds a load for latency.
func printMeasurement(w io.Writer, p bench.Pattern, s bench.Shape, c bench.Case, m bench.Measurement) {
	rates := make([]float64, len(m.Seconds))
	unit, better := "GFLOPS", stat.Larger
	flop, bytes := float64(c.Chain.FLOP()), float64(c.Chain.FusedBytes(c.DType))
	for i, t := range m.Seconds {
		switch chase, loads := c.Chain[0].Params.(bench.ChaseParams); {
		case loads:
			rates[i], unit, better = t*1e9/float64(chase.Loads), "ns/load", stat.Smaller
		case p.Group == "memory":
			passes := c.Chain[0].Params.(bench.StreamParams).Passes
			rates[i], unit = bytes*float64(passes)/t/1e9, "GB/s"
		default:
			rates[i] = flop / t / 1e9
		}
	}
	r := stat.Summarize(rates, better)
	fmt.Fprintf(w, "%s %s %s, %s, %s: best %.4g %s, median %.4g in [%.4g, %.4g], n %d%s%s\n",
		p.Name, c.DType, s, c.Place, m.Implementation, r.Best, unit, r.Median, r.CILow, r.CIHigh, r.N,
		clockNote(m.ClockMHz), notes(m.Notes))
}

// printPair prints a pair on one line.
func printPair(w io.Writer, p bench.Pattern, s bench.Shape, c bench.Case, cmp bench.Comparison) {
	e := bench.FusionEntry(p, s, c, cmp)
	fmt.Fprintf(w, "%s %s %s, %s, %s: %s, speedup %.3f in [%.3f, %.3f], %d blocks, unfused %.4g ms, fused %.4g ms (%.4g GFLOPS), error %.2g%s%s\n",
		p.Name, c.DType, s, c.Place, cmp.Implementation, e.Verdict, e.Speedup, e.SpeedupCILow, e.SpeedupCIHigh, e.Blocks,
		e.UnfusedLatencyMS, e.FusedLatencyMS, e.FusedGFLOPS, e.MaxAbsError, clockNote(cmp.ClockMHz), notes(cmp.Notes))
}

func clockNote(mhz float64) string {
	if mhz == 0 {
		return ""
	}
	return fmt.Sprintf(", at %.0f MHz", mhz)
}

func notes(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}
