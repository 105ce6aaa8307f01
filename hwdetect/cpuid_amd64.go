package hwdetect

import (
	"slices"

	"github.com/klauspost/cpuid/v2"
)

// asmCPUID executes CPUID with EAX = leaf and ECX = sub.
func asmCPUID(leaf, sub uint32) (eax, ebx, ecx, edx uint32)

// asmXCR0 reads extended control register 0 by XGETBV; only where CPUID says OSXSAVE.
func asmXCR0() (eax, edx uint32)

// addArch reads raw what cpuid/v2 hides: it drops the flag of an instruction set
// that the system does not allow (and here the refusal is reported), and checks
// XCR0 for AVX but not for AMX.
func (id *CPUID) addArch(c cpuid.CPUInfo) {
	id.Family, id.Model, id.Stepping = c.Family, c.Model, c.Stepping
	maxLeaf, _, _, _ := asmCPUID(0, 0)
	for _, isa := range x86ISA {
		if isa.leaf > maxLeaf {
			continue
		}
		var r [4]uint32
		r[eax], r[ebx], r[ecx], r[edx] = asmCPUID(isa.leaf, isa.sub)
		if r[isa.reg]>>isa.bit&1 == 1 {
			id.Flags = append(id.Flags, isa.name)
		}
	}
	if _, _, c, _ := asmCPUID(1, 0); c>>27&1 == 1 { // OSXSAVE
		low, high := asmXCR0()
		id.XCR0 = uint64(high)<<32 | uint64(low)
	}
	if slices.Contains(id.Flags, "amx_tile") && id.XCR0&xcr0AMX == xcr0AMX {
		id.AMX = requestAMX()
	}
	if maxLeaf >= 0x16 {
		// Bits 15:0 of EAX are the base, of EBX the highest frequency in MHz
		// (Intel SDM vol. 2A, CPUID); virtual machines often leave zeros.
		base, highest, _, _ := asmCPUID(0x16, 0)
		id.BaseMHz, id.MaxMHz = float64(base&0xffff), float64(highest&0xffff)
	}
}
