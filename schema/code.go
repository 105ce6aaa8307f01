package schema

import (
	"fmt"

	"github.com/invopop/jsonschema"
)

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
	ControlsFailed    Code = "controls_failed"
	PowerCapped       Code = "power_capped"
	DeviceShared      Code = "device_shared"
	MemoryErrors      Code = "memory_errors"
	OutOfMemory       Code = "out_of_memory"
	DeviceLost        Code = "device_lost"
	Unstable          Code = "unstable"
	WorkersApart      Code = "workers_apart"
)

// codes is the one table of warnings: what each means, and whether to use a figure that has it.
// Those to use with care are of a disturbed moment, or of what others had a part in.
var codes = []struct {
	code       Code
	means, use string
}{
	{Implausible, "above 1.05 times what bounds it (the units at the measured clock, the register peak, the ports of L1), or faster than a level nearer to the core",
		"no; the summary, the ceilings, `latency_tables` and the roofline leave it out, and --strict fails"},
	{Cached, "above 1.05 times the rate of its level (its plateau, or the best kernel of bandwidth): a part of the data came from a cache nearer to the core",
		"as a time, but not as a rate of the level; the summary and the ceilings leave it out"},
	{Throttled, "the clock moved by more than 3% across the case in every try, or the driver of a GPU held it down while it ran below 97% of the highest clock",
		"with care"},
	{NoisyHost, "the hypervisor or other processes took CPU time, the cgroup was throttled, or a neighbour shared a core",
		"with care"},
	{AboveTraffic, "the speedup is above 1.25 times what the savings explain",
		"yes; the verdict stands"},
	{AbovePeak, "above the register peak, by at most 5%",
		"yes"},
	{DRAMLimited, "the curve of bandwidth did not become flat, or memory is too small for the working set: caches may have a part in figures of DRAM",
		"with care; nothing leaves it out"},
	{Mismatch, "a result disagreed with the reference, so that it was not timed",
		"there is none"},
	{ClockUnsettled, "the clock could not be read undisturbed, so that bounds derived from it are loose, or missing",
		"with care"},
	{LevelNotSeen, "a cache is claimed that the curve of bandwidth does not show",
		"yes; levels are those of the curve"},
	{LevelNotClaimed, "the curve of bandwidth shows a cache that is not claimed: the smaller working sets of DRAM are in it",
		"yes, by working_set_bytes and not by level"},
	{Failed, "a step ended in an error, or the device could not be measured",
		"there is none"},
	{BudgetSpent, "the time of the run was up, or the case takes too much of it",
		"there is none"},
	{Interrupted, "the run was interrupted; unavailable names what is left",
		"yes, what there is"},
	{PeakBelowMeasured, "the theoretical peak is below what was measured",
		"what was measured; not the theoretical peak"},
	{ControlsFailed, "a control came out wrong, or none passed",
		"times yes; all verdicts are inconclusive"},
	{PowerCapped, "the power limit of the GPU held the clock down",
		"yes: that is what it does under this limit"},
	{DeviceShared, "other processes computed on the GPU",
		"with care; nothing leaves it out"},
	{MemoryErrors, "the GPU counted uncorrected memory errors meanwhile",
		"no, but nothing leaves it out"},
	{OutOfMemory, "the tensors of the case do not fit into memory",
		"there is none"},
	{DeviceLost, "the device stopped answering, and nothing was measured after that",
		"there is none"},
	{Unstable, "the standard deviation of the times of the samples is above a tenth of their mean",
		"best and median, not the mean"},
	{WorkersApart, "the host had moved a worker away: a signal to it took three times as long as at other times",
		"with care; the verdict of such a pair is inconclusive, and a rate of bandwidth is quoted in the summary and as a ceiling only if there is no other"},
}

func (Code) JSONSchema() *jsonschema.Schema {
	var all []Code
	text := "Stable name of the warning. What each means, and whether to use the figure:"
	for i, c := range codes {
		if i > 0 {
			text += "."
		}
		text += fmt.Sprintf(" %s: %s (%s)", c.code, c.means, c.use)
		all = append(all, c.code)
	}
	return enum(text+".", all...)
}
