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
		"neutral if the whole interval lies between, else inconclusive.",
		Fuse, Neutral, Avoid, Inconclusive)
}

// Code names a warning. Codes are stable: scripts match on them.
type Code string

const (
	Implausible       Code = "implausible"
	Cached            Code = "cached"
	Throttled         Code = "throttled"
	NoisyHost         Code = "noisy_host"
	AboveTraffic      Code = "speedup_above_traffic"
	AbovePeak         Code = "efficiency_above_peak"
	DRAMLimited       Code = "dram_working_set_limited"
	Mismatch          Code = "mismatch"
	ClockUnsettled    Code = "clock_unsettled"
	LevelNotSeen      Code = "level_not_seen"
	LevelNotClaimed   Code = "level_not_claimed"
	Failed            Code = "failed"
	BudgetSpent       Code = "budget_spent"
	Interrupted       Code = "interrupted"
	PeakBelowMeasured Code = "theoretical_peak_below_measured"
)

func (Code) JSONSchema() *jsonschema.Schema {
	return enum("Stable name of the warning.",
		Implausible, Cached, Throttled, NoisyHost, AboveTraffic, AbovePeak, DRAMLimited, Mismatch,
		ClockUnsettled, LevelNotSeen, LevelNotClaimed, Failed, BudgetSpent, Interrupted, PeakBelowMeasured)
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
)

func (Level) JSONSchema() *jsonschema.Schema {
	return enum("Level of the memory hierarchy in which the working set lives.", L1, L2, L3, L4, DRAM, HBM)
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
