package schema

import (
	"cmp"
	"slices"
)

// Stat is the distribution of one figure over its samples, in the unit of its
// field. Best is the smallest of times and the largest of rates. The interval
// is that of the median, at 95%, from binomial order statistics.
type Stat struct {
	N      int     `json:"n" jsonschema:"minimum=1" jsonschema_description:"Number of samples."`
	Best   float64 `json:"best" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Best sample, in the unit of the field: smallest of times, largest of rates."`
	Median float64 `json:"median" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Median, in the unit of the field."`
	Mean   float64 `json:"mean" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Arithmetic mean, in the unit of the field."`
	Std    float64 `json:"std" jsonschema:"minimum=0" jsonschema_description:"Standard deviation of the samples (n - 1), in the unit of the field; 0 for one sample."`
	Min    float64 `json:"min" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Smallest sample, in the unit of the field."`
	Max    float64 `json:"max" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Largest sample, in the unit of the field."`
	CILow  float64 `json:"ci_low" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Lower end of the 95% interval of the median, of independent samples, in the unit of the field; the minimum if n is too small for one (below 6)."`
	CIHigh float64 `json:"ci_high" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Upper end of the 95% interval of the median, of independent samples, in the unit of the field; the maximum if n is too small for one (below 6)."`
}

// Compute is one measured operation. All entries of one operation, dtype and number
// of threads are a curve over the shape, to interpolate; those of one shape are a
// curve over the number of threads.
type Compute struct {
	Operation           string   `json:"operation" jsonschema:"minLength=1" jsonschema_description:"Name of the operation: peak_fma, matmul, matmul_packed (the right-hand side packed before the run), matmul_batched, or another."`
	DType               DType    `json:"dtype"`
	Implementation      string   `json:"implementation" jsonschema:"minLength=1" jsonschema_description:"Kernel that was measured."`
	Threads             int      `json:"threads,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of pinned threads (CPU); absent for a device that is not divided into threads."`
	CoreClass           string   `json:"core_class,omitempty" jsonschema_description:"Class of the cores that ran it, on hybrid machines."`
	Shape               string   `json:"shape,omitempty" jsonschema_description:"Shape in words, e.g. m=512 n=1024 k=1024."`
	InputShape          []int64  `json:"input_shape,omitempty" jsonschema_description:"Shape as numbers, in the order of the words in shape: m, n, k for matmul and matmul_packed; batch, m, n, k for matmul_batched; batch, seq, dim for most others."`
	FLOP                int64    `json:"flops" jsonschema:"minimum=0" jsonschema_description:"FLOP (a count) of one execution."`
	PaddingFLOP         int64    `json:"padding_flops,omitempty" jsonschema:"minimum=1" jsonschema_description:"Those of flops (a count) that multiply the padding of a convolution, which a kernel may leave out; absent if there are none. The register peak bounds the rate of the others."`
	Bytes               int64    `json:"bytes" jsonschema:"minimum=0" jsonschema_description:"Compulsory traffic of one execution in bytes; 0 for kernels that stay in registers."`
	BytesWritten        int64    `json:"bytes_written,omitempty" jsonschema:"minimum=1" jsonschema_description:"Those of bytes that are written; absent if there are none."`
	ArithmeticIntensity float64  `json:"arithmetic_intensity_flops_per_byte,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"flops / bytes in FLOP per byte; absent if there is no traffic."`
	LatencyMS           Stat     `json:"latency_ms" jsonschema_description:"Time of one execution in milliseconds."`
	GFLOPS              *Stat    `json:"gflops,omitempty" jsonschema_description:"Rate in GFLOPS (1e9 FLOP per second; GOPS for int8); absent for operations without FLOP."`
	Efficiency          float64  `json:"efficiency,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Best gflops, without what multiplies padding, / register peak of the dtype with the same number of threads and class (a share); above 1 is kept and flagged."`
	ComputeBound        *bool    `json:"compute_bound,omitempty" jsonschema_description:"Whether the arithmetic intensity is at or above the measured ridge point: the register peak over the ceiling of the level of traffic, or without that over the memory bandwidth of the summary."`
	MemoryBound         *bool    `json:"memory_bound,omitempty" jsonschema_description:"Whether the arithmetic intensity is below that ridge point."`
	Traffic             *Traffic `json:"traffic,omitempty" jsonschema_description:"What it moves against what the level of its data does; absent if there is no traffic, or if the level was not measured."`
	Energy              *Energy  `json:"energy,omitempty" jsonschema_description:"What the meters of the device counted meanwhile; absent without a meter, if the case was too short for it, or if a counter could not be read or was set back."`
	EffectiveClockMHz   float64  `json:"effective_clock_mhz,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Clock measured beside the case in MHz."`
	MaxAbsError         *float64 `json:"max_abs_error,omitempty" jsonschema:"minimum=0" jsonschema_description:"Largest absolute difference from the float64 reference over the elements verified, in the unit of the result."`
	Warnings            []Code   `json:"warnings" jsonschema_description:"Codes of the guards that the figure met."`
}

// Traffic is what an operation moves against what the level does in which its data lives.
type Traffic struct {
	Level           Level   `json:"level"`
	TransfersGB     float64 `json:"memory_transfers_gb" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Compulsory traffic of one execution in GB (1e9 bytes)."`
	AvgGBps         float64 `json:"avg_bandwidth_gbps" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Traffic over the mean latency in GB/s (1e9 bytes per second)."`
	PeakGBps        float64 `json:"peak_bandwidth_gbps" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Traffic over the best latency in GB/s (1e9 bytes per second)."`
	CeilingGBps     float64 `json:"ceiling_bandwidth_gbps" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Best kernel of bandwidth on the level with the same number of threads in GB/s (1e9 bytes per second); where less than a twentieth of bytes are written, of those that only read, if there are any."`
	CeilingOf       string  `json:"ceiling_pattern" jsonschema:"minLength=1" jsonschema_description:"Name of that kernel."`
	TheoreticalGBps float64 `json:"theoretical_bandwidth_gbps,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Theoretical bandwidth in GB/s (1e9 bytes per second), of memory where it is known."`
	Utilization     float64 `json:"bandwidth_utilization_percent" jsonschema:"exclusiveMinimum=0" jsonschema_description:"peak_bandwidth_gbps / ceiling_bandwidth_gbps, a share in percent; above 100 is kept."`
}

// Energy is what the meters of the device counted while a case was executed again and
// again.
type Energy struct {
	WindowSeconds float64  `json:"window_seconds" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Length of the window in seconds."`
	Executions    float64  `json:"executions" jsonschema:"minimum=1" jsonschema_description:"Number of executions in it."`
	Meters        []string `json:"meters" jsonschema:"minItems=1" jsonschema_description:"Names of the meters whose sum it is; none counts what another counts."`
	Joules        float64  `json:"energy_joules" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Energy of the window in joules; what the device takes while idle is not subtracted."`
	AvgWatts      float64  `json:"power_avg_watts" jsonschema:"exclusiveMinimum=0" jsonschema_description:"energy_joules / window_seconds in watts."`
	MaxWatts      float64  `json:"power_max_watts,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Highest average over a part of the window, each as long as the meter needs, in watts; absent if there was only one."`
	OpsPerWatt    float64  `json:"ops_per_watt" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Executions per second and watt: executions / energy_joules."`
	GFLOPSPerWatt float64  `json:"gflops_per_watt,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"GFLOPS (1e9 FLOP per second) per watt over the window; absent without FLOP."`
	GBpsPerWatt   float64  `json:"throughput_per_watt,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"GB/s (1e9 bytes per second) per watt over the window; absent without traffic."`
	Celsius       float64  `json:"temperature_celsius,omitempty" jsonschema_description:"Temperature at the end of the window, a number of degrees Celsius; absent where it cannot be read."`
}

// LatencyTable is the time of an operation over what it moves: points to interpolate, and a line that
// tells overhead from traffic.
type LatencyTable struct {
	Operation string         `json:"operation" jsonschema:"minLength=1" jsonschema_description:"Name of the operation."`
	DType     DType          `json:"dtype"`
	Threads   int            `json:"threads,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of pinned threads (CPU); absent for a device that is not divided into threads."`
	Points    []LatencyPoint `json:"points" jsonschema:"minItems=3" jsonschema_description:"Median times of operation_profiles, sorted by bytes. Interpolate between these for the time at another size."`
	// The line is latency = overhead + bytes / rate, by least squares of the relative deviation.
	OverheadUS    float64 `json:"overhead_microseconds,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Intercept of the straight line through the points (least squares of the relative deviations, neither intercept nor slope below 0) in microseconds: what a call or launch costs; absent where it is 0."`
	IncrementGBps float64 `json:"incremental_gbps,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"1 / slope of that line in GB/s (1e9 bytes per second); absent where the slope is 0."`
	Deviation     float64 `json:"largest_deviation" jsonschema:"minimum=0" jsonschema_description:"Largest relative deviation of a point from that line (a share): tens of percent where the points are in several levels of memory, so that the line does not tell times."`
}

// LatencyPoint is one shape of an operation.
type LatencyPoint struct {
	InputShape []int64 `json:"input_shape" jsonschema:"minItems=1" jsonschema_description:"Shape as numbers, in the order of the words in shape of the entry in operation_profiles."`
	Bytes      int64   `json:"bytes" jsonschema:"minimum=1" jsonschema_description:"Compulsory traffic of one execution in bytes."`
	LatencyMS  float64 `json:"latency_ms" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Median time of one execution in milliseconds."`
}

// Bandwidth is the rate of one kernel on one working set.
type Bandwidth struct {
	Level             Level   `json:"level"`
	Pattern           string  `json:"pattern" jsonschema:"minLength=1" jsonschema_description:"Kernel: read, read4, write, write_nt, copy, copy_nt, copy_nt4, scale, add, triad, triad_nt (4: in four streams, nt: non-temporal); on the level host_link host_to_device, device_to_host. Bytes are STREAM's: write-allocate is not counted; of a link what crosses it."`
	Implementation    string  `json:"implementation" jsonschema:"minLength=1" jsonschema_description:"Kernel that was measured."`
	Threads           int     `json:"threads,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of pinned threads (CPU); absent for a device that is not divided into threads."`
	WorkingSetBytes   int64   `json:"working_set_bytes" jsonschema:"minimum=1" jsonschema_description:"Bytes touched by all threads together: one array of read and write, two of copy and scale, three of add and triad. Of read each level has several, the points of its curve; that on which the other kernels were measured is that of write."`
	GBps              Stat    `json:"gbps" jsonschema_description:"Rate in GB/s (1e9 bytes per second)."`
	EffectiveClockMHz float64 `json:"effective_clock_mhz,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Clock measured beside the case in MHz."`
	Warnings          []Code  `json:"warnings" jsonschema_description:"Codes of the guards that the figure met."`
}

// Credence says how far a rate of bandwidth may stand for its level.
type Credence int

const (
	Refuted Credence = iota // a guard showed that it cannot be the rate of the level
	Apart                   // the host had moved a worker away, to a cache or a memory of its own
	Sound
)

// Credence of the rate, by its warnings.
func (b *Bandwidth) Credence() Credence {
	switch {
	case slices.Contains(b.Warnings, Implausible) || slices.Contains(b.Warnings, Cached):
		return Refuted
	case slices.Contains(b.Warnings, WorkersApart):
		return Apart
	}
	return Sound
}

// Better says whether b is more credible than the other rate, or as credible and higher.
func (b *Bandwidth) Better(than *Bandwidth) bool {
	return cmp.Or(cmp.Compare(b.Credence(), than.Credence()), cmp.Compare(b.GBps.Best, than.GBps.Best)) > 0
}

// Ceiling is the best of the entries for which `of` holds: the bound on other traffic there. It is nil if all are refuted.
func Ceiling(entries []Bandwidth, of func(*Bandwidth) bool) *Bandwidth {
	var best *Bandwidth
	for i := range entries {
		if b := &entries[i]; of(b) && b.Credence() > Refuted && (best == nil || b.Better(best)) {
			best = b
		}
	}
	return best
}

// Latency is the time of one dependent load.
type Latency struct {
	Level           Level  `json:"level"`
	WorkingSetBytes int64  `json:"working_set_bytes" jsonschema:"minimum=1" jsonschema_description:"Bytes over which the random pointer chase runs."`
	PageBytes       int64  `json:"page_bytes,omitempty" jsonschema:"minimum=1" jsonschema_description:"Size of the pages behind them in bytes, of 95 in 100 at least; absent for a mix, and where nothing tells (GPU)."`
	Nanoseconds     Stat   `json:"nanoseconds" jsonschema_description:"Time of one load in nanoseconds."`
	Warnings        []Code `json:"warnings" jsonschema_description:"Codes of the guards that the figure met."`
}

// LaunchCost is the time that the device takes for a kernel that does nothing, one behind
// the other.
type LaunchCost struct {
	Mode         LaunchMode `json:"mode"`
	Microseconds Stat       `json:"microseconds" jsonschema_description:"Time of one launch in microseconds."`
	Warnings     []Code     `json:"warnings" jsonschema_description:"Codes of the guards that the figure met."`
}

// NUMAPath is what the cores of a NUMA node get from the memory of a node.
type NUMAPath struct {
	Node            int    `json:"node" jsonschema:"minimum=0" jsonschema_description:"Number of the node of the cores, as cpu.numa_nodes gives it."`
	MemoryNode      int    `json:"memory_node" jsonschema:"minimum=0" jsonschema_description:"Number of the node of the memory: local if it is that of the cores, else remote."`
	Threads         int    `json:"threads" jsonschema:"minimum=1" jsonschema_description:"Number of pinned threads that read: all that are used of the node."`
	WorkingSetBytes int64  `json:"working_set_bytes" jsonschema:"minimum=1" jsonschema_description:"Bytes read by all threads together."`
	GBps            Stat   `json:"gbps" jsonschema_description:"Rate of the kernel read in GB/s (1e9 bytes per second)."`
	ChaseBytes      int64  `json:"chase_bytes" jsonschema:"minimum=1" jsonschema_description:"Bytes over which the random pointer chase of the latency runs, on one thread, and on huge pages where the system gives any."`
	Nanoseconds     Stat   `json:"nanoseconds" jsonschema_description:"Time of one load of the chase in nanoseconds."`
	Warnings        []Code `json:"warnings" jsonschema_description:"Codes of the guards that the figures met."`
}

// Fusion compares a chain of operations run one by one with one fused kernel, or with one of each part
// of a network.
type Fusion struct {
	Pattern        string     `json:"fusion_pattern" jsonschema:"minLength=1" jsonschema_description:"Name of the pattern."`
	Group          string     `json:"group" jsonschema:"enum=linear,enum=conv,enum=attention,enum=elementwise,enum=network" jsonschema_description:"Group of the pattern."`
	Operators      []string   `json:"operators" jsonschema:"minItems=2" jsonschema_description:"Operations of the chain in order."`
	DType          DType      `json:"dtype"`
	Implementation string     `json:"implementation" jsonschema:"minLength=1" jsonschema_description:"Fused kernel that was measured, or all of a network's, each once; the unfused side shares its micro-kernel."`
	Threads        int        `json:"threads,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of pinned threads (CPU); absent for a device that is not divided into threads."`
	Cache          CacheState `json:"cache"`
	Launch         LaunchMode `json:"launch,omitempty"`
	Shape          string     `json:"shape" jsonschema:"minLength=1" jsonschema_description:"Shape in words."`
	InputShape     []int64    `json:"input_shape" jsonschema:"minItems=1" jsonschema_description:"Shape as numbers, in the order of the words in shape."`

	UnfusedLatencyMS float64 `json:"unfused_latency_ms" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Fastest unfused sample of the block whose ratio is the median (of an even number of blocks, geometric mean of the middle two), in milliseconds."`
	UnfusedGFLOPS    float64 `json:"unfused_gflops" jsonschema:"exclusiveMinimum=0" jsonschema_description:"flops / unfused_latency_ms in GFLOPS (1e9 FLOP per second)."`
	UnfusedBytes     int64   `json:"unfused_bytes" jsonschema:"minimum=1" jsonschema_description:"Bytes that the operations read and write one by one."`
	FusedLatencyMS   float64 `json:"fused_latency_ms" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Fastest fused sample of the same block, in milliseconds: unfused_latency_ms / fused_latency_ms is speedup_factor."`
	FusedGFLOPS      float64 `json:"fused_gflops" jsonschema:"exclusiveMinimum=0" jsonschema_description:"flops / fused_latency_ms in GFLOPS (1e9 FLOP per second)."`
	FusedBytes       int64   `json:"fused_bytes" jsonschema:"minimum=1" jsonschema_description:"Bytes of the chain's own inputs and outputs, or of those of all parts."`

	UnfusedSamplesPerSecond float64  `json:"unfused_samples_per_second,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Of a network: number of samples (images or sequences, as many as the batch) per second, unfused: batch / unfused_latency_ms."`
	FusedSamplesPerSecond   float64  `json:"fused_samples_per_second,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Of a network: number of samples per second, fused: batch / fused_latency_ms."`
	Parts                   []string `json:"parts,omitempty" jsonschema:"minItems=2" jsonschema_description:"Of a network: the chains that the fused side executes in order, each in one kernel; from the front on the longest for which there is one. Absent where one kernel computes the whole chain."`

	Speedup           float64    `json:"speedup_factor" jsonschema:"exclusiveMinimum=0" jsonschema_description:"exp of the median over blocks of ln(unfused / fused): a ratio, above 1 the fused kernel is faster."`
	SpeedupCILow      float64    `json:"speedup_ci_low" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Lower end of the interval of the speedup (a ratio): at 95%, all looks of the stopping rule together, of the median over independent blocks and layouts in memory; at 90% where only five layouts fit."`
	SpeedupCIHigh     float64    `json:"speedup_ci_high" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Upper end of the interval of the speedup (a ratio): at 95%, all looks of the stopping rule together, of the median over independent blocks and layouts in memory; at 90% where only five layouts fit."`
	Blocks            int        `json:"blocks" jsonschema:"minimum=1" jsonschema_description:"Number of blocks, each of one to four quads of samples in the order ABBA or BAAB, and of twice as many after each look that decided nothing."`
	MemoryReduction   float64    `json:"memory_reduction" jsonschema:"minimum=0,maximum=1" jsonschema_description:"1 - fused_bytes / unfused_bytes (a share)."`
	GFLOPSImprovement float64    `json:"gflops_improvement" jsonschema_description:"speedup_factor - 1 (a share)."`
	PredictedSpeedup  float64    `json:"predicted_speedup,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Speedup (a ratio) that what fusing saves would give at the measured rates: fused_latency_ms and the saved time, over fused_latency_ms; absent without them."`
	Explained         *Explained `json:"explained,omitempty" jsonschema_description:"Where the predicted saving comes from; absent if there is none."`

	ExtraParams       map[string]int64 `json:"extra_params" jsonschema_description:"Dimensions of the case by name: m, n, k; kernel_size, stride, padding, groups; batch, heads, seq, head_dim."`
	FLOP              int64            `json:"flops" jsonschema:"minimum=1" jsonschema_description:"FLOP (a count) of the unfused, mathematical definition; both sides use it."`
	PaddingFLOP       int64            `json:"padding_flops,omitempty" jsonschema:"minimum=1" jsonschema_description:"Those of flops (a count) that multiply the padding of a convolution, which a kernel may leave out; absent if there are none. The register peak bounds the rate of the others."`
	Verdict           Verdict          `json:"verdict"`
	Reason            string           `json:"reason" jsonschema:"minLength=1" jsonschema_description:"The verdict, a colon and its grounds in a sentence, with the figures."`
	MaxAbsError       float64          `json:"max_abs_error" jsonschema:"minimum=0" jsonschema_description:"Largest absolute difference of the fused or unfused result from the float64 reference over the elements verified, in the unit of the result."`
	EffectiveClockMHz float64          `json:"effective_clock_mhz,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Clock measured beside the case in MHz."`
	Warnings          []Code           `json:"warnings" jsonschema_description:"Codes of the guards that the pair met."`
}

// WithoutPadding is the part of one of the rates that the register peak bounds.
func (f *Fusion) WithoutPadding(gflops float64) float64 {
	return gflops * float64(f.FLOP-f.PaddingFLOP) / float64(f.FLOP)
}

// OnlyReads says whether less than a twentieth of the traffic is written. The ceiling is then that of the bandwidth
// kernels that only read: a core may move more by reads and writes together than by either alone.
func (c *Compute) OnlyReads() bool { return c.BytesWritten > 0 && 20*c.BytesWritten < c.Bytes }

// ReadKernel says whether a kernel of bandwidth only reads.
func ReadKernel(pattern string) bool { return pattern == "read" || pattern == "read4" }

// WithoutPadding is the part of the rate that the register peak bounds.
func (c *Compute) WithoutPadding(gflops float64) float64 {
	return gflops * float64(c.FLOP-c.PaddingFLOP) / float64(c.FLOP)
}

// Explained divides the time that fusing is predicted to save.
type Explained struct {
	FLOP     float64 `json:"flops_share" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Share of the predicted saving that comes from FLOP that the fused kernel does not compute, as those of a folded batch norm."`
	Traffic  float64 `json:"traffic_share" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Share that comes from bytes that the fused kernel neither reads nor writes, at the rate of the kernel copy on the level in which they live."`
	Overhead float64 `json:"overhead_share" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Share that comes from operations that need not be started."`
}

// Quality is what is known of the trustworthiness of the verdicts of a run.
type Quality struct {
	Passed   bool      `json:"passed" jsonschema_description:"Whether a control passed and none failed. If not, all verdicts of the device are inconclusive."`
	Controls []Control `json:"controls" jsonschema:"minItems=1" jsonschema_description:"Trials whose outcome is known, measured among the pairs."`
}

// ControlsPassed says whether controls vouch for the verdicts beside them: one passed, and none failed. The measuring
// side and validation share it.
func ControlsPassed(controls []Control) bool {
	passed := false
	for _, k := range controls {
		switch k.Outcome {
		case ControlPassed:
			passed = true
		case ControlFailed:
			return false
		}
	}
	return passed
}

// Control is a pair whose outcome is known.
type Control struct {
	Kind          ControlKind    `json:"kind"`
	Pattern       string         `json:"fusion_pattern" jsonschema:"minLength=1" jsonschema_description:"Name of the pattern whose unfused operations are both sides."`
	DType         DType          `json:"dtype"`
	Threads       int            `json:"threads,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of pinned threads (CPU); absent for a device that is not divided into threads."`
	Shape         string         `json:"shape" jsonschema:"minLength=1" jsonschema_description:"Shape in words."`
	InputShape    []int64        `json:"input_shape" jsonschema:"minItems=1" jsonschema_description:"Shape as numbers, in the order of the words in shape."`
	TrueSpeedup   float64        `json:"true_speedup" jsonschema:"minimum=1" jsonschema_description:"What the speedup (a ratio) is by construction: 1, or 1 and the share of work that one side does more."`
	Speedup       float64        `json:"speedup_factor" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Speedup that was measured (a ratio)."`
	SpeedupCILow  float64        `json:"speedup_ci_low" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Lower end of the interval of the speedup (a ratio): at 95%, all looks of the stopping rule together, of the median over independent blocks and layouts in memory; at 90% where only five layouts fit."`
	SpeedupCIHigh float64        `json:"speedup_ci_high" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Upper end of the interval of the speedup (a ratio): at 95%, all looks of the stopping rule together, of the median over independent blocks and layouts in memory; at 90% where only five layouts fit."`
	Blocks        int            `json:"blocks" jsonschema:"minimum=1" jsonschema_description:"Number of blocks of samples of both sides."`
	Verdict       Verdict        `json:"verdict"`
	Outcome       ControlOutcome `json:"outcome"`
	Warnings      []Code         `json:"warnings,omitempty" jsonschema_description:"Codes of the guards that the control met; absent if it met none."`
}
