package hwdetect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/cpuid/v2"
)

func TestVerifiedISA(t *testing.T) {
	all := []string{"avx2", "avx512f", "amx_tile", "amx_bf16"}
	for _, c := range []struct {
		name    string
		id      CPUID
		want    []string
		refused string // in the reason of the last refusal
	}{
		{"all allowed", CPUID{Flags: all, XCR0: 0x602e7, AMX: amxGranted}, all, ""},
		{"AMX not permitted", CPUID{Flags: all, XCR0: 0x602e7, AMX: "operation not permitted"}, all[:2], "operation not permitted"},
		{"AMX never asked for", CPUID{Flags: all, XCR0: 0x602e7}, all[:2], "ARCH_REQ_XCOMP_PERM"},
		{"no AMX state", CPUID{Flags: all, XCR0: 0x2e7}, all[:2], "XCR0 = 0x2e7"},
		{"no ZMM state", CPUID{Flags: all, XCR0: 0x7}, all[:1], "needs 0x60000"},
		{"opmask state alone", CPUID{Flags: all[:2], XCR0: 0x27}, all[:1], "needs 0xe6"},
		{"no XSAVE", CPUID{Flags: []string{"sse2", "avx2"}}, []string{"sse2"}, "XCR0 = 0x0"},
	} {
		isa, refused := verifiedISA(c.id, cpuInfo{})
		if !cmp.Equal(isa, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, isa, c.want)
		}
		if len(isa)+len(refused) != len(c.id.Flags) {
			t.Errorf("%s: %d of %d instruction sets refused with a reason", c.name, len(refused), len(c.id.Flags)-len(isa))
		}
		if c.refused != "" && !strings.Contains(refused[len(refused)-1].Reason, c.refused) {
			t.Errorf("%s: reason is %q", c.name, refused[len(refused)-1].Reason)
		}
	}
	isa, refused := verifiedISA(CPUID{}, cpuInfo{flags: []string{"asimd", "sve", "nonsense", "bf16"}})
	if !cmp.Equal(isa, []string{"asimd", "bf16", "sve"}) || refused != nil {
		t.Errorf("from /proc/cpuinfo: %v, %v", isa, refused)
	}
}

// The raw leaves and cpuid/v2 agree where both check the system's permission.
func TestCPUIDAgreesWithLibrary(t *testing.T) {
	isa, _ := verifiedISA(ReadCPUID(), cpuInfo{})
	for name, id := range map[string]cpuid.FeatureID{
		"sse2": cpuid.SSE2, "sse4_1": cpuid.SSE4, "sse4_2": cpuid.SSE42, "avx": cpuid.AVX, "f16c": cpuid.F16C,
		"avx2": cpuid.AVX2, "fma": cpuid.FMA3, "avx_vnni": cpuid.AVXVNNI,
		"avx512f": cpuid.AVX512F, "avx512dq": cpuid.AVX512DQ, "avx512vl": cpuid.AVX512VL,
		"avx512cd": cpuid.AVX512CD, "avx512bw": cpuid.AVX512BW, "avx512vbmi": cpuid.AVX512VBMI,
		"avx512_vnni": cpuid.AVX512VNNI, "avx512_bf16": cpuid.AVX512BF16, "avx512_fp16": cpuid.AVX512FP16,
		"asimd": cpuid.ASIMD, "sve": cpuid.SVE,
	} {
		if got := slices.Contains(isa, name); got != cpuid.CPU.Has(id) {
			t.Errorf("%s: %v, cpuid/v2 says %v", name, got, !got)
		}
	}
}

func TestParseCPUInfoHostile(t *testing.T) {
	for _, text := range []string{
		"", ":", "processor", "processor : -1\nmodel : x\n", "cpu family : 99999999999999\nstepping : -4\n",
		"CPU part : 0xd0c\n", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xfff\n",
	} {
		info := parseCPUInfo([]byte(text))
		if info.family < 0 || info.model < 0 || info.stepping < 0 {
			t.Errorf("%q: %+v", text, info)
		}
	}
	info := parseCPUInfo([]byte("processor : 0\nCPU implementer : 0x41\nCPU part : 0xfff\n"))
	if info.name != "ARM core, implementer 0x41 part 0xfff" || info.vendor != "ARM" {
		t.Errorf("unknown arm core: %+v", info)
	}
}

// A machine of big and little cores is not named after the first alone.
func TestNameOfUnlikeCores(t *testing.T) {
	text := ""
	for cpu, part := range []int{0xd05, 0xd05, 0xd0b, 0xd0b} {
		text += fmt.Sprintf("processor : %d\nCPU implementer : 0x41\nCPU part : %#x\n\n", cpu, part)
	}
	const want = "ARM core, implementer 0x41 part 0xd05 + Cortex-A76"
	if got := parseCPUInfo([]byte(text)).name; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
