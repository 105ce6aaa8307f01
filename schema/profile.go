// Package schema holds the types of a calibration profile and the JSON Schema
// made from them. It is the contract between the profiler and whoever reads a
// profile, and imports nothing of this module.
//
// Units are in the names: gflops is 1e9 FLOP per second, gbps is 1e9 bytes per
// second, capacities are bytes. What was not measured is absent and its reason
// stands under "unavailable"; a zero is never a placeholder.
package schema

import "time"

// Version is the schema_version that this package reads and writes.
const Version = "1.0.0"

// ID identifies the JSON Schema of that version; it is the "$schema" of a profile.
const ID = "https://hwcal.dev/schema/1.0.0/profile.schema.json"

// Profile is a whole calibration of one machine.
type Profile struct {
	Schema        string    `json:"$schema" jsonschema_description:"Identifier of the JSON Schema that the profile follows."`
	SchemaVersion string    `json:"schema_version" jsonschema:"pattern=^1\\.[0-9]+\\.[0-9]+$" jsonschema_description:"Version of the profile format (semantic versioning)."`
	Metadata      Metadata  `json:"metadata" jsonschema_description:"Where the profile comes from."`
	Host          Host      `json:"host" jsonschema_description:"The machine and the limits under which it was measured."`
	Devices       []Device  `json:"devices" jsonschema:"minItems=1" jsonschema_description:"One entry a device."`
	Warnings      []Warning `json:"warnings" jsonschema_description:"What a reader should know before using the figures."`
}

// Metadata tells where a profile comes from.
type Metadata struct {
	HardwareName    string    `json:"hardware_name" jsonschema:"minLength=1" jsonschema_description:"Name of the hardware, detected or given by --hardware."`
	CalibrationDate time.Time `json:"calibration_date" jsonschema:"format=date-time" jsonschema_description:"Start of the calibration (RFC 3339)."`
	ToolVersion     string    `json:"calibration_tool_version" jsonschema:"minLength=1" jsonschema_description:"Version of calibrate."`
	Mode            Mode      `json:"mode"`
	Seed            uint64    `json:"seed" jsonschema:"minimum=0" jsonschema_description:"Seed of the input data and of the order of the measurements."`
	DurationSeconds float64   `json:"duration_seconds" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Wall-clock time of the calibration in seconds."`
	PeakMemoryBytes int64     `json:"peak_memory_bytes,omitempty" jsonschema:"minimum=1" jsonschema_description:"Largest resident memory of the calibrating process in bytes."`
	Fingerprint     string    `json:"fingerprint" jsonschema:"pattern=^[0-9a-f]{64}$" jsonschema_description:"SHA-256 of the stable identity of the hardware: the devices, not the measurements."`
}

// Host is the machine and the limits under which it was measured.
type Host struct {
	OS                   string  `json:"os" jsonschema:"minLength=1" jsonschema_description:"Operating system (GOOS)."`
	Kernel               string  `json:"kernel,omitempty" jsonschema_description:"Release of the kernel."`
	Arch                 string  `json:"arch" jsonschema:"minLength=1" jsonschema_description:"Architecture (GOARCH)."`
	Hypervisor           string  `json:"hypervisor,omitempty" jsonschema_description:"Hypervisor below the machine; absent on bare metal."`
	Container            string  `json:"container,omitempty" jsonschema_description:"Container around the process; absent outside of one."`
	AllowedCPUs          []int   `json:"allowed_cpus" jsonschema_description:"Logical CPUs in the affinity mask of the process."`
	CPUQuota             float64 `json:"cpu_quota,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"CPUs that the cgroup allows (quota / period); absent without a limit."`
	MemoryBytes          int64   `json:"memory_bytes,omitempty" jsonschema:"minimum=1" jsonschema_description:"Memory of the machine in bytes."`
	MemoryAvailableBytes int64   `json:"memory_available_bytes,omitempty" jsonschema:"minimum=1" jsonschema_description:"Memory that was available at the start in bytes, within the limit of the cgroup and on the NUMA nodes that the process may use."`
	MemoryLimitBytes     int64   `json:"memory_limit_bytes,omitempty" jsonschema:"minimum=1" jsonschema_description:"Memory limit of the cgroup in bytes; absent without a limit."`
	TransparentHugepages string  `json:"transparent_hugepages,omitempty" jsonschema_description:"Setting of transparent huge pages: always, madvise or never."`
	Governor             string  `json:"governor,omitempty" jsonschema_description:"Frequency governor of the allowed CPUs."`
	Preflight            []Check `json:"preflight" jsonschema_description:"State of the machine that bears on the figures."`
}

// Check is one preflight check.
type Check struct {
	Name          string      `json:"name" jsonschema:"minLength=1" jsonschema_description:"What was checked."`
	Status        CheckStatus `json:"status"`
	Message       string      `json:"message" jsonschema_description:"What the state means for the figures."`
	CurrentValue  string      `json:"current_value,omitempty" jsonschema_description:"State found."`
	ExpectedValue string      `json:"expected_value,omitempty" jsonschema_description:"State in which the figures are steadiest."`
}

// Warning is something a reader should know before using a figure.
type Warning struct {
	Code    Code   `json:"code"`
	Path    string `json:"path" jsonschema_description:"JSON Pointer to what the warning is about; empty for the whole profile."`
	Message string `json:"message" jsonschema:"minLength=1" jsonschema_description:"The warning, with its figures."`
}

// Measurements is the What of the Unavailable entry of a device on which nothing was measured.
const Measurements = "measurements"

// Unavailable is a figure that the profile does not have, and why.
type Unavailable struct {
	What   string `json:"what" jsonschema:"minLength=1" jsonschema_description:"What is missing: a field of the device, its names joined by dots (summary.peak_gflops, isa.avx512f); an element type; an operation or pattern, with its element type if it lacks in that only; a step of the run as it calls it (OPERATION DTYPE SHAPE, 2 threads, for a pair with its cache and launch; bandwidth L3, 2 threads); a library; or measurements, for all. It is for a person: what is there is found by the fields of the entries."`
	Reason string `json:"reason" jsonschema:"minLength=1" jsonschema_description:"Why it is missing and, where there is a way, what would make it available."`
}
