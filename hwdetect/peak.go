package hwdetect

import (
	"fmt"
	"slices"
	"strings"

	"hwcal/schema"
)

// rate is how many FLOP (operations for int8) one core does in a cycle, and
// with which instruction.
type rate struct {
	flop int
	with string
}

// rates is the table of FLOP per cycle and core by dtype. A fused multiply-add
// is two FLOP a lane; a dot product of pairs four, of quadruples eight. What the
// core cannot compute in the type is absent: converting is not computing.
func rates(u uarch, isa []string) map[schema.DType]rate {
	has := func(name string) bool { return slices.Contains(isa, name) }
	r := map[schema.DType]rate{}
	bits, with := u.fma, "FMA"
	switch {
	case has("avx512f") && u.fma512 > 0:
		bits, with = u.fma512, "AVX-512 FMA"
	case has("avx2") && has("fma"):
		with = "AVX2 FMA"
	case has("sve"):
		with = "SVE FMLA"
	case has("asimd"):
		with = "NEON FMLA"
	default:
		return r
	}
	r[schema.FP64] = rate{bits / 64 * 2, with}
	r[schema.FP32] = rate{bits / 32 * 2, with}

	switch {
	case has("amx_fp16"):
		r[schema.FP16] = rate{1024, "AMX TDPFP16PS"}
	case has("avx512_fp16"):
		r[schema.FP16] = rate{bits / 16 * 2, "AVX512-FP16 FMA"}
	case has("asimdhp"):
		r[schema.FP16] = rate{bits / 16 * 2, "FMLA on halves"}
	}
	switch {
	case has("amx_bf16"): // 16 x 16 x 32 multiply-adds in 16 cycles
		r[schema.BF16] = rate{1024, "AMX TDPBF16PS"}
	case has("avx512_bf16") && u.bf16 > 0:
		r[schema.BF16] = rate{u.bf16, "AVX512-BF16 VDPBF16PS"}
	case has("bf16"): // 2x4 by 4x2 for each 128 bits
		r[schema.BF16] = rate{bits / 128 * 32, "BFMMLA"}
	}
	switch {
	case has("amx_int8"): // 16 x 16 x 64 multiply-adds in 16 cycles
		r[schema.INT8] = rate{2048, "AMX TDPBSSD"}
	case has("avx512_vnni") && u.fma512 > 0:
		r[schema.INT8] = rate{u.fma512 / 32 * 8, "AVX512-VNNI VPDPBUSD"}
	case has("avx_vnni"):
		r[schema.INT8] = rate{u.fma / 32 * 8, "AVX-VNNI VPDPBUSD"}
	case has("i8mm"): // 2x8 by 8x2 for each 128 bits
		r[schema.INT8] = rate{bits / 128 * 64, "SMMLA"}
	case has("asimddp"):
		r[schema.INT8] = rate{bits / 32 * 8, "SDOT"}
	}
	return r
}

// computing names the instruction sets that compute in the type.
var computing = map[schema.DType]string{
	schema.FP64: "a vector FMA",
	schema.FP32: "a vector FMA",
	schema.FP16: "AVX512-FP16, AMX-FP16 or NEON half precision",
	schema.BF16: "AMX-BF16, AVX512-BF16 or BFMMLA",
	schema.INT8: "AMX-INT8, VNNI, SMMLA or SDOT",
}

var peakDTypes = []schema.DType{schema.FP64, schema.FP32, schema.FP16, schema.BF16, schema.INT8}

// coreKind are the cores of one design and clock.
type coreKind struct {
	design string
	mhz    float64
}

// cpuPeaks computes the theoretical peaks: FLOP per cycle x cores x clock,
// summed over the cores, each with its own design and clock. The clock is the
// highest that the machine claims, or the base clock if turbo is off or nothing
// else is claimed; without any there is no peak, nor with a core of unknown design.
func cpuPeaks(id CPUID, info cpuInfo, c schema.CPUInfo, k clocks, siblings [][]int, override float64) (peaks map[schema.DType]schema.Peak, missing []schema.Unavailable) {
	u, known := identify(id, info, c.ISA)
	peaks = map[schema.DType]schema.Peak{}
	var kinds []coreKind
	cores, designs := map[coreKind]int{}, map[string]uarch{}
	for _, class := range c.CoreClasses {
		for _, core := range siblings {
			if !slices.Contains(class.CPUs, core[0]) {
				continue
			}
			design := coreDesign(u, id, info, class.Name, core[0])
			known = known && design.name != ""
			kind := coreKind{design.name, k.of(core[0])}
			if cores[kind] == 0 {
				kinds = append(kinds, kind)
			}
			cores[kind]++
			designs[design.name] = design
		}
	}
	sum := map[schema.DType]*schema.Peak{}
	terms := map[schema.DType][]string{}
	for _, kind := range kinds {
		for dtype, r := range rates(designs[kind.design], c.ISA) {
			if sum[dtype] == nil {
				sum[dtype] = &schema.Peak{}
			}
			sum[dtype].Value += float64(r.flop) * float64(cores[kind]) * kind.mhz / 1e3
			unit := "FLOP"
			if dtype == schema.INT8 {
				unit = "OP"
			}
			terms[dtype] = append(terms[dtype], fmt.Sprintf("%d %s/cycle (%s, %s) x %d cores x %g MHz", r.flop, unit, kind.design, r.with, cores[kind], kind.mhz))
		}
	}
	for _, dtype := range peakDTypes {
		reason := ""
		switch p := sum[dtype]; {
		case dtype == schema.FP32 && plausiblePeak(override):
			peaks[dtype] = schema.Peak{Value: override, Source: "--peak-gflops"}
		case !known:
			reason = "the vector units of this CPU are not known; give --peak-gflops for fp32"
		case p == nil:
			reason = "no instruction of this CPU computes in it at a known rate; " + computing[dtype] + " would"
		case k.clock().mhz == 0:
			reason = "the machine does not tell its clock; give --peak-gflops for fp32"
		default:
			p.Source = strings.Join(terms[dtype], " + ")
			p.Assumptions = append(p.Assumptions, k.assumption())
			p.Assumptions = append(p.Assumptions, u.assumed...)
			peaks[dtype] = *p
		}
		if reason != "" {
			missing = append(missing, schema.Unavailable{What: "theoretical.peak_gflops." + string(dtype), Reason: reason})
		}
	}
	return peaks, missing
}

// clock is the one that peaks are computed with; of 0 MHz if none is known.
func (c clocks) clock() clock {
	if c.max.mhz > 0 && !c.atBase() {
		return c.max
	}
	return c.base
}

// of is the clock, in MHz, that the peak of a CPU's core is computed with.
func (c clocks) of(cpu int) float64 {
	if mhz := c.clock().of[cpu]; mhz > 0 {
		return mhz
	}
	return c.clock().mhz
}

// atBase says that turbo is off and the clock at which the CPU stays is known.
func (c clocks) atBase() bool { return c.turboOff && c.base.mhz > 0 }

func (c clocks) assumption() string {
	if c.atBase() {
		return "all cores at the base clock (" + c.base.source + "): turbo is off"
	}
	if c.max.mhz > 0 {
		return "all cores at the highest clock (" + c.max.source + "), which few CPUs hold under vector load"
	}
	return "all cores at the base clock (" + c.base.source + "), no higher one being told: with turbo the real peak is above"
}
