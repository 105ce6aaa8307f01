package hwdetect

import (
	"fmt"
	"slices"

	"hwcal/schema"
)

// States in XCR0 that an instruction set needs (Intel SDM vol. 1, 13.3).
const (
	xcr0AVX    = 0x6     // SSE and upper halves of the YMM registers
	xcr0AVX512 = 0xe6    // also opmasks, upper halves of ZMM0-15, ZMM16-31
	xcr0AMX    = 0x60000 // tile configuration and tile data
)

const amxGranted = "granted"

// Registers of a CPUID answer.
const (
	eax = iota
	ebx
	ecx
	edx
)

// x86ISA is the one table of instruction sets that bear on the figures: where
// CPUID claims them (Intel SDM vol. 2A; AMD64 APM vol. 3, appendix E) and which
// states the system must save. Names are those of /proc/cpuinfo.
var x86ISA = []struct {
	name      string
	leaf, sub uint32
	reg, bit  int
	xcr0      uint64
}{
	{"sse2", 1, 0, edx, 26, 0},
	{"sse4_1", 1, 0, ecx, 19, 0},
	{"sse4_2", 1, 0, ecx, 20, 0},
	{"avx", 1, 0, ecx, 28, xcr0AVX},
	{"f16c", 1, 0, ecx, 29, xcr0AVX},
	{"fma", 1, 0, ecx, 12, xcr0AVX},
	{"avx2", 7, 0, ebx, 5, xcr0AVX},
	{"avx_vnni", 7, 1, eax, 4, xcr0AVX},
	{"avx512f", 7, 0, ebx, 16, xcr0AVX512},
	{"avx512cd", 7, 0, ebx, 28, xcr0AVX512},
	{"avx512bw", 7, 0, ebx, 30, xcr0AVX512},
	{"avx512dq", 7, 0, ebx, 17, xcr0AVX512},
	{"avx512vl", 7, 0, ebx, 31, xcr0AVX512},
	{"avx512vbmi", 7, 0, ecx, 1, xcr0AVX512},
	{"avx512_vnni", 7, 0, ecx, 11, xcr0AVX512},
	{"avx512_bf16", 7, 1, eax, 5, xcr0AVX512},
	{"avx512_fp16", 7, 0, edx, 23, xcr0AVX512},
	{"amx_tile", 7, 0, edx, 24, xcr0AMX},
	{"amx_int8", 7, 0, edx, 25, xcr0AMX},
	{"amx_bf16", 7, 0, edx, 22, xcr0AMX},
	{"amx_fp16", 7, 1, eax, 21, xcr0AMX},
}

// armISA maps the names of cpuid/v2 to those of /proc/cpuinfo.
var armISA = []struct{ cpuid, name string }{
	{"FP", "fp"},
	{"ASIMD", "asimd"},
	{"ASIMDHP", "asimdhp"},
	{"ASIMDDP", "asimddp"},
	{"FHM", "asimdfhm"},
	{"BF16", "bf16"},
	{"I8MM", "i8mm"},
	{"SVE", "sve"},
	{"SVE2", "sve2"},
}

// verifiedISA lists the instruction sets that the processor has and the system
// allows, and those that it has in vain. Where CPUID is not known, the kernel's
// word in /proc/cpuinfo counts: it lists only what it allows.
func verifiedISA(id CPUID, info cpuInfo) (isa []string, refused []schema.Unavailable) {
	claimed := id.Flags
	if len(claimed) == 0 {
		claimed = info.flags
	}
	isa = []string{}
	for _, x := range x86ISA {
		if !slices.Contains(claimed, x.name) {
			continue
		}
		if reason := id.refusal(x.xcr0); len(id.Flags) > 0 && reason != "" {
			refused = append(refused, schema.Unavailable{What: "isa." + x.name, Reason: reason})
			continue
		}
		isa = append(isa, x.name)
	}
	for _, a := range armISA {
		if slices.Contains(claimed, a.name) {
			isa = append(isa, a.name)
		}
	}
	return isa, refused
}

// refusal says why instructions that need those states would raise an exception.
func (id CPUID) refusal(states uint64) string {
	switch {
	case id.XCR0&states != states:
		return fmt.Sprintf("the CPU has it, but the operating system does not save its registers: XCR0 = %#x, needs %#x", id.XCR0, states)
	case states == xcr0AMX && id.AMX != amxGranted:
		return "the CPU has it, but permission for tile data (arch_prctl ARCH_REQ_XCOMP_PERM 18) was refused: " + id.AMX
	}
	return ""
}
