package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"hwcal/bench"
	"hwcal/bench/stat"
	"hwcal/schema"
)

// benchRow is what bench tells of one case: an operation, or a pair of a fusion pattern, of which the
// rate is that of the fused kernel.
type benchRow struct {
	Operation      string       `json:"operation"`
	Implementation string       `json:"implementation"`
	DType          schema.DType `json:"dtype"`
	Shape          string       `json:"shape"`
	InputShape     []int64      `json:"input_shape"`
	Threads        int          `json:"threads,omitempty"`

	LatencyMS     *schema.Stat `json:"latency_ms,omitempty"`         // of one pass over the arrays of a kernel of bandwidth
	UnfusedMS     float64      `json:"unfused_latency_ms,omitempty"` // of a pair, whose sides have one time each
	FusedMS       float64      `json:"fused_latency_ms,omitempty"`
	Rate          float64      `json:"rate"`
	Unit          string       `json:"unit"` // of the rate: GFLOPS, GOPS, GB/s, samples/s or ns/load
	OpsPerSecond  float64      `json:"operations_per_second"`
	MemoryBytes   int64        `json:"memory_bytes"`    // of all tensors
	Level         schema.Level `json:"level,omitempty"` // in which the arrays of a kernel of bandwidth or latency lie
	Bound         string       `json:"bound_by,omitempty"`
	Ceiling       string       `json:"ceiling,omitempty"`
	Efficiency    float64      `json:"efficiency,omitempty"` // of the best sample, a share of the ceiling
	Class         string       `json:"class,omitempty"`
	ClockMHz      float64      `json:"effective_clock_mhz,omitempty"`
	MaxAbsError   *float64     `json:"max_abs_error,omitempty"`
	GFLOPSPerWatt float64      `json:"gflops_per_watt,omitempty"`
	Watts         float64      `json:"power_avg_watts,omitempty"`

	// Against is what the speedup compares with: the unfused operations, or another
	// implementation. Of a control it is the kind, and both sides are unfused.
	Against string         `json:"against,omitempty"`
	Speedup float64        `json:"speedup_factor,omitempty"`
	Low     float64        `json:"speedup_ci_low,omitempty"`
	High    float64        `json:"speedup_ci_high,omitempty"`
	Verdict schema.Verdict `json:"verdict,omitempty"`
	// Predicted is the speedup that what fusing saves would give; absent if a rate for that was not measured.
	Predicted float64 `json:"predicted_speedup,omitempty"`
	Reason    string  `json:"reason,omitempty"` // of the verdict

	Warnings []schema.Code `json:"warnings"`
	Notes    []string      `json:"notes"`
}

// warn adds what a measurement met to what the row has met.
func (r *benchRow) warn(codes []schema.Code, notes []string) {
	for i, code := range codes {
		if !slices.Contains(r.Warnings, code) {
			r.Warnings, r.Notes = append(r.Warnings, code), append(r.Notes, notes[i])
		}
	}
}

// classes of the share of the ceiling.
var classes = []struct {
	name  string
	least float64
}{{"excellent", 0.8}, {"good", 0.5}, {"fair", 0.2}, {"poor", 0}}

func classOf(efficiency float64) string {
	for _, c := range classes {
		if efficiency >= c.least {
			return c.name
		}
	}
	return ""
}

// operationRow is in the unit of what binds the operation.
func operationRow(e *schema.Compute, memory int64) benchRow {
	r := benchRow{
		Operation: e.Operation, Implementation: e.Implementation, DType: e.DType, Shape: e.Shape, InputShape: e.InputShape, Threads: e.Threads,
		LatencyMS: &e.LatencyMS, OpsPerSecond: 1e3 / e.LatencyMS.Median, MemoryBytes: memory,
		ClockMHz: e.EffectiveClockMHz, MaxAbsError: e.MaxAbsError, Warnings: e.Warnings, Notes: []string{},
	}
	if e.Energy != nil {
		r.GFLOPSPerWatt, r.Watts = e.Energy.GFLOPSPerWatt, e.Energy.AvgWatts
	}
	r.rate(e)
	return r
}

// rate sets the rate in the unit of what binds the operation, and what that is of its ceiling.
func (r *benchRow) rate(e *schema.Compute) {
	r.Bound = boundBy(e)
	switch {
	case e.Bytes > 0 && r.Bound != "compute":
		r.Rate, r.Unit = float64(e.Bytes)/e.LatencyMS.Best/1e6, "GB/s"
		if t := e.Traffic; t != nil {
			r.Efficiency, r.Ceiling = t.PeakGBps/t.CeilingGBps, fmt.Sprintf("%s %s", t.Level, t.CeilingOf)
		}
	case e.GFLOPS != nil:
		r.Rate, r.Unit = e.GFLOPS.Best, e.DType.RateUnit()
		if e.Efficiency > 0 {
			r.Efficiency, r.Ceiling = e.Efficiency, "peak_fma"
		}
	}
	if r.Efficiency > 0 {
		r.Class = classOf(r.Efficiency)
	}
}

// memoryRow is that of a kernel of bandwidth or latency, named as that of the level in which its working set lies.
func memoryRow(p bench.Pattern, s bench.Shape, c bench.Case, m bench.Measurement, level func(bytes int64) schema.Level) benchRow {
	passes := 1.0
	stream, isStream := c.Chain[0].Params.(bench.StreamParams)
	if isStream {
		passes = float64(stream.Passes)
	}
	ms := make([]float64, len(m.Seconds))
	for i, t := range m.Seconds {
		ms[i] = t * 1e3 / passes
	}
	latency := stat.Summarize(ms, stat.Smaller)
	r := benchRow{
		Operation: p.Name, Implementation: m.Implementation, DType: c.DType, Shape: s.String(), InputShape: s.Values(), Threads: c.Place.Threads,
		LatencyMS: &latency, OpsPerSecond: 1e3 / latency.Median, MemoryBytes: c.Chain.FusedBytes(c.DType), ClockMHz: m.ClockMHz,
		Warnings: append([]schema.Code{}, m.Warnings...), Notes: append([]string{}, m.Notes...),
	}
	if isStream {
		bytes := stream.Traffic / stream.Passes
		r.Rate, r.Unit, r.Level = float64(bytes)/latency.Best/1e6, "GB/s", level(bytes)
	} else {
		r.Level = level(r.MemoryBytes)
		r.Rate, r.Unit = latency.Best*1e6/float64(c.Chain[0].Params.(bench.ChaseParams).Loads), "ns/load"
	}
	return r
}

// samplesPerSecond is the unit of networks: images or sequences.
const samplesPerSecond = "samples/s"

// pairRow is that of a fusion pattern, of which fused describes the fused side.
func pairRow(e *schema.Fusion, fused *schema.Compute, memory int64) benchRow {
	r := comparedRow(e, memory)
	r.Against, r.Predicted = "unfused", e.PredictedSpeedup
	r.rate(fused)
	if e.FusedSamplesPerSecond > 0 {
		r.Rate, r.Unit = e.FusedSamplesPerSecond, samplesPerSecond
	}
	return r
}

// controlRow is that of a control, for which no ceilings are measured.
func controlRow(p bench.Pattern, s bench.Shape, c bench.Case, cmp bench.Comparison) benchRow {
	e := bench.FusionEntry(p, s, c, cmp)
	r := comparedRow(&e, c.Footprint())
	r.Rate, r.Unit = e.FusedGFLOPS, c.DType.RateUnit()
	r.Notes = append(r.Notes, cmp.Notes...)
	return r
}

// comparedRow has what pairs and controls share. A pair has one time for a side.
func comparedRow(e *schema.Fusion, memory int64) benchRow {
	return benchRow{
		Operation: e.Pattern, Implementation: e.Implementation, DType: e.DType, Shape: e.Shape, InputShape: e.InputShape, Threads: e.Threads,
		UnfusedMS: e.UnfusedLatencyMS, FusedMS: e.FusedLatencyMS, OpsPerSecond: 1e3 / e.FusedLatencyMS, MemoryBytes: memory,
		ClockMHz: e.EffectiveClockMHz, MaxAbsError: &e.MaxAbsError,
		Speedup: e.Speedup, Low: e.SpeedupCILow, High: e.SpeedupCIHigh, Verdict: e.Verdict, Reason: e.Reason,
		Warnings: e.Warnings, Notes: []string{},
	}
}

// formats write rows.
var formats = []struct {
	name  string
	write func(io.Writer, []benchRow) error
}{
	{"table", writeTable},
	{"json", func(w io.Writer, rows []benchRow) error { return writeJSON(w, rows) }},
	{"csv", writeCSV},
}

func formatNames() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// writeTable prints the rows for a person, with what they do not share of the notes below.
func writeTable(w io.Writer, rows []benchRow) error {
	p := newPage(w)
	columns := []column{words("operation"), words("implementation"), words("dtype"), words("shape"), words("threads")}
	ms := []string{"mean", "std", "min", "median", "max"}
	for _, name := range ms {
		columns = append(columns, numbers(name))
	}
	columns = append(columns, numbers("best"), words("unit"), numbers("op/s"), numbers("memory"), words("level"), numbers("of"), words("ceiling"), words("class"),
		numbers("speedup"), words("interval"), words("over"), words("verdict"))
	g := newGrid(columns...)
	g.groups = make([]string, len(columns))
	for i := range ms {
		g.groups[5+i] = "latency ms"
	}
	for _, r := range rows {
		share, speedup, within := absent, absent, absent
		if r.Efficiency > 0 {
			share = percent(r.Efficiency)
		}
		if r.Speedup > 0 {
			speedup, within = ratio(r.Speedup), fmt.Sprintf("[%s,%s]", ratio(r.Low), ratio(r.High))
		}
		times := []any{absent, absent, absent, figure(r.FusedMS), absent}
		if l := r.LatencyMS; l != nil {
			times = []any{figure(l.Mean), figure(l.Std), figure(l.Min), figure(l.Median), figure(l.Max)}
		}
		g.row(append(append([]any{r.Operation, r.Implementation, r.DType, dims(r.InputShape), threadNumber(r.Threads)}, times...),
			figure(r.Rate), r.Unit, figure(r.OpsPerSecond), capacity(r.MemoryBytes), r.Level, share, r.Ceiling, r.Class, speedup, within, r.Against, r.Verdict)...)
	}
	g.dropEmpty()
	width := p.width
	p.width = widestRow
	p.grid(g)
	p.width = width
	for _, r := range rows {
		notes := r.Notes
		if r.Reason != "" {
			notes = append([]string{r.Reason}, notes...)
		}
		for _, note := range notes {
			p.item("%s %s %s, %s: %s", r.Operation, r.DType, dims(r.InputShape), r.Implementation, note)
		}
	}
	_, err := p.WriteTo(w)
	return err
}

// widestRow: a table with so many columns is not wrapped to a terminal.
const widestRow = 300

// writeCSV writes a line a row, with the names of the fields as JSON has them above.
func writeCSV(w io.Writer, rows []benchRow) error {
	out := csv.NewWriter(w)
	header := []string{
		"operation", "implementation", "dtype", "shape", "threads",
		"n", "mean_ms", "std_ms", "min_ms", "median_ms", "max_ms", "unfused_latency_ms", "fused_latency_ms",
		"rate", "unit", "operations_per_second", "memory_bytes", "level", "bound_by", "ceiling", "efficiency", "class",
		"effective_clock_mhz", "max_abs_error", "power_avg_watts", "gflops_per_watt",
		"against", "speedup_factor", "speedup_ci_low", "speedup_ci_high", "verdict", "predicted_speedup", "reason", "warnings",
	}
	if err := out.Write(header); err != nil {
		return err
	}
	number := func(x float64) string {
		if x == 0 {
			return "" // unmeasured
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	for _, r := range rows {
		times, off := make([]string, 6), ""
		if l := r.LatencyMS; l != nil {
			times = []string{strconv.Itoa(l.N), number(l.Mean), strconv.FormatFloat(l.Std, 'g', -1, 64), number(l.Min), number(l.Median), number(l.Max)}
		}
		if r.MaxAbsError != nil {
			off = strconv.FormatFloat(*r.MaxAbsError, 'g', -1, 64)
		}
		threads := ""
		if r.Threads > 0 {
			threads = strconv.Itoa(r.Threads)
		}
		if err := out.Write(slices.Concat([]string{r.Operation, r.Implementation, string(r.DType), r.Shape, threads}, times, []string{
			number(r.UnfusedMS), number(r.FusedMS),
			number(r.Rate), r.Unit, number(r.OpsPerSecond), strconv.FormatInt(r.MemoryBytes, 10), string(r.Level), r.Bound, r.Ceiling, number(r.Efficiency), r.Class,
			number(r.ClockMHz), off, number(r.Watts), number(r.GFLOPSPerWatt),
			r.Against, number(r.Speedup), number(r.Low), number(r.High), string(r.Verdict), number(r.Predicted), r.Reason, join(r.Warnings, " "),
		})); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
