package schema

import "strings"

// Device is one device: what it is, and what was measured on it.
type Device struct {
	ID     string   `json:"id" jsonschema:"pattern=^(cpu|cuda)[0-9]+$" jsonschema_description:"Identifier of the device within the profile."`
	Kind   Kind     `json:"kind"`
	Name   string   `json:"name" jsonschema:"minLength=1" jsonschema_description:"Name that the device gives itself."`
	Vendor string   `json:"vendor,omitempty" jsonschema_description:"Maker of the device."`
	CPU    *CPUInfo `json:"cpu,omitempty" jsonschema_description:"Description of a CPU; present if kind is cpu."`
	GPU    *GPUInfo `json:"gpu,omitempty" jsonschema_description:"Description of a GPU; present if kind is gpu."`

	Theoretical Theoretical `json:"theoretical" jsonschema_description:"Peaks computed from the description of the device, never measured."`
	Summary     Summary     `json:"summary" jsonschema_description:"The figures that most readers need: each is the best of its entries below."`

	Compute           []Compute      `json:"compute" jsonschema_description:"Register peaks and matmul. Entries of one operation, dtype and number of threads are a curve over size (m = n = k in input_shape), those of one shape a curve over threads."`
	Bandwidth         []Bandwidth    `json:"bandwidth" jsonschema_description:"Bandwidth by level, kernel and number of threads. Entries of the kernel read and one number of threads, ordered by working_set_bytes, are the curve from which the levels are read."`
	Latency           []Latency      `json:"latency" jsonschema_description:"Load-to-use latency by level."`
	NUMA              []NUMAPath     `json:"numa,omitempty" jsonschema_description:"Bandwidth and latency from the cores of a NUMA node to the memory of its own and of the others; absent on machines of one node."`
	Launch            []LaunchCost   `json:"launch,omitempty" jsonschema_description:"What it costs to launch a kernel, for each mode of a GPU; absent for devices that launch nothing."`
	OperationProfiles []Compute      `json:"operation_profiles" jsonschema_description:"The single operations of networks, matrix products apart. What occurs in patterns only, as the scores and the mask of attention, has no entry: such products are like matmul_batched in compute."`
	LatencyTables     []LatencyTable `json:"latency_tables,omitempty" jsonschema_description:"Time over size of each operation of which at least three sizes were measured and whose shapes have like FLOP for a byte, with the cost of a call or launch."`
	FusionProfiles    []Fusion       `json:"fusion_profiles" jsonschema_description:"Fused against unfused: one entry a pattern, shape, dtype, number of threads, state of the caches and launch mode."`
	FusionCrossovers  []Crossover    `json:"fusion_crossovers,omitempty" jsonschema_description:"Where the verdict of a fusion pattern flips as its shapes grow: one entry a pattern and dtype. Quick runs look for none, default runs in the first pattern of each group, full runs in all."`
	Quality           *Quality       `json:"quality,omitempty" jsonschema_description:"Controls of the verdicts; absent if none could be measured, and then all verdicts are inconclusive."`

	Power       Power         `json:"power" jsonschema_description:"Meters of power and energy, or why there are none."`
	Unavailable []Unavailable `json:"unavailable" jsonschema_description:"What could not be measured, each with its reason."`
	Resume      *Resume       `json:"resume,omitempty" jsonschema_description:"State of an interrupted run, for run --resume; absent in a whole profile."`
}

// AllThreads is how many threads run on the whole device, one a used CPU; 0 if it is not divided into any.
func (d Device) AllThreads() int {
	if d.CPU == nil {
		return 0
	}
	return len(d.CPU.UsedCPUs)
}

// Untrusted says whether all verdicts are inconclusive, whatever their intervals: no controls vouch for them.
func (d Device) Untrusted() bool {
	if d.Quality == nil {
		return len(d.FusionProfiles)+len(d.FusionCrossovers) > 0
	}
	return !d.Quality.Passed
}

// CPUInfo describes a CPU as the process may use it.
type CPUInfo struct {
	Family      int         `json:"family,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of the CPUID family (x86)."`
	Model       int         `json:"model,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of the CPUID model (x86)."`
	Stepping    int         `json:"stepping,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of the CPUID stepping (x86); absent if 0 or unknown."`
	Microcode   string      `json:"microcode,omitempty" jsonschema_description:"Revision of the microcode."`
	Sockets     int         `json:"sockets" jsonschema:"minimum=1" jsonschema_description:"Number of packages."`
	Cores       int         `json:"cores" jsonschema:"minimum=1" jsonschema_description:"Number of physical cores online."`
	Threads     int         `json:"threads" jsonschema:"minimum=1" jsonschema_description:"Number of logical CPUs online."`
	UsedCPUs    []int       `json:"used_cpus" jsonschema:"minItems=1" jsonschema_description:"Logical CPUs to which the workers of the run were pinned, within affinity and quota, one a core first."`
	CoreClasses []CoreClass `json:"core_classes" jsonschema_description:"Classes of cores: one, or several on hybrid machines."`
	NUMANodes   []NUMANode  `json:"numa_nodes" jsonschema_description:"NUMA nodes."`
	ISA         []string    `json:"isa" jsonschema_description:"Instruction sets that the CPU has and the operating system allows, as verified."`
	Caches      []Cache     `json:"caches" jsonschema_description:"Caches as the machine claims them; a virtual machine may claim those of its host."`
	BaseMHz     float64     `json:"base_mhz,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Base clock in MHz as claimed."`
	MaxMHz      float64     `json:"max_mhz,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Highest clock in MHz as claimed."`
}

// CoreClass is a set of like cores.
type CoreClass struct {
	Name   string  `json:"name" jsonschema:"minLength=1" jsonschema_description:"P (performance), E (efficiency), LP-E (low-power efficiency) or the only class, core."`
	CPUs   []int   `json:"cpus" jsonschema:"minItems=1" jsonschema_description:"Logical CPUs of the class."`
	MaxMHz float64 `json:"max_mhz,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Highest clock in MHz as claimed."`
}

// NUMANode is a NUMA node.
type NUMANode struct {
	ID                   int   `json:"id" jsonschema:"minimum=0" jsonschema_description:"Number of the node."`
	CPUs                 []int `json:"cpus" jsonschema_description:"Logical CPUs of the node."`
	MemoryBytes          int64 `json:"memory_bytes,omitempty" jsonschema:"minimum=1" jsonschema_description:"Memory of the node in bytes."`
	MemoryAvailableBytes int64 `json:"memory_available_bytes,omitempty" jsonschema:"minimum=1" jsonschema_description:"Memory of the node that was free at the start, page cache that can go counted, in bytes."`
}

// Cache is one kind of cache, of which the machine has Count.
type Cache struct {
	Level     int    `json:"level" jsonschema:"minimum=1" jsonschema_description:"Number of the level: 1 is the nearest to the core."`
	Type      string `json:"type" jsonschema:"enum=data,enum=instruction,enum=unified" jsonschema_description:"What the cache holds."`
	SizeBytes int64  `json:"size_bytes" jsonschema:"minimum=1" jsonschema_description:"Capacity of one cache in bytes."`
	LineBytes int64  `json:"line_bytes,omitempty" jsonschema:"minimum=1" jsonschema_description:"Size of a line in bytes."`
	Ways      int    `json:"ways,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of ways (associativity)."`
	SharedBy  int    `json:"shared_by" jsonschema:"minimum=1" jsonschema_description:"Logical CPUs that share one cache."`
	Count     int    `json:"count" jsonschema:"minimum=1" jsonschema_description:"Number of such caches in the machine."`
}

// GPUInfo describes a GPU.
type GPUInfo struct {
	UUID              string            `json:"uuid,omitempty" jsonschema_description:"Identifier that the driver gives the device."`
	ParentUUID        string            `json:"parent_uuid,omitempty" jsonschema_description:"Identifier of the GPU of which a MIG device is a slice; absent for a whole GPU."`
	MemoryBytes       int64             `json:"memory_bytes,omitempty" jsonschema:"minimum=1" jsonschema_description:"Device memory in bytes."`
	ComputeCapability string            `json:"compute_capability,omitempty" jsonschema_description:"CUDA compute capability, major.minor."`
	SMs               int               `json:"sms,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of streaming multiprocessors."`
	GraphicsMaxMHz    float64           `json:"graphics_max_mhz,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Highest graphics clock in MHz."`
	SMMaxMHz          float64           `json:"sm_max_mhz,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Highest SM clock in MHz."`
	MemoryMaxMHz      float64           `json:"memory_max_mhz,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Highest memory clock in MHz."`
	L2Bytes           int64             `json:"l2_bytes,omitempty" jsonschema:"minimum=1" jsonschema_description:"Size of the L2 cache in bytes, as the driver tells it."`
	MemoryBusBits     int               `json:"memory_bus_bits,omitempty" jsonschema:"minimum=1" jsonschema_description:"Width of the memory bus in bits."`
	PowerLimitWatts   float64           `json:"power_limit_watts,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Power limit in force in watts."`
	Driver            string            `json:"driver,omitempty" jsonschema_description:"Version of the driver."`
	Libraries         map[string]string `json:"libraries,omitempty" jsonschema_description:"Version of each library that was found at run time and measured, and of what compiled the kernels (compiler), by name."`
	MIG               *bool             `json:"mig,omitempty" jsonschema_description:"Whether multi-instance mode is on; absent where the device has none."`
	ECC               *bool             `json:"ecc,omitempty" jsonschema_description:"Whether error-correcting memory is on; absent where the device has none."`
}

// Theoretical holds peaks computed from the description of the device.
type Theoretical struct {
	PeakGFLOPS    map[DType]Peak `json:"peak_gflops,omitempty" jsonschema_description:"Peak by dtype of all cores that are online, of which a run may use fewer: FLOP per cycle x cores x clock, in GFLOPS (1e9 FLOP per second; GOPS for int8)."`
	BandwidthGBps *Peak          `json:"bandwidth_gbps,omitempty" jsonschema_description:"Peak memory bandwidth in GB/s (1e9 bytes per second)."`
}

// Peak is a computed figure and where it comes from.
type Peak struct {
	Value       float64  `json:"value" jsonschema:"exclusiveMinimum=0" jsonschema_description:"The figure in the unit of its field."`
	Source      string   `json:"source" jsonschema:"minLength=1" jsonschema_description:"How the figure was computed, or who gave it."`
	Assumptions []string `json:"assumptions,omitempty" jsonschema_description:"What had to be assumed."`
}

// Summary holds the best of what was measured.
type Summary struct {
	PeakGFLOPS    map[DType]float64 `json:"peak_gflops,omitempty" jsonschema_description:"Register or tensor-core peak over all threads in GFLOPS (1e9 FLOP per second; GOPS for int8)."`
	MatmulGFLOPS  map[DType]float64 `json:"matmul_gflops,omitempty" jsonschema_description:"Best entry of the operation matmul over all threads (packing within the time) in GFLOPS (1e9 FLOP per second; GOPS for int8)."`
	BandwidthGBps float64           `json:"bandwidth_gbps,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Best kernel on DRAM or HBM over all threads in GB/s (1e9 bytes per second)."`
	BandwidthOf   string            `json:"bandwidth_pattern,omitempty" jsonschema_description:"Kernel that bandwidth_gbps quotes."`
	RidgePoint    map[DType]float64 `json:"ridge_point_flops_per_byte,omitempty" jsonschema_description:"peak_gflops / bandwidth_gbps in FLOP per byte."`
}

// Power lists the meters of a device, or why there are none.
type Power struct {
	Unavailable string       `json:"unavailable,omitempty" jsonschema:"minLength=1" jsonschema_description:"Why power cannot be read and what would make it readable."`
	Meters      []PowerMeter `json:"meters,omitempty" jsonschema:"minItems=1" jsonschema_description:"Meters found."`
	Idle        *Idle        `json:"idle,omitempty" jsonschema_description:"What they count while nothing is measured; absent if none can be read, or if they count nothing."`
}

// Idle is what the meters count while nothing is measured.
type Idle struct {
	WindowSeconds float64  `json:"window_seconds" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Length of the window in seconds."`
	Meters        []string `json:"meters" jsonschema:"minItems=1" jsonschema_description:"Names of the meters whose sum it is."`
	AvgWatts      float64  `json:"power_avg_watts" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Average power in watts."`
	Celsius       float64  `json:"temperature_celsius,omitempty" jsonschema_description:"Temperature at the end of the window, a number of degrees Celsius; absent where it cannot be read."`
}

// PowerMeter is one counter of energy or power.
type PowerMeter struct {
	Name                string `json:"name" jsonschema:"minLength=1" jsonschema_description:"Name of the zone: package-0, core, uncore, dram, psys, or the GPU."`
	Source              string `json:"source" jsonschema:"minLength=1" jsonschema_description:"Interface that serves the meter."`
	Readable            bool   `json:"readable" jsonschema_description:"Whether this process may read it."`
	MaxEnergyMicrojoule uint64 `json:"max_energy_microjoules,omitempty" jsonschema:"minimum=1" jsonschema_description:"Value at which the energy counter wraps, in microjoules."`
}

// Counted says whether the meter contributes to the energy of a case. Those of packages do,
// which include their cores; that of memory, which they do not include; and that of a GPU.
// The zones core and uncore are parts of a package, and psys counts everything again.
func (m PowerMeter) Counted() bool {
	return m.Readable && (strings.HasPrefix(m.Name, "package-") || strings.HasPrefix(m.Name, "socket-") || m.Name == "dram" || m.Name == "GPU")
}
