package hwdetect

import (
	"fmt"
	"slices"
	"strings"
)

// uarch is how wide the vector units of one core are.
type uarch struct {
	name   string
	fma    int // bits of fused multiply-add a cycle with AVX2, NEON or SVE: pipes x width
	fma512 int // the same with AVX-512; 0: the core has none
	bf16   int // FLOP a cycle with VDPBF16PS, which no rule gives; 0: unknown

	assumed []string // what the identification does not tell
}

// intelCores by model of family 6; Intel SDM vol. 4, table 2-1 names the
// models. Pipes after the Intel Optimization Reference Manual and uops.info.
var intelCores = map[int]uarch{
	0x3c: haswell, 0x3f: haswell, 0x45: haswell, 0x46: haswell, // Haswell
	0x3d: haswell, 0x47: haswell, 0x4f: haswell, 0x56: haswell, // Broadwell
	0x4e: skylake, 0x5e: skylake, 0x8e: skylake, 0x9e: skylake, 0xa5: skylake, 0xa6: skylake,
	0x55: {name: "Skylake-SP or Cascade Lake", fma: 512, fma512: 1024}, // see xeonPorts
	0x6a: {name: "Ice Lake-SP", fma: 512, fma512: 1024}, 0x6c: {name: "Ice Lake-D", fma: 512, fma512: 1024},
	0x7d: iceLake, 0x7e: iceLake, 0x8c: iceLake, 0x8d: iceLake, 0xa7: iceLake,
	0x57: {name: "Knights Landing", fma: 1024, fma512: 1024}, 0x85: {name: "Knights Mill", fma: 1024, fma512: 1024},
	// One VDPBF16PS of 64 FLOP in two cycles: measured, half of the fp32 rate.
	0x8f: {name: "Sapphire Rapids", fma: 512, fma512: 1024, bf16: 32},
	0xcf: {name: "Emerald Rapids", fma: 512, fma512: 1024, bf16: 32},
	0xad: {name: "Granite Rapids", fma: 512, fma512: 1024, bf16: 32},
	0x97: golden, 0x9a: golden, 0xb7: golden, 0xba: golden, 0xbf: golden, // Alder, Raptor Lake
	0xaa: golden, 0xac: golden, 0xc5: golden, 0xc6: golden, 0xbd: golden, // Meteor, Arrow, Lunar Lake
	0xbe: gracemont, 0xaf: gracemont, 0xb6: gracemont, // Alder Lake-N, Sierra Forest, Grand Ridge
}

var (
	haswell   = uarch{name: "Haswell or Broadwell", fma: 512}
	skylake   = uarch{name: "Skylake client", fma: 512}
	iceLake   = uarch{name: "Ice Lake client", fma: 512, fma512: 512}
	golden    = uarch{name: "Golden Cove or later client P core", fma: 512}
	gracemont = uarch{name: "Gracemont or Crestmont", fma: 256}
	skymont   = uarch{name: "Skymont", fma: 512}
)

// efficientCore is the E or LP-E core of a hybrid model, which CPUID reports
// under the model of the whole; without a name if the model is not known. Arrow Lake has the LP-E cores of Meteor Lake.
func efficientCore(id CPUID, class string) uarch {
	switch {
	case intelCores[id.Model].name != golden.name:
		return uarch{}
	case class == "E" && slices.Contains([]int{0xbd, 0xc5, 0xc6}, id.Model): // Lunar and Arrow Lake
		return skymont
	}
	return gracemont
}

// coreDesign is the design of the core of a CPU of that class, on a machine whose
// P cores are of design u; without a name if it is not known.
func coreDesign(u uarch, id CPUID, info cpuInfo, class string, cpu int) uarch {
	if id.Vendor == "Intel" && (class == "E" || class == "LP-E") {
		return efficientCore(id, class)
	}
	for _, e := range info.cpus {
		if e.cpu == cpu && e.arm != (armPart{}) {
			return armCores[e.arm]
		}
	}
	return u
}

// zen by family and model (AMD's revision guides; Agner Fog, microarchitecture).
func zen(id CPUID) uarch {
	switch {
	case id.Family == 0x17 && id.Model < 0x30, id.Family == 0x18:
		return uarch{name: "Zen", fma: 256}
	case id.Family == 0x17:
		return uarch{name: "Zen 2", fma: 512}
	case id.Family == 0x19 && (id.Model >= 0x10 && id.Model <= 0x1f || id.Model >= 0x60 && id.Model <= 0x7f || id.Model >= 0xa0):
		// A 512-bit operation takes a 256-bit pipe for two cycles; VDPBF16PS does
		// four FLOP a lane at the rate of FMA.
		return uarch{name: "Zen 4", fma: 512, fma512: 512, bf16: 64}
	case id.Family == 0x19:
		return uarch{name: "Zen 3", fma: 512}
	case id.Family == 0x1a && (id.Model >= 0x20 && id.Model <= 0x2f || id.Model >= 0x60 && id.Model <= 0x6f):
		return uarch{name: "Zen 5 mobile", fma: 512, fma512: 512, bf16: 64}
	case id.Family == 0x1a:
		return uarch{name: "Zen 5", fma: 512, fma512: 1024, bf16: 128}
	}
	return uarch{}
}

// armCores by the part number of MIDR_EL1 (Arm's Software Optimization Guides:
// pipes that take FMLA x their width).
var armCores = map[armPart]uarch{
	{0x41, 0xd08}: {name: "Cortex-A72", fma: 128},
	{0x41, 0xd0b}: {name: "Cortex-A76", fma: 256},
	{0x41, 0xd0c}: {name: "Neoverse-N1", fma: 256},
	{0x41, 0xd40}: {name: "Neoverse-V1", fma: 512},
	{0x41, 0xd41}: {name: "Cortex-A78", fma: 256},
	{0x41, 0xd44}: {name: "Cortex-X1", fma: 512},
	{0x41, 0xd49}: {name: "Neoverse-N2", fma: 256},
	{0x41, 0xd4f}: {name: "Neoverse-V2", fma: 512},
	{0x41, 0xd84}: {name: "Neoverse-V3", fma: 512},
	{0x41, 0xd8e}: {name: "Neoverse-N3", fma: 256},
	{0x46, 0x001}: {name: "A64FX", fma: 1024},
	{0xc0, 0xac3}: {name: "Ampere-1", fma: 256},
}

// xeonPorts is the number of 512-bit FMA units of a Skylake-SP descendant with
// model 0x55, which only the product's name tells (Intel's product pages).
func xeonPorts(name string) (units int, assumption string) {
	switch {
	case containsAny(name, "Gold 5122", "Gold 5222", "Gold 6", "Platinum", "Core", "W-2", "W-3"):
		return 2, "two 512-bit FMA units, by the name of the product"
	case containsAny(name, "Gold 5", "Silver", "Bronze", " D-2"):
		return 1, "one 512-bit FMA unit, by the name of the product"
	}
	return 2, "two 512-bit FMA units: the name does not tell the product, and some have one"
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// identify finds the design of the P cores, or of all cores. An x86 it does not
// know gets what its instruction sets are usually built with.
func identify(id CPUID, info cpuInfo, isa []string) (u uarch, ok bool) {
	if id.Vendor == "Intel" && id.Family == 6 {
		u = intelCores[id.Model]
		later := slices.Contains(isa, "amx_tile") || slices.Contains(isa, "avx512_fp16")
		switch {
		case later && u.fma512 > 0 && u.bf16 == 0: // the virtual machine of a later server
			u = uarch{name: "Sapphire Rapids or later", fma: 512, fma512: 1024, bf16: 32, assumed: []string{
				fmt.Sprintf("the cores of a server with AMX: model 0x%x, as the machine calls itself, has no such instructions", id.Model)}}
		case id.Model == 0x55:
			units, assumption := xeonPorts(id.Name)
			u.fma512, u.assumed = 512*units, []string{assumption}
		}
	} else if id.Vendor == "AMD" || id.Vendor == "Hygon" {
		u = zen(id)
	} else if len(info.cpus) > 0 {
		u = armCores[info.cpus[0].arm]
	}
	if u.name != "" {
		return u, true
	}
	if slices.Contains(isa, "fma") {
		u = uarch{name: "unknown x86", fma: 512, assumed: []string{"an unknown model with two 256-bit FMA units"}}
		if slices.Contains(isa, "avx512f") {
			u.fma512, u.assumed = 512, []string{"an unknown model with one 512-bit FMA unit"}
		}
		return u, true
	}
	return u, false
}
