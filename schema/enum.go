package schema

import "github.com/invopop/jsonschema"

// Mode says how much time a calibration took for each measurement.
type Mode string

const (
	Quick   Mode = "quick"
	Default Mode = "default"
	Full    Mode = "full"
)

func (Mode) JSONSchema() *jsonschema.Schema {
	return enum("How much time the run gave each measurement.", Quick, Default, Full)
}

// Verdict says whether fusing a pattern pays.
type Verdict string

const (
	// Fuse: the lower bound of the speedup is at least 1.02.
	Fuse Verdict = "fuse"
	// Neutral: the whole interval lies within a factor of 1.02 of 1.
	Neutral Verdict = "neutral"
	// Avoid: the upper bound of the speedup is at most 1/1.02.
	Avoid Verdict = "avoid"
	// Inconclusive: the interval decides none of the above.
	Inconclusive Verdict = "inconclusive"
)

func (Verdict) JSONSchema() *jsonschema.Schema {
	return enum("Whether fusing pays, decided on the interval of the speedup: "+
		"fuse if speedup_ci_low >= 1.02, avoid if speedup_ci_high <= 1/1.02, "+
		"neutral if the whole interval lies between, else inconclusive. "+
		"Inconclusive whatever the interval below 10 blocks, with the warning workers_apart and, in fusion_profiles and fusion_crossovers, if quality did not pass.",
		Fuse, Neutral, Avoid, Inconclusive)
}

// Level is a level of the memory hierarchy.
type Level string

const (
	L1   Level = "L1"
	L2   Level = "L2"
	L3   Level = "L3"
	L4   Level = "L4"
	DRAM Level = "DRAM"
	HBM  Level = "HBM"
	// HostLink is the way between the memory of the host and that of the device.
	HostLink Level = "host_link"
)

func (Level) JSONSchema() *jsonschema.Schema {
	return enum("Level of the memory hierarchy in which the working set lives, by the caches that its threads can fill (of those of a level the share that the threads have of the cores, one a core) and by where the curve of read bandwidth on one thread, grown by the last caches so filled, becomes that of DRAM; DRAM is the memory of a GPU too, where it is no HBM; host_link is the way between the memories of host and device.", L1, L2, L3, L4, DRAM, HBM, HostLink)
}

// Kind of a device.
type Kind string

const (
	CPU Kind = "cpu"
	GPU Kind = "gpu"
)

func (Kind) JSONSchema() *jsonschema.Schema { return enum("Kind of the device.", CPU, GPU) }

// CheckStatus is the outcome of a preflight check.
type CheckStatus string

const (
	Pass    CheckStatus = "pass"
	Warn    CheckStatus = "warn"
	Unknown CheckStatus = "unknown"
)

func (CheckStatus) JSONSchema() *jsonschema.Schema {
	return enum("Outcome of the check; unknown where the machine does not tell.", Pass, Warn, Unknown)
}

// CacheState says where the data of an execution is when it begins.
type CacheState string

const (
	Warm CacheState = "warm"
	Cold CacheState = "cold"
)

func (CacheState) JSONSchema() *jsonschema.Schema {
	return enum("Where the data of an execution is when it begins: warm where the execution before has left it, "+
		"cold in memory and in no cache.", Warm, Cold)
}

// LaunchMode says how the kernels of a GPU come to run.
type LaunchMode string

const (
	LaunchStream LaunchMode = "stream"
	LaunchGraph  LaunchMode = "graph"
)

func (LaunchMode) JSONSchema() *jsonschema.Schema {
	return enum("How the kernels of a GPU come to run: launched one by one into a stream, or replayed from a graph. "+
		"Absent for devices that launch nothing.", LaunchStream, LaunchGraph)
}

// ControlKind is a trial whose outcome is known.
type ControlKind string

const (
	// SameCode: the unfused operations on both sides; neither fuse nor avoid is right.
	SameCode ControlKind = "same_code"
	// KnownEffect: more executions of the same code on the side that stands for
	// unfused; fuse is right.
	KnownEffect ControlKind = "known_effect"
)

func (ControlKind) JSONSchema() *jsonschema.Schema {
	return enum("Trial whose outcome is known: the same code on both sides, or with a known share of work more on the "+
		"side that stands for unfused.", SameCode, KnownEffect)
}

// ControlOutcome says whether a control came out as it must.
type ControlOutcome string

const (
	ControlPassed    ControlOutcome = "passed"
	ControlFailed    ControlOutcome = "failed"
	ControlUndecided ControlOutcome = "undecided"
)

func (ControlOutcome) JSONSchema() *jsonschema.Schema {
	return enum("Whether the control came out as it must: passed if the verdict is the true one (of same_code neutral, "+
		"of known_effect fuse) and the interval comes within 2% of the true speedup, undecided if inconclusive, failed else.",
		ControlPassed, ControlFailed, ControlUndecided)
}

// OutcomeOf judges a control whose speedup is known: a verdict that decides must be the true one, and the interval
// [lo, hi] must come within VerdictFactor of the true speedup.
func OutcomeOf(truth, lo, hi float64, v Verdict) ControlOutcome {
	off := VerdictOf(lo/truth, hi/truth)
	switch {
	case v == Inconclusive:
		return ControlUndecided
	case v != VerdictOf(truth, truth) || off == Fuse || off == Avoid:
		return ControlFailed
	}
	return ControlPassed
}
