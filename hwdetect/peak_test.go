package hwdetect

import (
	"fmt"
	"strings"
	"testing"

	"hwcal/schema"
)

// FLOP per cycle and core, against public figures and against register peaks
// that were measured on Sapphire Rapids.
func TestRates(t *testing.T) {
	avx2 := []string{"fma", "avx2"}
	avx512 := append(avx2[:2:2], "avx512f")
	spr := append(avx512[:3:3], "avx512_vnni", "avx512_bf16", "avx512_fp16")
	for _, c := range []struct {
		name     string
		id       CPUID
		info     cpuInfo
		isa      []string
		fp64     int
		fp32     int
		fp16     int
		bf16     int
		int8     int
		assuming string
	}{
		{name: "Haswell", id: intel(0x3f, ""), isa: avx2, fp64: 16, fp32: 32},
		{name: "Skylake-SP of no name", id: intel(0x55, "Intel(R) Xeon(R) Processor @ 2.50GHz"), isa: avx512, fp64: 32, fp32: 64, assuming: "some have one"},
		{name: "Silver", id: intel(0x55, "Intel(R) Xeon(R) Silver 4110"), isa: avx512, fp64: 16, fp32: 32, assuming: "one 512-bit"},
		{name: "Gold 5218", id: intel(0x55, "Intel(R) Xeon(R) Gold 5218"), isa: avx512, fp64: 16, fp32: 32, assuming: "one 512-bit"},
		{name: "Gold 5122", id: intel(0x55, "Intel(R) Xeon(R) Gold 5122"), isa: avx512, fp64: 32, fp32: 64, assuming: "two 512-bit"},
		{name: "Sapphire Rapids without AMX", id: intel(0x8f, ""), isa: spr, fp64: 32, fp32: 64, fp16: 128, bf16: 32, int8: 256},
		{name: "Sapphire Rapids", id: intel(0x8f, ""), isa: append(spr[:6:6], "amx_bf16", "amx_int8"), fp64: 32, fp32: 64, fp16: 128, bf16: 1024, int8: 2048},
		{name: "Sapphire Rapids that calls itself Rocket Lake", id: intel(0xa7, ""), isa: append(spr[:6:6], "amx_tile", "amx_bf16", "amx_int8"), fp64: 32, fp32: 64, fp16: 128, bf16: 1024, int8: 2048, assuming: "model 0xa7"},
		{name: "Rocket Lake", id: intel(0xa7, ""), isa: append(avx512[:3:3], "avx512_vnni"), fp64: 16, fp32: 32, int8: 128},
		{name: "Granite Rapids", id: intel(0xad, ""), isa: append(spr[:6:6], "amx_bf16", "amx_int8", "amx_fp16"), fp64: 32, fp32: 64, fp16: 1024, bf16: 1024, int8: 2048},
		{name: "Golden Cove that shows AVX-512", id: intel(0x97, ""), isa: append(avx512[:3:3], "avx512_vnni", "avx_vnni"), fp64: 16, fp32: 32, int8: 128},
		{name: "Golden Cove", id: intel(0x97, ""), isa: append(avx2[:2:2], "avx_vnni"), fp64: 16, fp32: 32, int8: 128},
		{name: "Zen 1", id: CPUID{Vendor: "AMD", Family: 0x17, Model: 1}, isa: avx2, fp64: 8, fp32: 16},
		{name: "Zen 2", id: CPUID{Vendor: "AMD", Family: 0x17, Model: 0x31}, isa: avx2, fp64: 16, fp32: 32},
		{name: "Zen 3", id: CPUID{Vendor: "AMD", Family: 0x19, Model: 0x21}, isa: avx2, fp64: 16, fp32: 32},
		{name: "Zen 4", id: CPUID{Vendor: "AMD", Family: 0x19, Model: 0x61}, isa: spr[:5], fp64: 16, fp32: 32, bf16: 64, int8: 128},
		{name: "Zen 4 server", id: CPUID{Vendor: "AMD", Family: 0x19, Model: 0x10}, isa: spr[:5], fp64: 16, fp32: 32, bf16: 64, int8: 128},
		{name: "Zen 4c server", id: CPUID{Vendor: "AMD", Family: 0x19, Model: 0xa0}, isa: spr[:5], fp64: 16, fp32: 32, bf16: 64, int8: 128},
		{name: "Zen 5 mobile", id: CPUID{Vendor: "AMD", Family: 0x1a, Model: 0x24}, isa: spr[:5], fp64: 16, fp32: 32, bf16: 64, int8: 128},
		{name: "Zen 5 mobile with a large GPU", id: CPUID{Vendor: "AMD", Family: 0x1a, Model: 0x60}, isa: spr[:5], fp64: 16, fp32: 32, bf16: 64, int8: 128},
		{name: "Zen 5 desktop", id: CPUID{Vendor: "AMD", Family: 0x1a, Model: 0x44}, isa: spr[:5], fp64: 32, fp32: 64, bf16: 128, int8: 256},
		{name: "Zen 5", id: CPUID{Vendor: "AMD", Family: 0x1a, Model: 0x02}, isa: spr[:5], fp64: 32, fp32: 64, bf16: 128, int8: 256},
		{name: "unknown x86", id: CPUID{Vendor: "Zhaoxin"}, isa: avx2, fp64: 16, fp32: 32, assuming: "unknown model"},
		{name: "unknown x86 with AVX-512", id: CPUID{Vendor: "Zhaoxin"}, isa: avx512, fp64: 16, fp32: 32, assuming: "one 512-bit"},
		{name: "AVX2 without FMA", id: intel(0x3f, ""), isa: avx2[1:]},
		{name: "SSE only", id: CPUID{Vendor: "Intel"}, isa: []string{"sse2"}},
		{name: "Neoverse-N1", info: arm(0xd0c), isa: []string{"asimd", "asimdhp", "asimddp"}, fp64: 8, fp32: 16, fp16: 32, int8: 64},
		{name: "Neoverse-V1", info: arm(0xd40), isa: []string{"asimd", "asimdhp", "sve", "bf16", "i8mm"}, fp64: 16, fp32: 32, fp16: 64, bf16: 128, int8: 256},
		{name: "unknown arm64", info: arm(0xfff), isa: []string{"asimd"}},
	} {
		u, _ := identify(c.id, c.info, c.isa)
		got := rates(u, c.isa)
		for dtype, want := range map[schema.DType]int{schema.FP64: c.fp64, schema.FP32: c.fp32, schema.FP16: c.fp16, schema.BF16: c.bf16, schema.INT8: c.int8} {
			if got[dtype].flop != want {
				t.Errorf("%s: %s %d FLOP/cycle, want %d", c.name, dtype, got[dtype].flop, want)
			}
		}
		if all := strings.Join(u.assumed, "; "); !strings.Contains(all, c.assuming) {
			t.Errorf("%s: assumes %q, want %q", c.name, all, c.assuming)
		}
	}
}

func intel(model int, name string) CPUID {
	return CPUID{Vendor: "Intel", Family: 6, Model: model, Name: name}
}

func arm(part int) cpuInfo { return cpuInfo{cpus: []cpuEntry{{arm: armPart{0x41, part}}}} }

func TestClocks(t *testing.T) {
	for _, c := range []struct {
		name      string
		files     map[string]string
		id        CPUID
		base, max float64
	}{
		{name: "nothing"},
		{name: "GHz in the name", id: CPUID{Name: "Intel(R) Xeon(R) CPU @ 2.50GHz"}, base: 2500},
		{name: "MHz in the name", id: CPUID{Name: "Old @ 800MHz"}, base: 800},
		{name: "leaf 0x16 over the name", id: CPUID{Name: "X @ 2.5GHz", BaseMHz: 2600, MaxMHz: 3900}, base: 2600, max: 3900},
		{name: "placeholder", id: CPUID{BaseMHz: 1, MaxMHz: 65535}},
		{name: "cpufreq over leaf 0x16", id: CPUID{BaseMHz: 2600, MaxMHz: 3900}, base: 2600, max: 4000,
			files: map[string]string{"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "4000000"}},
		{name: "placeholder of acpi-cpufreq for turbo", id: CPUID{BaseMHz: 2500, MaxMHz: 3900}, base: 2500, max: 3900, files: turboFiles("acpi-cpufreq", "1")},
		{name: "acpi-cpufreq with boost off", id: CPUID{BaseMHz: 2500, MaxMHz: 3900}, base: 2500, max: 2501, files: turboFiles("acpi-cpufreq", "0")},
		{name: "the highest P-state of an EPYC 7742 on Linux 5.4", base: 2250, files: pStates("2250000", "1")},
		{name: "the same with boost off", max: 2250, files: pStates("2250000", "0")},
		{name: "the same on Linux 5.15", max: 3405.529, files: pStates("3405529", "1")},
		{name: "another driver", id: CPUID{BaseMHz: 2500, MaxMHz: 3900}, base: 2500, max: 2501, files: turboFiles("amd-pstate", "1")},
		{name: "garbage", files: map[string]string{"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "fast"}},
	} {
		if got := readClocks(layout(t, c.files), []int{0}, c.id); got.base.mhz != c.base || got.max.mhz != c.max {
			t.Errorf("%s: base %v max %v, want %v %v", c.name, got.base.mhz, got.max.mhz, c.base, c.max)
		}
	}
}

// pStates are the files of a driver of which 2250 MHz is the highest P-state.
func pStates(most, boost string) map[string]string {
	files := turboFiles("acpi-cpufreq", boost)
	files["sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"] = most
	files["sys/devices/system/cpu/cpu0/cpufreq/scaling_available_frequencies"] = "2250000 1700000 1500000 \n"
	return files
}

func turboFiles(driver, boost string) map[string]string {
	const cpu = "sys/devices/system/cpu/"
	return map[string]string{
		cpu + "cpufreq/boost": boost, cpu + "cpu0/cpufreq/scaling_driver": driver, cpu + "cpu0/cpufreq/cpuinfo_max_freq": "2501000",
	}
}

func TestGPUPeaks(t *testing.T) {
	type tflops = map[schema.DType]float64
	for _, c := range []struct {
		name string
		gpu  schema.GPUInfo
		want tflops // on the data sheet
		gbps float64
	}{
		{"V100", schema.GPUInfo{ComputeCapability: "7.0", SMs: 80, SMMaxMHz: 1530, MemoryMaxMHz: 877, MemoryBusBits: 4096},
			tflops{schema.FP64: 7.8, schema.FP32: 15.7, schema.FP16: 125}, 900},
		{"A100 40 GB", schema.GPUInfo{ComputeCapability: "8.0", SMs: 108, SMMaxMHz: 1410, MemoryMaxMHz: 1215, MemoryBusBits: 5120},
			tflops{schema.FP64: 19.5, schema.FP32: 19.5, schema.TF32: 156, schema.FP16: 312, schema.BF16: 312, schema.INT8: 624}, 1555},
		{"H100 SXM at 1830 MHz", schema.GPUInfo{ComputeCapability: "9.0", SMs: 132, SMMaxMHz: 1830, MemoryMaxMHz: 2619, MemoryBusBits: 5120},
			// 66.9 in fp64 and fp32 are of 1980 MHz
			tflops{schema.FP64: 61.8, schema.FP32: 61.8, schema.TF32: 494.7, schema.FP16: 989.4, schema.BF16: 989.4, schema.FP8: 1978.9, schema.INT8: 1978.9}, 3352},
		{"NVIDIA H20-3e", schema.GPUInfo{ComputeCapability: "9.0", SMs: 78, SMMaxMHz: 1980, MemoryMaxMHz: 2619, MemoryBusBits: 6144},
			tflops{schema.FP32: 39.5}, 4022},
		{"RTX 4090", schema.GPUInfo{ComputeCapability: "8.9", SMs: 128, SMMaxMHz: 2520, MemoryMaxMHz: 10501, MemoryBusBits: 384},
			tflops{schema.FP32: 82.6}, 1008},
	} {
		got, missing := gpuPeaks(c.name, c.gpu)
		for _, d := range schema.DTypes() {
			if x := got.PeakGFLOPS[d].Value / 1e3; x < 0.99*c.want[d] || x > 1.01*c.want[d] {
				t.Errorf("%s: %s %.1f TFLOPS, want %v", c.name, d, x, c.want[d])
			}
		}
		if gbps := got.BandwidthGBps.Value; gbps < 0.99*c.gbps || gbps > 1.01*c.gbps || missing != nil {
			t.Errorf("%s: %.1f GB/s, want %v; missing %v", c.name, gbps, c.gbps, missing)
		}
	}
	if got, _ := gpuPeaks("old", schema.GPUInfo{ComputeCapability: "3.5", SMs: 15, SMMaxMHz: 875}); got.PeakGFLOPS != nil {
		t.Errorf("unknown GPU: peaks %v", got.PeakGFLOPS)
	}
	if _, missing := gpuPeaks("old", schema.GPUInfo{ComputeCapability: "3.5"}); len(missing) != 2 {
		t.Errorf("unknown GPU: missing %v", missing)
	}
}

// Each core counts with its own design and clock.
func TestPeakOfUnlikeCores(t *testing.T) {
	avx2 := CPUID{Vendor: "Intel", Family: 6, Flags: []string{"avx", "avx2", "fma"}, XCR0: 7}
	arrow, meteor, alder, panther := avx2, avx2, avx2, avx2
	arrow.Model, meteor.Model, alder.Model, panther.Model = 0xc5, 0xaa, 0x97, 0xcc
	const golden, crestmont = "Golden Cove or later client P core", "Gracemont or Crestmont"
	hybrid := map[string]string{"cpu_core": "0-1", "cpu_atom": "2-4"}
	for _, c := range []struct {
		name    string
		root    tree
		files   map[string]string
		id      CPUID
		parts   []int // of the cores of arm64
		want    string
		missing string
	}{
		{name: "Arrow Lake-H", id: arrow,
			root: tiers(t, "0-3", map[string]string{"cpu_core": "0-1", "cpu_atom": "2", "cpu_lowpower": "3"},
				tier{"0-1", 5200, 0}, tier{"2", 4500, 0}, tier{"3", 2500, 0}),
			want: "32 FLOP/cycle (" + golden + ", AVX2 FMA) x 2 cores x 5200 MHz + 32 FLOP/cycle (Skymont, AVX2 FMA) x 1 cores x 4500 MHz + 16 FLOP/cycle (" + crestmont + ", AVX2 FMA) x 1 cores x 2500 MHz"},
		{name: "Meteor Lake", id: meteor,
			root: tiers(t, "0-4", hybrid, tier{"0-1", 4800, 0}, tier{"2-3", 3800, 0}, tier{"4", 2500, 0}),
			want: "32 FLOP/cycle (" + golden + ", AVX2 FMA) x 2 cores x 4800 MHz + 16 FLOP/cycle (" + crestmont + ", AVX2 FMA) x 2 cores x 3800 MHz + 16 FLOP/cycle (" + crestmont + ", AVX2 FMA) x 1 cores x 2500 MHz"},
		{name: "P cores offline", id: alder,
			root: tiers(t, "2-4", map[string]string{"cpu_atom": "2-4"}, tier{"2-4", 3800, 0}),
			want: "16 FLOP/cycle (" + crestmont + ", AVX2 FMA) x 3 cores x 3800 MHz"},
		{name: "E cores of an unknown model", id: panther, missing: "vector units",
			root: tiers(t, "0-4", hybrid, tier{"0-1", 5100, 0}, tier{"2-4", 4600, 0})},
		{name: "turbo off, each at its own base", id: alder,
			root: tiers(t, "0-4", hybrid, tier{"0-1", 4900, 0}, tier{"2-4", 3800, 0}),
			files: map[string]string{
				"intel_pstate/no_turbo": "1", "cpu0/cpufreq/base_frequency": "3600000", "cpu1/cpufreq/base_frequency": "3600000",
				"cpu2/cpufreq/base_frequency": "2700000", "cpu3/cpufreq/base_frequency": "2700000", "cpu4/cpufreq/base_frequency": "2700000",
			},
			want: "32 FLOP/cycle (" + golden + ", AVX2 FMA) x 2 cores x 3600 MHz + 16 FLOP/cycle (" + crestmont + ", AVX2 FMA) x 3 cores x 2700 MHz"},
		{name: "three tiers of arm64, two of like capacity", parts: []int{0xd08, 0xd41, 0xd41, 0xd44},
			root: tiers(t, "0-3", nil, tier{"0", 1800, 250}, tier{"1", 2400, 800}, tier{"2", 2500, 800}, tier{"3", 2900, 1024}),
			want: "16 FLOP/cycle (Cortex-A78, NEON FMLA) x 1 cores x 2400 MHz + 16 FLOP/cycle (Cortex-A78, NEON FMLA) x 1 cores x 2500 MHz + 32 FLOP/cycle (Cortex-X1, NEON FMLA) x 1 cores x 2900 MHz + 8 FLOP/cycle (Cortex-A72, NEON FMLA) x 1 cores x 1800 MHz"},
		{name: "a little core of unknown design", parts: []int{0xd44, 0xd41, 0xfff}, missing: "vector units",
			root: tiers(t, "0-2", nil, tier{"0", 2900, 1024}, tier{"1", 2400, 700}, tier{"2", 1800, 250})},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := System{Root: string(c.root), Arch: "amd64", CPUID: c.id}
			for name, text := range c.files {
				add(t, c.root, "sys/devices/system/cpu/"+name, text)
			}
			if len(c.parts) > 0 {
				info := ""
				for cpu, part := range c.parts {
					info += fmt.Sprintf("processor : %d\nFeatures : fp asimd\nCPU implementer : 0x41\nCPU part : %#x\n\n", cpu, part)
				}
				add(t, c.root, "proc/cpuinfo", info)
				s.Arch = "arm64"
			}
			d := describe(t, s, Options{}).Devices[0]
			if got := d.Theoretical.PeakGFLOPS[schema.FP32].Source; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			for _, u := range d.Unavailable {
				if u.What == "theoretical.peak_gflops.fp32" && (c.missing == "" || !strings.Contains(u.Reason, c.missing)) {
					t.Errorf("no peak: %s", u.Reason)
				}
			}
		})
	}
}
